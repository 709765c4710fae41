import { monitorEventLoopDelay, performance } from "node:perf_hooks";

/** Load of the main thread. */
export interface EventLoopFigures {
  /** Requests wait noticeably: see `isDegraded`. */
  degraded: boolean;
  delayP99Ms: number;
  delayMaxMs: number;
  /** Share of the time in which the loop was not idle, 0 to 1. */
  utilization: number;
}

/** Measures the event loop from its start on. */
export interface EventLoopMonitor {
  /** Figures since the window began, at most a minute ago. */
  figures(): EventLoopFigures;
  dispose(): void;
}

const WINDOW_MS = 60_000;
/** The first seconds of a window hold too few samples for a 99th percentile; the window before it decides meanwhile. */
const MIN_WINDOW_MS = 10_000;

/** Delay that a person notices, and far above the 50 ms that heavy work in the background may cause. */
const DEGRADED_P99_MS = 200;
/** Without idle time work piles up, however short its pieces are. */
const DEGRADED_UTILIZATION = 0.95;

export function isDegraded({ delayP99Ms, utilization }: Pick<EventLoopFigures, "delayP99Ms" | "utilization">): boolean {
  return delayP99Ms >= DEGRADED_P99_MS || utilization >= DEGRADED_UTILIZATION;
}

export function createEventLoopMonitor(): EventLoopMonitor {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  let window = { since: performance.now(), utilization: performance.eventLoopUtilization() };
  let wasDegraded: boolean | undefined;
  const figures = (): EventLoopFigures => {
    const delayP99Ms = Math.round(delay.percentile(99) / 1e5) / 10;
    const utilization = Math.round(performance.eventLoopUtilization(window.utilization).utilization * 1000) / 1000;
    const isYoung = performance.now() - window.since < MIN_WINDOW_MS;
    const degraded = isYoung && wasDegraded !== undefined ? wasDegraded : isDegraded({ delayP99Ms, utilization });
    return { degraded, delayP99Ms, delayMaxMs: Math.round(delay.max / 1e5) / 10, utilization };
  };
  const timer = setInterval(() => {
    wasDegraded = figures().degraded;
    window = { since: performance.now(), utilization: performance.eventLoopUtilization() };
    delay.reset();
  }, WINDOW_MS);
  timer.unref();
  return {
    figures,
    dispose() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
