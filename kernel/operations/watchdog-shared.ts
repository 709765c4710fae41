/** Milliseconds without a beat of the main thread, and what follows. */
export interface WatchdogLimits {
  /** The owner of the code that runs is being found out. */
  blameMs: number;
  /** Owner and stack go to stderr and the log file, past the main thread. */
  reportMs: number;
  /** Said again, as the gateway is of no use to anybody now; noted in the state directory, in case somebody kills the process. */
  sickMs: number;
  /** Blame is written down and the process ends with exit code 70, for a supervisor to start it anew. */
  exitMs: number;
}

/** The limits in force; tests pass shorter ones. */
export const watchdogLimits: WatchdogLimits = { blameMs: 200, reportMs: 2_000, sickMs: 10_000, exitMs: 60_000 };

/** One time the main thread stood still, told once it goes on. */
export interface Stall {
  ms: number;
  /** Plugin whose code was running; undefined when it was none. */
  owner?: { plugin: string; what: string };
  /** Innermost call first, at most 20 lines. */
  stack: string[];
}

/** Places of the shared Int32s: beats of the main thread; 1 while a debugger is attached to it; 1 while it beats quickly; 1 once it ends the process. */
export const shared = { beats: 0, debugged: 1, quick: 2, ending: 3 } as const;

/** Milliseconds between two beats: while plugin code is being entered, and while nothing happens. */
export const beat = { quickMs: 100, idleMs: 1_000 } as const;

/** Start data of the thread. */
export interface WatchdogData {
  buffer: SharedArrayBuffer;
  limits: WatchdogLimits;
  /** Key in the symbol registry of the function that names the running code. */
  ownerKey: string;
  /** Key in the symbol registry of the function that ends the process with a code. */
  endKey: string;
  /** Folder of the blame and of the log; undefined: a block is reported on stderr only. */
  stateDir: string | undefined;
  logFile: string | undefined;
}

/** Message from the main thread to the watching one: `logging.file` has a new value. */
export interface WatchdogNews {
  logFile: string | undefined;
}
