import { url as inspectorUrl } from "node:inspector";
import type { Worker } from "node:worker_threads";
import { running } from "./hooks/running.ts";
import { startWorker, workerUrl } from "./worker.ts";

/** Milliseconds without a beat of the main thread, and what follows. */
export interface WatchdogLimits {
  /** Whose code runs is found out. */
  blameMs: number;
  /** Owner and stack go to stderr at once: the log itself waits for the main thread. */
  reportMs: number;
  /** Said again, as the gateway is of no use to anybody now. */
  sickMs: number;
  /** The process ends with exit code 70, for a supervisor to start it anew. */
  exitMs: number;
}

/** `reliability.md` R-20, `plugins.md` 4. */
export const watchdogLimits: WatchdogLimits = { blameMs: 200, reportMs: 2_000, sickMs: 10_000, exitMs: 60_000 };

/** One time the main thread stood still, told once it goes on. */
export interface Stall {
  ms: number;
  /** Whose code was running, if it was a plugin's. */
  owner?: { plugin: string; what: string };
  /** Innermost call first, at most 20 lines. */
  stack: string[];
}

/** What the thread is started with. */
export interface WatchdogData {
  /** Int32: beats of the main thread; 1 while a debugger is attached to it. */
  shared: SharedArrayBuffer;
  limits: WatchdogLimits;
  beatMs: number;
  /** Key in the symbol registry of the function that names the running code. */
  ownerKey: string;
}

const BEAT_MS = 100;
const OWNER_KEY = "svc.running";

/**
 * Watches the main thread from another one. Nothing of it waits for the main thread: the thread looks into it by an inspector session of its own,
 * which needs no port. Off while a debugger is attached: a breakpoint is no stall.
 * @returns ends the watch
 */
export function startWatchdog(options: {
  limits?: Partial<WatchdogLimits>;
  onStall(stall: Stall): void;
  onError(error: unknown): void;
}): () => void {
  const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  const view = new Int32Array(shared);
  const globals = globalThis as unknown as Record<symbol, unknown>;
  globals[Symbol.for(OWNER_KEY)] = () => running.getStore();
  const beat = setInterval(() => {
    Atomics.add(view, 0, 1);
    Atomics.store(view, 1, inspectorUrl() === undefined ? 0 : 1);
  }, BEAT_MS);
  beat.unref();
  const data: WatchdogData = { shared, limits: { ...watchdogLimits, ...options.limits }, beatMs: BEAT_MS, ownerKey: OWNER_KEY };
  const worker: Worker = startWorker(workerUrl(import.meta.url, "./watchdog.worker"), {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  worker.unref();
  worker.on("message", options.onStall);
  worker.on("error", options.onError);
  return () => {
    clearInterval(beat);
    delete globals[Symbol.for(OWNER_KEY)];
    worker.removeAllListeners();
    void worker.terminate();
  };
}

/** Limits for tests that run a real process: `SVC_WATCHDOG_MS=blame,report,sick,exit`, only with `SVC_TEST=1`. */
export function watchdogLimitsFrom(env: Readonly<Record<string, string | undefined>>): Partial<WatchdogLimits> {
  const given = env.SVC_TEST === "1" ? (env.SVC_WATCHDOG_MS ?? "").split(",").map(Number) : [];
  const [blameMs, reportMs, sickMs, exitMs] = given;
  const all = { blameMs, reportMs, sickMs, exitMs };
  return Object.fromEntries(Object.entries(all).filter(([, ms]) => ms !== undefined && ms > 0));
}
