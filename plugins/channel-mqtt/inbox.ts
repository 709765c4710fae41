import { type ChannelRun, type InboundEvent, messageOf, sleep } from "svc/sdk";
import type { Ledger } from "./ledger.ts";
import type { Link } from "./link.ts";

/** Messages without confirmation (QoS 0) that may wait for the host; further ones are dropped, as their sender allows. */
const MAX_UNCONFIRMED = 100;
/**
 * Messages with confirmation that may wait for the host. It is far more than the broker is asked for: mosquitto 2.0.11 sends everything it has kept when a session goes
 * on, 1,000 messages and 20 in flight unless its config says more.
 */
const MAX_CONFIRMED = 1_100;
const MAX_WAIT_MS = 5_000;

/** A message of the broker; without an event it is only acknowledged. */
interface Waiting {
  event?: Omit<InboundEvent, "id">;
  /** Id that the host knows it by; asked for when it is given to the host. */
  id(): string;
  /** Its identifier; undefined for QoS 0. */
  messageId?: number;
}

interface InboxOptions {
  run: Pick<ChannelRun, "receive" | "logger">;
  ledger: Pick<Ledger, "save">;
  /** Ends the waits: the link is gone, or the account stops. */
  signal: AbortSignal;
  firstWaitMs: number;
}

/**
 * Hands messages to the host one after the other, and acknowledges each when it is stored, in the order of their arrival. What is not acknowledged when the link ends comes
 * again with the next one.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #waiting: Waiting[] = [];
  #link: Pick<Link, "acknowledge" | "close"> | undefined;
  #isDraining = false;
  /** More came than may wait; of those nothing is taken over this link, which would change their order. */
  #isOverrun = false;
  #unconfirmed = 0;
  #dropped = 0;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Begins: the link stands. */
  open(link: Pick<Link, "acknowledge" | "close">): void {
    this.#link = link;
    void this.#drain();
  }

  /** Takes a message. What is passed over because too many wait comes again over the next link, which is made when those are stored. */
  offer(message: Waiting): void {
    if (message.messageId === undefined) {
      if (this.#unconfirmed >= MAX_UNCONFIRMED) {
        this.#dropped += 1;
        return;
      }
      this.#unconfirmed += 1;
    } else if (this.#isOverrun || this.#waiting.length - this.#unconfirmed >= MAX_CONFIRMED) {
      this.#isOverrun = true;
      return;
    }
    this.#waiting.push(message);
    void this.#drain();
  }

  async #drain(): Promise<void> {
    const { run, signal } = this.#options;
    if (this.#isDraining || !this.#link) return;
    this.#isDraining = true;
    for (let next = this.#waiting[0]; next !== undefined && !signal.aborted; next = this.#waiting[0]) {
      const isTaken = next.event === undefined || (await this.#give(next.event, next.id()));
      if (isTaken && next.messageId !== undefined) this.#link.acknowledge(next.messageId);
      this.#waiting.shift();
      if (next.messageId !== undefined) continue;
      this.#unconfirmed -= 1;
      if (!isTaken) this.#dropped += 1;
    }
    this.#isDraining = false;
    if (signal.aborted) this.#dropped += this.#unconfirmed;
    if (this.#dropped > 0) run.logger.warn(`${this.#dropped} messages without confirmation (QoS 0) were lost: the host did not keep up`);
    this.#dropped = 0;
    if (!this.#isOverrun || signal.aborted) return;
    run.logger.info(`the broker sent more than ${MAX_CONFIRMED} messages at once; the others come over a new link`);
    this.#link.close();
  }

  /** @returns false when the host has not taken the message, and the link is gone */
  async #give(said: Omit<InboundEvent, "id">, id: string): Promise<boolean> {
    const { run, ledger, signal, firstWaitMs } = this.#options;
    const event = { ...said, id };
    for (let waitMs = firstWaitMs; !signal.aborted; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
      try {
        // The id first: killed after the next line, the message comes again under it.
        await ledger.save();
        await run.receive(event);
        return true;
      } catch (error) {
        // The host takes it for no message at all, and always will.
        if (error instanceof TypeError) {
          run.logger.warn(`a message was dropped: ${messageOf(error)}`, { id: event.id });
          return true;
        }
        run.logger.debug("a message waits for the host", { id: event.id, error: messageOf(error) });
      }
      await sleep(waitMs, signal).catch(() => undefined);
    }
    return false;
  }
}
