import type { WatchdogLimits } from "./watchdog-shared.ts";

/** Next step of the watching thread; `over`: the main thread continues. */
export type WatchdogStep = "blame" | "report" | "sick" | "exit" | "over";

/** Judges one main thread. */
export interface WatchdogState {
  /**
   * Once per tick, with the beats counted so far.
   * @param times.beatMs the main thread's period at present; up to this age a beat is not late
   * @param times.tickMs the watcher's own period at present
   */
  step(now: number, beats: number, times: { beatMs: number; tickMs: number }): WatchdogStep | undefined;
  /** Duration of the current block, or of the one that just ended. */
  stalledMs(): number;
  /** A beat is late. */
  isLate(): boolean;
}

/**
 * A tick that comes late counts as one that is late by no more than itself: then the whole process stood still
 * (suspend, SIGSTOP, a starved machine), and nobody is to blame.
 */
export function createWatchdogState(limits: WatchdogLimits): WatchdogState {
  const stages = [
    ["blame", limits.blameMs],
    ["report", limits.reportMs],
    ["sick", limits.sickMs],
    ["exit", limits.exitMs],
  ] as const;
  let lastBeats = -1;
  let lastTick = Number.NEGATIVE_INFINITY;
  let sinceBeat = 0;
  let stalled = 0;
  let reached = 0;
  let late = false;

  return {
    stalledMs: () => stalled,
    isLate: () => late,
    step(now, beats, times) {
      const elapsed = Math.min(now - lastTick, 2 * times.tickMs);
      lastTick = now;
      if (beats !== lastBeats) {
        const wasStalled = reached > 0;
        lastBeats = beats;
        sinceBeat = 0;
        reached = 0;
        late = false;
        return wasStalled ? "over" : undefined;
      }
      sinceBeat += elapsed;
      const next = stages[reached];
      late = sinceBeat > times.beatMs;
      if (!late) return undefined;
      stalled = sinceBeat - times.beatMs;
      if (!next || stalled < next[1]) return undefined;
      reached += 1;
      return next[0];
    },
  };
}
