import { closeSync, openSync } from "node:fs";
import { url as inspectorUrl } from "node:inspector";
import { devNull } from "node:os";
import type { Worker } from "node:worker_threads";
import { startWorker, workerUrl } from "../../sdk/worker.ts";
import { onEntered, running } from "../hooks/running.ts";
import { beat, type Stall, shared, type WatchdogData, type WatchdogLimits, type WatchdogNews, watchdogLimits } from "./watchdog-shared.ts";

/** Quick beats without an entry, after which it is idle again. */
const QUIET_BEATS = 20;
const OWNER_KEY = "svc.running";
const END_KEY = "svc.end-blocked";

/**
 * Watches the main thread from another one. Nothing of it waits for the main thread: the thread looks into it by an inspector session of its own,
 * which needs no port. Off while a debugger is attached: a breakpoint is no stall. An idle process pays two wake-ups a second; only while plugin
 * code is being entered both threads look ten times a second and more.
 * @returns ends the watch
 */
export function startWatchdog(options: {
  limits?: Partial<WatchdogLimits>;
  /** Folder of the blame that outlives the process, and of the gateway's log. */
  stateDir?: string;
  /** `logging.file` as it is now. */
  logFile?(): string | undefined;
  onStall(stall: Stall): void;
  onError(error: unknown): void;
}): () => void {
  const buffer = new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT);
  const globals = globalThis as unknown as Record<symbol, unknown>;
  globals[Symbol.for(OWNER_KEY)] = () => running.getStore();
  globals[Symbol.for(END_KEY)] = (code: number) => endBlocked(code, new Int32Array(buffer));
  let logFile = options.logFile?.();
  const data: WatchdogData = {
    buffer,
    limits: { ...watchdogLimits, ...options.limits },
    ownerKey: OWNER_KEY,
    endKey: END_KEY,
    stateDir: options.stateDir,
    logFile,
  };
  const worker: Worker = startWorker(workerUrl(import.meta.url, "./watchdog.worker"), {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  const stopBeating = startBeating(new Int32Array(buffer), () => {
    const next = options.logFile?.();
    if (next === logFile) return;
    logFile = next;
    worker.postMessage({ logFile } satisfies WatchdogNews);
  });
  worker.unref();
  worker.on("message", options.onStall);
  worker.on("error", options.onError);
  return () => {
    stopBeating();
    delete globals[Symbol.for(OWNER_KEY)];
    delete globals[Symbol.for(END_KEY)];
    worker.removeAllListeners();
    void worker.terminate();
  };
}

/**
 * Ends the process from within whatever blocks it, by way of the session through which the watching thread looks into it. Node would tell the
 * console that it waits for a debugger, and wait: once everybody who listens to `exit` has had their say, stderr leads nowhere, and the watching thread
 * is asked to disconnect.
 */
function endBlocked(code: number, view: Int32Array): void {
  process.once("exit", () => {
    Atomics.store(view, shared.ending, 1);
    closeSync(2);
    openSync(devNull, "w"); // takes the lowest number that is free
  });
  process.exit(code);
}

function startBeating(view: Int32Array, onBeat: () => void): () => void {
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
    onBeat();
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
