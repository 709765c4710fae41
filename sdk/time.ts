import type { Timers } from "./types/common.ts";

const nodeTimers: Pick<Timers, "setTimeout"> = {
  setTimeout(fn, delayMs) {
    const timer = setTimeout(fn, delayMs);
    return { dispose: () => clearTimeout(timer) };
  },
};

/**
 * Resolves after `ms`.
 * @param timers timers of a plugin's context, which end with it; default Node's
 * @throws the signal's reason, as soon as it aborts
 */
export function sleep(ms: number, signal: AbortSignal, timers = nodeTimers): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      void timer.dispose();
      reject(signal.reason);
    };
    const timer = timers.setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** Delay before a retry: `firstMs`, doubling with each attempt up to `maxMs`. @param attempt attempts that failed, from 1 */
export function backoffDelayMs(attempt: number, { firstMs, maxMs }: { firstMs: number; maxMs: number }): number {
  return Math.min(maxMs, firstMs * 2 ** (attempt - 1));
}

/**
 * Waits for a promise, but not longer than `limitMs`.
 * The work itself goes on after the limit; if it rejects later, that is not an unhandled rejection.
 * @param onLimit makes the value of a passed limit, or throws; called at the limit
 * @param signal rejects with its reason as soon as it aborts
 */
export async function withLimit<T, L = never>(
  promise: Promise<T>,
  limitMs: number,
  onLimit: () => L,
  signal?: AbortSignal,
): Promise<T | L> {
  promise.catch(() => undefined);
  signal?.throwIfAborted();
  let end: (() => void) | undefined;
  const limit = new Promise<L>((resolve, reject) => {
    const timer = setTimeout(() => {
      try {
        resolve(onLimit());
      } catch (error) {
        reject(error);
      }
    }, limitMs);
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    end?.();
  }
}

/** Waits until the work has settled, in whichever way, but no longer than `limitMs`. */
export function settledWithin(work: Promise<unknown>, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    work.then(done, done);
  });
}
