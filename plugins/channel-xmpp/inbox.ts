import { type ChannelRun, type InboundEvent, messageOf, sleep } from "svc/sdk";

/** Messages that the host has not taken yet, above which the server is not read on, and below which it is again. */
const [PAUSE_AT, RESUME_AT] = [100, 50];
const MAX_WAIT_MS = 5_000;

interface InboxOptions {
  run: Pick<ChannelRun, "receive" | "logger" | "signal">;
  /** Stops and resumes reading from the server, whichever link there is. */
  pause(isPaused: boolean): void;
  firstWaitMs: number;
}

interface Waiting {
  event: InboundEvent;
  /** Called when the message is the host's, or none for it: the server may forget it. */
  onDone(): void;
}

/**
 * Hands messages to the host one after the other, in the order of their arrival, over all links of an account. One that the host cannot store now is offered
 * again until the account stops; the server keeps it until then, where it has stream management.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #waiting: Waiting[] = [];
  #isDraining = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  offer(event: InboundEvent, onDone: () => void): void {
    this.#waiting.push({ event, onDone });
    if (this.isFull) this.#options.pause(true);
    if (!this.#isDraining) void this.#drain();
  }

  /** True while the server is not to be read on. */
  get isFull(): boolean {
    return this.#waiting.length >= PAUSE_AT;
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const isTaken = await this.#give(next.event);
      if (!isTaken) break;
      next.onDone();
      this.#waiting.shift();
      if (this.#waiting.length === RESUME_AT - 1) this.#options.pause(false);
    }
    this.#isDraining = false;
  }

  /** @returns false when the account stops before the host has taken it */
  async #give(event: InboundEvent): Promise<boolean> {
    const { run, firstWaitMs } = this.#options;
    for (let waitMs = firstWaitMs; !run.signal.aborted; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
      try {
        await run.receive(event);
        return true;
      } catch (error) {
        // The host takes it for no message at all, and always will.
        if (error instanceof TypeError) {
          run.logger.warn(`a message was dropped: ${messageOf(error)}`, { id: event.id });
          return true;
        }
      }
      await sleep(waitMs, run.signal).catch(() => undefined);
    }
    run.logger.debug("a message was not taken before the account stopped", { id: event.id });
    return false;
  }
}
