import type { RunLane, SvcConfig } from "svc/sdk";

/** Hooks never take more than this, so that a flood of them leaves places for people. */
const HOOK_RUNS = 2;

/** Runs of a lane at a time, over all sessions. */
export function placesOf(lane: RunLane, config: SvcConfig): number {
  if (lane === "cron") return config.cron.maxConcurrentRuns;
  return lane === "hooks" ? HOOK_RUNS : config.agents.defaults.maxConcurrent;
}
