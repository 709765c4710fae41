import { EmbeddingError, type Timers } from "svc/sdk";

export interface CallLimit {
  timers: Pick<Timers, "setTimeout">;
  limitMs: number;
  signal: AbortSignal;
  /** Begins the message of a time-out. */
  what: string;
}

/**
 * Ends a call by its limit or its signal, whether the called one listens or not.
 * @throws {EmbeddingError} `timeout` after the limit; the signal's reason after an abort
 */
export function limitedCall<T>(run: (signal: AbortSignal) => Promise<T>, { timers, limitMs, signal, what }: CallLimit): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const stop = new AbortController();
  return new Promise<T>((resolve, reject) => {
    const giveUp = (reason: unknown) => {
      reject(reason);
      stop.abort(reason);
    };
    const timer = timers.setTimeout(() => giveUp(new EmbeddingError("timeout", `${what}: no answer within ${limitMs / 1000} s`)), limitMs);
    const onAbort = () => giveUp(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const settle = () => {
      void timer.dispose();
      signal.removeEventListener("abort", onAbort);
    };
    run(stop.signal).then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error);
      },
    );
  });
}
