/** A process that was not asked for so long stood still as a whole: suspend, SIGSTOP, a paused machine. */
const GAP_MS = 30_000;

/**
 * Notices, from one tick of a timer to the next, that the process stood still. Two clocks are needed: in a suspend the monotonic one may stand still
 * as well, after SIGSTOP it does not, and a wall clock that is set back is no gap.
 *
 * @param periodMs of the timer that ticks
 * @returns called by the timer; the missing milliseconds when they are more than 30 s, else undefined
 */
export function createGapDetector(clock: { now(): number; monotonic(): number }, periodMs: number): () => number | undefined {
  let last = { wall: clock.now(), monotonic: clock.monotonic() };
  return () => {
    const now = { wall: clock.now(), monotonic: clock.monotonic() };
    const gapMs = Math.max(now.wall - last.wall, now.monotonic - last.monotonic) - periodMs;
    last = now;
    return gapMs > GAP_MS ? Math.round(gapMs) : undefined;
  };
}
