import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { HealthPart } from "../hooks.ts";
import { limits } from "../protocol/frames.ts";
import { assembleHealth, healthSignature, soundParts } from "./health-snapshot.ts";

export interface Health {
  /** The snapshot as JSON, at most 60 s old, with live event-loop and memory figures. */
  text(options?: { probe?: boolean }): Promise<string>;
  value(): Promise<Record<string, unknown>>;
  invalidate(): void;
  /** Collects anew as soon as the last collection is a second old, and tells of a change; for what must not wait until somebody asks. */
  refresh(): void;
  version(): number;
  eventLoop(): Record<string, unknown>;
  /** Parts that are not ok, for `/readyz`. */
  failing(): string[];
  dispose(): void;
}

/** Between two collections at least this long, however often somebody invalidates. */
const MIN_AGE_MS = 1_000;

/** Collects the parts of `health` from the kernel and from plugins, and keeps the result ready to send. */
export function createHealth(deps: {
  collect(deep: boolean): Promise<HealthPart[]>;
  now(): number;
  base(): Record<string, unknown>;
  onChange(): void;
  /** A collection that nobody waited for failed. */
  onFault(error: unknown): void;
}): Health {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  let utilization = performance.eventLoopUtilization();
  let cached: { at: number; head: string; value: Record<string, unknown>; failing: string[] } | undefined;
  let stale = true;
  let collecting: Promise<void> | undefined;
  let version = 1;
  let later: NodeJS.Timeout | undefined;

  const collect = async (deep: boolean) => {
    const started = deps.now();
    const parts = soundParts(await deps.collect(deep));
    const value = assembleHealth(deps.base(), parts, { ts: started, durationMs: deps.now() - started });
    const changed = cached === undefined || healthSignature(cached.value) !== healthSignature(value);
    cached = { at: deps.now(), head: JSON.stringify(value).slice(0, -1), value, failing: parts.filter((p) => !p.ok).map((p) => p.part) };
    stale = false;
    if (changed) {
      version += 1;
      deps.onChange();
    }
  };
  const refresh = async (deep: boolean) => {
    collecting ??= collect(deep).finally(() => {
      collecting = undefined;
    });
    await collecting;
  };
  const current = async (probe: boolean) => {
    const age = cached ? deps.now() - cached.at : Number.POSITIVE_INFINITY;
    if (probe || age > limits.healthCacheMs || (stale && age > MIN_AGE_MS)) await refresh(probe);
    return cached as NonNullable<typeof cached>;
  };
  const eventLoop = () => ({
    delayP99Ms: Math.round(delay.percentile(99) / 1e5) / 10,
    delayMaxMs: Math.round(delay.max / 1e5) / 10,
    utilization: Math.round(performance.eventLoopUtilization(utilization).utilization * 1000) / 1000,
  });
  const windowTimer = setInterval(() => {
    delay.reset();
    utilization = performance.eventLoopUtilization();
  }, limits.healthCacheMs);
  windowTimer.unref();

  let live = { at: 0, text: "" };
  const liveText = () => {
    if (deps.now() - live.at > MIN_AGE_MS) {
      const memory = process.memoryUsage();
      const figures = { eventLoop: eventLoop(), memory: { rssBytes: memory.rss, heapUsedBytes: memory.heapUsed } };
      live = { at: deps.now(), text: JSON.stringify(figures).slice(1) };
    }
    return live.text;
  };

  return {
    async text(options = {}) {
      return `${(await current(options.probe === true)).head},${liveText()}`;
    },
    async value() {
      return { ...(await current(false)).value, ...JSON.parse(`{${liveText()}`) };
    },
    invalidate() {
      stale = true;
    },
    refresh() {
      stale = true;
      const age = cached ? deps.now() - cached.at : Number.POSITIVE_INFINITY;
      const waitMs = collecting ? MIN_AGE_MS : Math.min(MIN_AGE_MS, Math.max(0, MIN_AGE_MS - age));
      later ??= setTimeout(() => {
        later = undefined;
        refresh(false).catch(deps.onFault);
      }, waitMs);
    },
    version: () => version,
    eventLoop,
    failing: () => cached?.failing ?? [],
    dispose() {
      clearInterval(windowTimer);
      clearTimeout(later);
      delay.disable();
    },
  };
}
