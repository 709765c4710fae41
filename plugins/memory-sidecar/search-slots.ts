import { sidecarErrors } from "./errors.ts";

/** Places of commands that run at the same time, and a bounded line of those that wait. */
export interface SearchSlots {
  /** Runs work when a place is free. @throws {SvcError} `sidecar-busy`; the signal's reason */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createSearchSlots({ places, waiting }: { places: number; waiting: number }): SearchSlots {
  let free = places;
  const line: Array<() => void> = [];
  const release = () => {
    const next = line.shift();
    if (next) next();
    else free += 1;
  };
  const enter = (signal: AbortSignal): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return Promise.resolve();
    }
    if (line.length >= waiting) throw sidecarErrors.sidecarBusy({ waiting: line.length });
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        const at = line.indexOf(begin);
        if (at !== -1) line.splice(at, 1);
        reject(signal.reason);
      };
      const begin = () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      line.push(begin);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  };
  return {
    async run(work, signal) {
      signal.throwIfAborted();
      await enter(signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
