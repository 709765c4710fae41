import { messageOf } from "../errors.ts";
import { sleep } from "../time.ts";
import type { ChannelRun, InboundEvent } from "../types/channel.ts";

/** Messages that the host has not taken yet, above which the platform is not read on, and below which it is again. */
const [PAUSE_AT, RESUME_AT] = [100, 50];
const MAX_WAIT_MS = 5_000;

/** Surroundings of a {@link ChannelInbox}. */
export interface ChannelInboxOptions {
  run: Pick<ChannelRun, "receive" | "logger">;
  /** Stops and resumes reading from the platform. */
  link: { pause(): void; resume(): void };
  /** Ends the waits: the link is gone, or the account stops. */
  signal: AbortSignal;
  /** Wait before a message that the host could not store is offered again; it doubles up to 5 s. */
  firstWaitMs: number;
}

/** A message that waits, and what acknowledges it to the platform. */
interface Waiting {
  event: InboundEvent;
  onTaken: (() => void) | undefined;
}

/**
 * Hands messages of a platform to the host, one after the other, in the order of their arrival. One that the host cannot store now is offered again as long as the
 * signal lasts; from 100 waiting messages on the platform is not read until fewer than 50 wait.
 */
export class ChannelInbox {
  readonly #options: ChannelInboxOptions;
  readonly #waiting: Waiting[] = [];
  #isDraining = false;

  constructor(options: ChannelInboxOptions) {
    this.#options = options;
  }

  /** Takes a message on. @param onTaken acknowledges it to a platform that keeps it until then; called when the host has it, or never wants it */
  offer(event: InboundEvent, onTaken?: () => void): void {
    this.#waiting.push({ event, onTaken });
    if (this.#waiting.length === PAUSE_AT) this.#options.link.pause();
    if (!this.#isDraining) void this.#drain();
  }

  /** True while the platform is not to be read on; a new link has to be told. */
  get isFull(): boolean {
    return this.#waiting.length >= PAUSE_AT;
  }

  async #drain(): Promise<void> {
    const { run, link } = this.#options;
    this.#isDraining = true;
    let lost = 0;
    let reason: unknown;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      try {
        await this.#give(next.event);
        next.onTaken?.();
      } catch (error) {
        if (!next.onTaken) lost += 1;
        reason = error;
      }
      this.#waiting.shift();
      if (this.#waiting.length === RESUME_AT - 1) link.resume();
    }
    this.#isDraining = false;
    if (lost > 0) run.logger.warn(`${lost} messages were not taken, and the platform does not keep them: ${messageOf(reason)}`);
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
