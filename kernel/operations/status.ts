import { withoutPaths } from "./health-snapshot.ts";

/** Sources of `status`. */
export interface StatusSources {
  version: string;
  /** Health with its paths, and the parts that only `status` shows. */
  snapshot: { health: Record<string, unknown>; status: Record<string, unknown> };
  /** Paths, process id and memory are told to administrators only. */
  isAdmin: boolean;
  pid: number;
}

/** Parts of health that `status` repeats as they are. */
const repeated = [
  "ok",
  "uptimeMs",
  "phase",
  "agents",
  "plugins",
  "secrets",
  "configReload",
  "queues",
  "memorySearch",
  "memoryIndex",
  "models",
  "hooks",
  "cron",
  "problems",
] as const;

/** The answer of `status`; parts of plugins that are off have their empty form, or are missing where there is none. Pure. */
export function toStatus({ version, snapshot, isAdmin, pid }: StatusSources): Record<string, unknown> {
  const { health, status } = snapshot;
  const shown = Object.fromEntries(repeated.flatMap((key) => (health[key] === undefined ? [] : [[key, health[key]]])));
  const sessions = { count: 0, recent: [], byAgent: [], ...objectOf(health.sessions), ...objectOf(status.sessions) };
  const value = {
    runtimeVersion: version,
    ...shown,
    channelSummary: [],
    queuedSystemEvents: [],
    ...status,
    sessions,
    ...(isAdmin ? { pid, processMemory: health.memory } : {}),
  };
  return isAdmin ? value : withoutPaths(value);
}

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
