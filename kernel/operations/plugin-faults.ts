import type { HealthPart } from "../../sdk/hooks.ts";
import type { Logger } from "../../sdk/types/common.ts";
import type { MetricRegistry } from "./metrics/registry.ts";
import type { Stall } from "./watchdog-shared.ts";

/** So many errors of one plugin within the window degrade it. */
const errors = { count: 20, windowMs: 600_000 };
/** So many times holding the event loop up within the window degrade it. */
const stalls = { count: 3, windowMs: 60_000 };
/** A stall that nobody can be blamed for is worth a warning from here on. */
const LONG_STALL_MS = 2_000;
/** A stall this long shows in `health`, and for how long. */
const SICK_STALL_MS = 10_000;
const SICK_FOR_MS = 300_000;

/** Counts what plugins do wrong where nobody waits for them, and marks those that do it too often. */
export interface PluginFaults {
  /** One error of a plugin: a tap that failed, a timer that threw, a rejection nobody took. */
  failed(plugin: string): void;
  /** The event loop stood still. Counted against the plugin whose code was running; its import is excused. */
  blocked(stall: Stall): void;
  /** A part of `health` while a long stall is not long ago. */
  parts(): HealthPart[];
}

/**
 * @param deps.degrade marks a plugin; called again each time it reaches a limit
 * @param deps.monotonic milliseconds
 */
export function createPluginFaults(deps: {
  monotonic(): number;
  logger: Logger;
  metrics?: MetricRegistry;
  degrade(plugin: string, code: string, reason: string): void;
}): PluginFaults {
  const countErrors = createWindow(errors, deps.monotonic);
  const countStalls = createWindow(stalls, deps.monotonic);
  const faults = deps.metrics?.counter(
    { name: "plugin_faults_total", help: "Errors and stalls of plugins", labels: ["plugin", "kind"] },
    { id: "kernel" },
  );
  faults?.attach();
  let sick: { until: number; message: string } | undefined;

  return {
    failed(plugin) {
      faults?.handle.add(1, plugin, "error");
      if (countErrors(plugin)) deps.degrade(plugin, "too-many-errors", `${errors.count} errors within ${errors.windowMs / 60_000} minutes`);
    },
    blocked({ ms, owner, stack }) {
      const whose = owner ? `by plugin "${owner.plugin}" (${owner.what})` : "by code that could not be identified";
      const message = `the event loop was blocked for ${Math.round(ms)} ms ${whose}`;
      // A cold import compiles; that takes its time and happens once.
      const isNamed = owner !== undefined && owner.what !== "import";
      const level = isNamed || ms >= LONG_STALL_MS ? "warn" : "debug";
      deps.logger[level](message, { ...(owner ? { plugin: owner.plugin } : {}), ...(stack.length > 0 ? { stack } : {}) });
      if (ms >= SICK_STALL_MS) sick = { until: deps.monotonic() + SICK_FOR_MS, message };
      if (isNamed) faults?.handle.add(1, owner.plugin, "stall");
      if (!owner || !isNamed || !countStalls(owner.plugin)) return;
      const reason = `it blocked the event loop ${stalls.count} times within a minute, last in ${owner.what}`;
      deps.degrade(owner.plugin, "blocks-event-loop", reason);
    },
    parts() {
      if (sick && deps.monotonic() >= sick.until) sick = undefined;
      return sick ? [{ part: "eventLoopStall", ok: false, critical: true, message: sick.message }] : [];
    },
  };
}

/** True each time the limit is reached; then counting begins anew. Holds at most `count` times per plugin. */
function createWindow({ count, windowMs }: { count: number; windowMs: number }, monotonic: () => number): (plugin: string) => boolean {
  const times = new Map<string, number[]>();
  return (plugin) => {
    const now = monotonic();
    const recent = [...(times.get(plugin) ?? []).filter((t) => now - t <= windowMs), now];
    const reached = recent.length >= count;
    if (reached) times.delete(plugin);
    else times.set(plugin, recent);
    return reached;
  };
}
