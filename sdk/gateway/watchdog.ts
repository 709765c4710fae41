import { url as inspectorUrl } from "node:inspector";
import type { Worker } from "node:worker_threads";
import { onEntered, running } from "../hooks/running.ts";
import { startWorker, workerUrl } from "../worker.ts";
import { beat, type Stall, shared, type WatchdogData, type WatchdogLimits, watchdogLimits } from "./watchdog-shared.ts";

/** Quick beats without an entry, after which it is idle again. */
const QUIET_BEATS = 20;
const OWNER_KEY = "svc.running";

/**
 * Watches the main thread from another one. Nothing of it waits for the main thread: the thread looks into it by an inspector session of its own,
 * which needs no port. Off while a debugger is attached: a breakpoint is no stall. An idle process pays two wake-ups a second; only while plugin
 * code is being entered both threads look ten times a second and more.
 * @returns ends the watch
 */
export function startWatchdog(options: {
  limits?: Partial<WatchdogLimits>;
  onStall(stall: Stall): void;
  onError(error: unknown): void;
}): () => void {
  const buffer = new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT);
  const globals = globalThis as unknown as Record<symbol, unknown>;
  globals[Symbol.for(OWNER_KEY)] = () => running.getStore();
  const stopBeating = startBeating(new Int32Array(buffer));
  const data: WatchdogData = { buffer, limits: { ...watchdogLimits, ...options.limits }, ownerKey: OWNER_KEY };
  const worker: Worker = startWorker(workerUrl(import.meta.url, "./watchdog.worker"), {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  worker.unref();
  worker.on("message", options.onStall);
  worker.on("error", options.onError);
  return () => {
    stopBeating();
    delete globals[Symbol.for(OWNER_KEY)];
    worker.removeAllListeners();
    void worker.terminate();
  };
}

function startBeating(view: Int32Array): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isQuick = false;
  let wasEntered = false;
  let quietBeats = 0;
  const mark = () => {
    Atomics.add(view, shared.beats, 1);
    Atomics.store(view, shared.debugged, inspectorUrl() === undefined ? 0 : 1);
  };
  const strike = () => {
    mark();
    quietBeats = wasEntered ? 0 : quietBeats + 1;
    wasEntered = false;
    if (isQuick && quietBeats >= QUIET_BEATS) setPace(false);
  };
  const setPace = (quick: boolean) => {
    clearInterval(timer);
    isQuick = quick;
    quietBeats = 0;
    timer = setInterval(strike, quick ? beat.quickMs : beat.idleMs).unref();
    mark();
    Atomics.store(view, shared.quick, quick ? 1 : 0);
    Atomics.notify(view, shared.quick);
  };
  setPace(false);
  onEntered(() => {
    wasEntered = true;
    if (!isQuick) setPace(true);
  });
  return () => {
    onEntered(undefined);
    clearInterval(timer);
  };
}

/** Limits for tests that run a real process: `SVC_WATCHDOG_MS=blame,report,sick,exit`, only with `SVC_TEST=1`. */
export function watchdogLimitsFrom(env: Readonly<Record<string, string | undefined>>): Partial<WatchdogLimits> {
  const given = env.SVC_TEST === "1" ? (env.SVC_WATCHDOG_MS ?? "").split(",").map(Number) : [];
  const [blameMs, reportMs, sickMs, exitMs] = given;
  const all = { blameMs, reportMs, sickMs, exitMs };
  return Object.fromEntries(Object.entries(all).filter(([, ms]) => ms !== undefined && ms > 0));
}
