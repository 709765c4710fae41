/** Time that moves only when the test says so. */
export interface ManualClock {
  now(): number;
  monotonic(): number;
  setTimeout(fn: () => void, delayMs: number): () => void;
  /** Runs what falls due, in order of time, also what is set meanwhile. */
  advance(ms: number): void;
  /** Delays still to run, from now, shortest first. */
  readonly waiting: number[];
}

export function createManualClock(start = 1_767_225_600_000): ManualClock {
  let now = 0;
  let timers: Array<{ at: number; fn: () => void }> = [];
  return {
    now: () => start + now,
    monotonic: () => now,
    setTimeout(fn, delayMs) {
      const timer = { at: now + delayMs, fn };
      timers.push(timer);
      return () => {
        timers = timers.filter((t) => t !== timer);
      };
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const next = timers.filter((t) => t.at <= end).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        now = Math.max(now, next.at);
        timers = timers.filter((t) => t !== next);
        next.fn();
      }
      now = end;
    },
    get waiting() {
      return timers.map((t) => t.at - now).sort((a, b) => a - b);
    },
  };
}
