import type { Clock, Disposable, Timers } from "../../sdk/types/common.ts";

/** A clock; with timers of its own they stand in for those of the process. */
export type TimedClock = Clock & Partial<Pick<Timers, "setTimeout" | "setInterval">>;

/** One plan of repeated calls, as the cron library makes it. */
export type StartCron = (expression: string, run: () => void) => { stop(): void };

export interface TimerOwner {
  /** @throws when the owner has ended */
  alive(): void;
  /** Remembers what must be undone when the owner ends. */
  keep(undo: Disposable): Disposable;
  /** Runs a callback of the owner and deals with what it throws or rejects with. */
  run(what: string, fn: () => unknown): void;
  startCron: StartCron;
  clock: TimedClock;
}

/** Timers that end with their owner; a callback that fails is reported and the timer goes on. */
export function createTimers(owner: TimerOwner): Timers {
  const later = owner.clock.setTimeout ?? ((fn: () => void, ms: number) => undoTimer(setTimeout(fn, ms)));
  const every = owner.clock.setInterval ?? ((fn: () => void, ms: number) => undoTimer(setInterval(fn, ms)));
  return {
    setTimeout(fn, delayMs) {
      owner.alive();
      const fire = () => {
        void held.dispose();
        owner.run("a timer", fn);
      };
      const held = owner.keep(later(fire, delayMs));
      return held;
    },
    setInterval(fn, periodMs) {
      owner.alive();
      return owner.keep(every(() => owner.run("a timer", fn), periodMs));
    },
    cron(expression, fn) {
      owner.alive();
      const job = owner.startCron(expression, () => owner.run("a cron timer", fn));
      return owner.keep({ dispose: () => job.stop() });
    },
  };
}

/** `clearTimeout` ends intervals as well. */
function undoTimer(timer: NodeJS.Timeout): Disposable {
  return { dispose: () => clearTimeout(timer) };
}
