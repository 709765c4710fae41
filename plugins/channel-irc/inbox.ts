import { type ChannelRun, type InboundEvent, messageOf, sleep } from "svc/sdk";

/** Messages that the host has not taken yet, above which the server is not read on, and below which it is again. */
const [PAUSE_AT, RESUME_AT] = [100, 50];
const MAX_WAIT_MS = 5_000;

interface InboxOptions {
  run: Pick<ChannelRun, "receive" | "logger">;
  link: { pause(): void; resume(): void };
  /** Ends the waits: the link is gone, or the account stops. */
  signal: AbortSignal;
  firstWaitMs: number;
}

/**
 * Hands messages to the host one after the other, in the order of their arrival. IRC keeps nothing: one that the host cannot store now is offered again as long as
 * the link stands, and the server is not read on while too many wait.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #waiting: InboundEvent[] = [];
  #isDraining = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  offer(event: InboundEvent): void {
    this.#waiting.push(event);
    if (this.#waiting.length === PAUSE_AT) this.#options.link.pause();
    if (!this.#isDraining) void this.#drain();
  }

  async #drain(): Promise<void> {
    const { run, link } = this.#options;
    this.#isDraining = true;
    let lost = 0;
    let reason: unknown;
    for (let event = this.#waiting[0]; event !== undefined; event = this.#waiting[0]) {
      try {
        await this.#give(event);
      } catch (error) {
        lost += 1;
        reason = error;
      }
      this.#waiting.shift();
      if (this.#waiting.length === RESUME_AT - 1) link.resume();
    }
    this.#isDraining = false;
    if (lost > 0) run.logger.warn(`${lost} messages were not taken, and IRC does not keep them: ${messageOf(reason)}`);
  }

  /** @throws when the host has not taken the message, and the link is gone */
  async #give(event: InboundEvent): Promise<void> {
    const { run, signal, firstWaitMs } = this.#options;
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
      try {
        return void (await run.receive(event));
      } catch (error) {
        // The host takes it for no message at all, and always will.
        if (error instanceof TypeError) return run.logger.warn(`a message was dropped: ${messageOf(error)}`, { id: event.id });
        if (signal.aborted) throw error;
      }
      await sleep(waitMs, signal).catch(() => undefined);
    }
  }
}
