import { backoffDelayMs, sleep } from "svc/sdk";

/** Tries work again while its fault passes by itself. @param waitMs of the first pause; it doubles */
export async function retried<T>(
  work: () => Promise<T>,
  options: { tries: number; waitMs: number; isPassing(error: unknown): boolean; signal: AbortSignal },
): Promise<T> {
  for (let nth = 1; ; nth++) {
    try {
      return await work();
    } catch (error) {
      if (nth >= options.tries || options.signal.aborted || !options.isPassing(error)) throw error;
      await sleep(backoffDelayMs(nth, { firstMs: options.waitMs, maxMs: 60_000 }), options.signal);
    }
  }
}
