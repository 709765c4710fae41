import { randomBytes } from "node:crypto";
import { messageOf, NotDispatchedError, type Receipt, SendRefusedError } from "svc/sdk";
import { formatLine, type Line } from "./line.ts";
import type { Pace } from "./pace.ts";
import { refusalOf } from "./refusals.ts";
import { splitText } from "./split.ts";
import type { IrcTiming } from "./timing.ts";
import type { Wire } from "./wire.ts";

/** Messages that wait for their turn on one link. */
const MAX_WAITING = 64;

interface SendingOptions {
  wire: Pick<Wire, "send" | "destroy">;
  pace: Pace;
  fold(name: string): string;
  timing: Pick<IrcTiming, "confirmMs" | "sendMs">;
  signal: AbortSignal;
  now(): number;
}

/** The message that is being sent. */
interface Said {
  target: string;
  refusal?: SendRefusedError;
  /** Id that the server gave it, where it sends messages back to who wrote them. */
  messageId?: string;
}

/**
 * Sends messages one after the other. IRC answers a message only when it is refused, so a question follows each that every server answers in its turn: with that
 * answer the server has read the message, and has not refused it.
 */
export class Sending {
  readonly #options: SendingOptions;
  readonly #asked = new Map<string, { resolve(): void; reject(error: Error): void }>();
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  /** Lines of the messages that wait, their questions included. */
  #lines = 0;
  #said: Said | undefined;
  #isEnded = false;

  constructor(options: SendingOptions) {
    this.#options = options;
  }

  /** @throws as `Channel.send` */
  async say(target: string, text: string, maxBytes: number): Promise<Receipt> {
    const { pace, timing } = this.#options;
    const texts = cutTo(pace.mostLines(timing.sendMs) - 1, splitText(text, maxBytes));
    if (texts.length === 0) throw new SendRefusedError("there is no text to send", { isPermanent: true });
    if (this.#waiting >= MAX_WAITING) throw new NotDispatchedError(`${MAX_WAITING} messages wait for this link`, { retryAfterMs: 5_000 });
    const lines = texts.length + 1;
    this.#checkWait(lines, pace.waitMs(this.#lines + lines));
    this.#waiting += 1;
    this.#lines += lines;
    let left = lines;
    const onTaken = () => {
      left -= 1;
      this.#lines -= 1;
    };
    const latest = performance.now() + timing.sendMs;
    const turn = this.#turn.then(() => {
      if (performance.now() + pace.waitMs(lines) > latest) throw new NotDispatchedError("the messages before it took too long");
      return this.#sendAll(target, texts, onTaken);
    });
    this.#turn = turn
      .catch(() => undefined)
      .finally(() => {
        this.#waiting -= 1;
        this.#lines -= left;
      });
    return turn;
  }

  /** @throws {NotDispatchedError} when the flood limit does not let the message out in time; later there are more places */
  #checkWait(lines: number, waitMs: number): void {
    if (waitMs <= this.#options.timing.sendMs) return;
    const message = `${lines} lines would go out after ${Math.ceil(waitMs / 1_000)} s, by the flood limit`;
    throw new NotDispatchedError(message, { retryAfterMs: waitMs });
  }

  /** @param onTaken called for each line that has got its place in the flood limit */
  async #sendAll(target: string, texts: readonly string[], onTaken: () => void): Promise<Receipt> {
    const { wire, pace, signal, now } = this.#options;
    const said: Said = { target: this.#options.fold(target) };
    this.#said = said;
    let isSent = false;
    try {
      for (const text of texts) {
        await pace.take(signal);
        onTaken();
        if (!wire.send(formatLine("PRIVMSG", target, text))) throw new Error("there is no link to the server");
        isSent = true;
      }
      const label = await this.confirm();
      if (said.refusal) throw said.refusal;
      return { messageId: said.messageId ?? label, at: now() };
    } catch (error) {
      if (error === said.refusal || isSent) throw error;
      throw new NotDispatchedError(messageOf(error), { cause: error });
    } finally {
      this.#said = undefined;
    }
  }

  /** Resolves when the server has read everything that was sent before, with the label of the question. @throws {Error} when the link breaks, or nothing comes */
  async confirm(): Promise<string> {
    const { wire, pace, timing } = this.#options;
    const label = `svc-${randomBytes(8).toString("hex")}`;
    pace.count();
    const answered = new Promise<void>((resolve, reject) => this.#asked.set(label, { resolve, reject }));
    if (this.#isEnded || !wire.send(formatLine("PING", label))) this.#asked.get(label)?.reject(new Error("the link broke"));
    const late = setTimeout(() => {
      const error = new Error(`the server did not confirm a message within ${timing.confirmMs / 1_000} s`);
      this.#asked.get(label)?.reject(error);
      wire.destroy(error);
    }, timing.confirmMs);
    try {
      await answered;
      return label;
    } finally {
      clearTimeout(late);
      this.#asked.delete(label);
    }
  }

  /** Answer to a question. */
  pong(label: string): void {
    this.#asked.get(label)?.resolve();
  }

  /** One of the account's own messages, as the server sends it back. */
  echo({ tags, params }: Line): void {
    const id = tags.get("msgid");
    if (id && this.#said && this.#options.fold(params[0] ?? "") === this.#said.target) this.#said.messageId ??= id;
  }

  /** Answers about a target that may be refusals of the message that is being sent. */
  take({ command, params }: Line): void {
    const said = this.#said;
    if (!said || said.refusal || params.length < 2) return;
    const target = params[1] ?? "";
    if (this.#options.fold(target) !== said.target) return;
    const refusal = refusalOf(command, target, params.at(-1) ?? "");
    if (refusal) said.refusal = refusal;
  }

  /** Ends what waits: the link is gone, and whether the server has read the last message is not known. */
  end(): void {
    this.#isEnded = true;
    for (const { reject } of this.#asked.values()) reject(new Error("the link broke before the server confirmed the message"));
  }
}

/** The texts, or those that there is room for, and how many are left out. */
function cutTo(most: number, texts: string[]): string[] {
  if (texts.length <= most) return texts;
  const kept = texts.slice(0, Math.max(1, most - 1));
  return [...kept, `[… ${texts.length - kept.length} lines left out]`];
}
