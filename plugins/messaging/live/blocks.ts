import { createHash } from "node:crypto";
import { type DeliveryRow, messageOf, type PluginContext, type StoreOp, z } from "svc/sdk";

/** A shorter part of an answer waits for more. */
const MIN_CHARS = 800;
const LOOK_CHARS = 100;
/** Parts of one answer that are sent before its end. */
const MAX_BLOCKS = 100;
const STEP = "blocks";

const storedStep = z.object({ count: z.number().int().min(0), chars: z.number().int().min(0), digest: z.string() });

/** Parts of an answer that are in the queue: how many, and the beginning of the text that they are. */
type Sent = z.output<typeof storedStep>;

/** Where a text can be cut: behind the first paragraph that ends after enough characters, outside code, with more text after it. Pure. */
export function blockEnd(text: string, from: number): number | undefined {
  let isCode = false;
  let isBlank = false;
  let at = from;
  for (const line of text.slice(from).split("\n")) {
    if (isBlank && !isCode && at - from >= MIN_CHARS && text.slice(at).trim() !== "") return at;
    if (/^ {0,3}(?:```|~~~)/.test(line)) isCode = !isCode;
    isBlank = line.trim() === "";
    at += line.length + 1;
  }
  return undefined;
}

interface BlocksOptions {
  ctx: Pick<PluginContext, "clock" | "logger">;
  row: DeliveryRow;
  /** Puts a part into the queue, in one commit with the step that says so. */
  send(part: { uid: string; text: string; isFirst: boolean }, step: StoreOp): Promise<void>;
}

/** Sends an answer by its paragraphs while it is written, where a message cannot be changed any more. What was sent is not part of the final text. */
export class Blocks {
  readonly #options: BlocksOptions;
  /** Length of the text when a place to cut it was last looked for. */
  #looked = 0;
  readonly #left: Sent | undefined;
  #count: number;
  #chars = 0;
  #text = "";
  #itemId: unknown;
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: BlocksOptions) {
    this.#options = options;
    this.#left = sentOf(options.row);
    this.#count = this.#left?.count ?? 0;
  }

  /** @param text the whole of the present message of the agent */
  write(text: string, itemId: unknown): void {
    const isNext = this.#itemId !== undefined && this.#itemId !== itemId;
    this.#itemId = itemId;
    const shown = text.trimStart();
    this.#work = this.#work.then(() => this.#take(shown, isNext)).catch((error: unknown) => this.#giveUp(error));
  }

  /** Sends nothing from here on; resolves with the beginning of the answer that was sent. */
  async close(): Promise<Sent | undefined> {
    this.#isClosed = true;
    await this.#work;
    // Until the text has reached it, the part that an earlier process has sent counts, if the answer begins with it.
    if (this.#chars === 0) return this.#left;
    return { count: this.#count, chars: this.#chars, digest: digestOf(this.#text.slice(0, this.#chars)) };
  }

  async #take(text: string, isNext: boolean): Promise<void> {
    if (this.#isClosed) return;
    if (isNext) {
      // People have read a part of the message before a call of a tool: its end belongs to it.
      const rest = this.#text.slice(this.#chars);
      if (this.#chars > 0 && rest.trim() !== "") await this.#flush(this.#text.length);
      this.#chars = 0;
    }
    this.#text = text;
    if (this.#left && this.#chars === 0 && !isNext) {
      if (text.length < this.#left.chars) return;
      // The process that had sent them was killed, and the model says the same again.
      if (isBeginning(text, this.#left)) this.#chars = this.#left.chars;
    }
    // Each look reads what was not sent: one for each word would read it a thousand times.
    if (Math.abs(text.length - this.#looked) < LOOK_CHARS) return;
    this.#looked = text.length;
    const end = blockEnd(text, this.#chars);
    if (end !== undefined && this.#count < MAX_BLOCKS) await this.#flush(end);
  }

  async #flush(end: number): Promise<void> {
    const { row, ctx, send } = this.#options;
    const count = this.#count + 1;
    const value = { count, chars: end, digest: digestOf(this.#text.slice(0, end)) };
    const { uid, attempt, leaseBoot = "" } = row;
    await send(
      { uid: `${uid}:part-${count}`, text: this.#text.slice(this.#chars, end).trim(), isFirst: count === 1 },
      { op: "delivery.step", uid, leaseBoot, attempt, step: STEP, value, at: ctx.clock.now() },
    );
    this.#count = count;
    this.#chars = end;
  }

  /** Sends no more parts: the rest goes out with the final text. */
  #giveUp(error: unknown): void {
    this.#isClosed = true;
    this.#options.ctx.logger.debug(`run ${this.#options.row.uid}: its answer is not sent in parts`, { error: messageOf(error) });
  }
}

export function sentOf({ steps }: Pick<DeliveryRow, "steps">): Sent | undefined {
  return storedStep.safeParse(steps[STEP]).data;
}

/** The part of an answer that was not sent yet; all of it when it does not begin with what was sent. */
export function restOf(answer: string, sent: Sent | undefined): string {
  const text = answer.trimStart();
  return sent && isBeginning(text, sent) ? text.slice(sent.chars).trim() : answer;
}

function isBeginning(text: string, { chars, digest }: Sent): boolean {
  return text.length >= chars && digestOf(text.slice(0, chars)) === digest;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
