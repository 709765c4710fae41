import { constants } from "node:os";

/** Signals that the process has received so far. */
export interface Interrupt {
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** The signal's exit code once one has come, else the given one. */
  exitCode(code: number): number;
  dispose(): void;
}

/**
 * SIGINT and SIGTERM ask for an end; a second one ends the process at once with 130 or 143.
 * @param options.patienceMs how long the end may take after the first; default: as long as it takes
 */
export function createInterrupt(options: { patienceMs?: number | undefined }, exit: (code: number) => void = process.exit): Interrupt {
  const abort = new AbortController();
  let received: number | undefined;
  const listener = (name: NodeJS.Signals) => {
    const code = 128 + constants.signals[name];
    if (received !== undefined) return exit(code);
    received = code;
    if (options.patienceMs !== undefined) setTimeout(() => exit(code), options.patienceMs).unref();
    abort.abort(name);
  };
  process.on("SIGINT", listener);
  process.on("SIGTERM", listener);
  return {
    signal: abort.signal,
    exitCode: (code) => received ?? code,
    dispose() {
      process.off("SIGINT", listener);
      process.off("SIGTERM", listener);
    },
  };
}
