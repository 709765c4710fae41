/** Runs work, a bounded number at a time and in order; whoever waits for a turn stops waiting when its signal ends. */
export type Slots = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** @param count how much work runs at once */
export function createSlots(count: number): Slots {
  let free = count;
  const waiting = new Set<() => void>();
  const turn = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const go = () => {
        waiting.delete(go);
        signal.removeEventListener("abort", stop);
        resolve();
      };
      const stop = () => {
        waiting.delete(go);
        reject(signal.reason);
      };
      waiting.add(go);
      signal.addEventListener("abort", stop, { once: true });
    });
  return async (work, signal) => {
    signal.throwIfAborted();
    if (free > 0) free--;
    else await turn(signal);
    try {
      return await work();
    } finally {
      const [next] = waiting;
      if (next) next();
      else free++;
    }
  };
}
