/**
 * Waits for a promise, but not longer than `limitMs`.
 * What it was waiting for goes on unobserved after the limit: a later rejection of it is nobody's unhandled one.
 * @param onLimit makes the value of a passed limit, or throws; called at the limit
 */
export async function withLimit<T, L = never>(promise: Promise<T>, limitMs: number, onLimit: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<L>((resolve, reject) => {
    timer = setTimeout(() => {
      try {
        resolve(onLimit());
      } catch (error) {
        reject(error);
      }
    }, limitMs);
  });
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Until the work has settled, in whichever way, but no longer than `limitMs`. */
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
