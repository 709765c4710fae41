import type { MetricSpec, SetGauge } from "../../sdk/types/metrics.ts";
import type { Core } from "./core.ts";

/** Declares the figures of the process and of the gateway as a whole; they are read when somebody looks. */
export function declareFigures(core: Core): void {
  const { metrics, options, hooks, fanout, eventLoop, startedAt } = core;
  const gauge = (spec: MetricSpec, read: (set: SetGauge) => void) => metrics.gauge(spec, { id: "kernel" }, read).attach();
  gauge({ name: "build_info", help: "Always 1; what runs", labels: ["version", "node"] }, (set) =>
    set(1, options.version, process.version),
  );
  gauge({ name: "process_start_time_ms", help: "Start of the gateway, milliseconds since 1970" }, (set) => set(startedAt));
  gauge({ name: "process_rss_bytes", help: "Resident memory of the process" }, (set) => set(process.memoryUsage.rss()));
  gauge({ name: "process_heap_used_bytes", help: "Used heap of the main thread" }, (set) => set(process.memoryUsage().heapUsed));
  gauge({ name: "process_cpu_ms", help: "Processor time of the process, user and system", labels: ["mode"] }, (set) => {
    const { user, system } = process.cpuUsage();
    set(user / 1_000, "user");
    set(system / 1_000, "system");
  });
  gauge({ name: "event_loop_delay_ms", help: "Delay of the event loop in the present minute", labels: ["stat"] }, (set) => {
    const { delayP99Ms, delayMaxMs } = eventLoop.figures();
    set(delayP99Ms, "p99");
    set(delayMaxMs, "max");
  });
  gauge({ name: "event_loop_utilization_ratio", help: "Share of time in which the event loop was not idle" }, (set) =>
    set(eventLoop.figures().utilization),
  );
  gauge({ name: "ws_connections", help: "Connections of the control protocol", labels: ["role"] }, (set) => {
    const roles = new Map<string, number>([["operator", 0]]);
    for (const { role } of fanout.subscribers()) roles.set(role, (roles.get(role) ?? 0) + 1);
    for (const [role, count] of roles) set(count, role);
  });
  gauge({ name: "plugins", help: "Plugins by state", labels: ["state"] }, (set) => {
    const states = new Map<string, number>();
    for (const { state } of core.lazy().loader.records()) states.set(state, (states.get(state) ?? 0) + 1);
    for (const [state, count] of states) set(count, state);
  });
  gauge({ name: "ready", help: "1 while the gateway takes new work" }, (set) =>
    set(core.phase === "ready" && core.notReady.size === 0 ? 1 : 0),
  );
  hooks.tap("config.changed", {
    plugin: "kernel",
    order: -1,
    fn: ({ next }: { next: Core["plan"]["config"] }) => metrics.enable(next.diagnostics.enabled),
  });
}
