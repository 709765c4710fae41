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

/** Places of the shared Int32s: beats of the main thread; 1 while a debugger is attached to it; 1 while it beats quickly. */
export const shared = { beats: 0, debugged: 1, quick: 2 } as const;

/** Milliseconds between two beats: while plugin code is being entered, and while nothing happens. */
export const beat = { quickMs: 100, idleMs: 1_000 } as const;

/** What the thread is started with. */
export interface WatchdogData {
  buffer: SharedArrayBuffer;
  limits: WatchdogLimits;
  /** Key in the symbol registry of the function that names the running code. */
  ownerKey: string;
}
