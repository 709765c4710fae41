import type { Clock, Disposable } from "../types/common.ts";

/** Time that moves only when the test says so; also the source of `ctx.timers` of a test gateway that was given it. */
export interface FakeClock extends Clock {
  setTimeout(fn: () => void, delayMs: number): Disposable;
  setInterval(fn: () => void, periodMs: number): Disposable;
  /** Moves time on and runs what falls due, in order, also what is set meanwhile; what follows from it by promises has run when it resolves. */
  advance(ms: number): Promise<void>;
  /** Delays still to run, from now, shortest first. */
  readonly waiting: number[];
}

interface Timer {
  at: number;
  fn: () => void;
  everyMs?: number;
}

/**
 * A clock for tests.
 * @param startMs epoch milliseconds it begins at; default 2026-01-01T00:00:00Z
 */
export function fakeClock(startMs = 1_767_225_600_000): FakeClock {
  let passed = 0;
  const timers = new Set<Timer>();
  const add = (timer: Timer): Disposable => {
    timers.add(timer);
    return { dispose: () => void timers.delete(timer) };
  };
  return {
    now: () => startMs + passed,
    monotonic: () => passed,
    setTimeout: (fn, delayMs) => add({ at: passed + Math.max(0, delayMs), fn }),
    setInterval: (fn, periodMs) => add({ at: passed + Math.max(1, periodMs), fn, everyMs: Math.max(1, periodMs) }),
    async advance(ms) {
      const end = passed + ms;
      await settled();
      for (let next = due(timers, end); next; next = due(timers, end)) {
        passed = Math.max(passed, next.at);
        if (next.everyMs === undefined) timers.delete(next);
        else next.at += next.everyMs;
        next.fn();
        await settled();
      }
      passed = end;
    },
    get waiting() {
      return [...timers].map((t) => t.at - passed).sort((a, b) => a - b);
    },
  };
}

function due(timers: Iterable<Timer>, end: number): Timer | undefined {
  return [...timers].filter((t) => t.at <= end).sort((a, b) => a.at - b.at)[0];
}

/** Promises that are ready have run their continuations after one turn of the event loop. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
