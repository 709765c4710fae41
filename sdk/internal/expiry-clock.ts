import type { Clock } from "../types/common.ts";

/** A step forward of the wall clock that is not believed at once. */
const JUMP_MS = 24 * 3_600_000;
/** Between the two readings that make it believed. */
const CONFIRM_MS = 60_000;

/** Says whether the wall clock may end work by its time: a wrong clock must not throw a queue away. */
export interface ExpiryClock {
  /** The time to judge by, epoch ms; undefined for the minute after a step of more than a day, until a second reading confirms it. */
  read(): number | undefined;
}

/** @param lastSeenMs the latest moment that is known from before this process, epoch ms; a clock far past it is a jump, too */
export function createExpiryClock(clock: Pick<Clock, "now" | "monotonic">, lastSeenMs?: number): ExpiryClock {
  let last = { wall: lastSeenMs ?? clock.now(), steady: clock.monotonic() };
  let doubtedSince: number | undefined;
  let doubtedFrom = 0;
  return {
    read() {
      const now = { wall: clock.now(), steady: clock.monotonic() };
      const jump = now.wall - last.wall - (now.steady - last.steady);
      if (jump > JUMP_MS && doubtedSince === undefined) {
        doubtedSince = now.steady;
        doubtedFrom = last.wall;
      } else if (doubtedSince !== undefined) {
        // It went back to where it was, or the second reading says the same.
        const isBack = now.wall - doubtedFrom - (now.steady - doubtedSince) <= JUMP_MS;
        if (isBack || now.steady - doubtedSince >= CONFIRM_MS) doubtedSince = undefined;
      }
      last = now;
      return doubtedSince === undefined ? now.wall : undefined;
    },
  };
}
