import { sleep } from "svc/sdk";

/** Lines of the smallest message that says what it has to: a text, how much of it is left out, and the question behind it. */
const LEAST_LINES = 3;

/** Part of a time that a message may take up: answers to pings and the like have places of their own, and it need not wait until the last of them is free again. */
const SHARE = 0.9;

/** Keeps to a server's flood limit: some lines at once, and one more after each interval. */
export class Pace {
  readonly #burst: number;
  readonly #intervalMs: number;
  /** Moment at which all places are free again: each line takes one for an interval. */
  #freeAt = 0;

  constructor({ burstLines, lineIntervalMs }: { burstLines: number; lineIntervalMs: number }) {
    this.#burst = burstLines;
    this.#intervalMs = lineIntervalMs;
  }

  /** Time until this many lines more could have been sent. */
  waitMs(lines: number, now = performance.now()): number {
    const ahead = Math.max(this.#freeAt, now) - now + (lines - this.#burst) * this.#intervalMs;
    return Math.max(0, ahead);
  }

  /** Lines of the longest message for which this time is enough, when nearly all places are free. */
  mostLines(withinMs: number): number {
    return this.#intervalMs === 0 ? Number.POSITIVE_INFINITY : this.#burst + Math.floor((withinMs * SHARE) / this.#intervalMs);
  }

  /** True when a message can go out within this time at all. */
  carriesMessage(withinMs: number): boolean {
    return this.mostLines(withinMs) >= LEAST_LINES;
  }

  /** Counts a line that goes out at once, whatever the limit. */
  count(now = performance.now()): void {
    this.#freeAt = Math.max(this.#freeAt, now) + this.#intervalMs;
  }

  /** Waits for a place, and takes it. @throws the signal's reason */
  async take(signal: AbortSignal): Promise<void> {
    const waitMs = this.waitMs(1);
    this.count();
    if (waitMs > 0) await sleep(waitMs, signal);
  }
}
