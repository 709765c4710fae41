import type { EmbeddingFault } from "svc/sdk";
import { EmbedFault } from "../host.ts";

/** Waits, or rejects with the signal's reason. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export interface RetryOptions {
  signal: AbortSignal;
  wait?: Wait;
  /** 0…1 */
  random?: () => number;
}

const ATTEMPTS = 4;
const FIRST_DELAY_MS = 500;
const JITTER = 0.2;
const MAX_DELAY_MS = 8_000;
const MAX_RETRY_AFTER_MS = 60_000;
const passing: ReadonlySet<EmbeddingFault> = new Set<EmbeddingFault>(["rate-limit", "overloaded", "timeout", "network"]);

/** Runs a request until it succeeds or has no chance any more; the adapter's fault decides, never the wording of its message. */
export async function withRetries<T>(run: () => Promise<T>, { signal, wait = waitMs, random = Math.random }: RetryOptions): Promise<T> {
  let badResponses = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof EmbedFault) || attempt >= ATTEMPTS) throw error;
      const isSecondTry = error.fault === "bad-response" && badResponses++ === 0;
      if (!isSecondTry && !passing.has(error.fault)) throw error;
      await wait(retryDelayMs(attempt, error.retryAfterMs, random), signal);
    }
  }
}

/** Delay before the next attempt: what the vendor asks for, else half a second doubling. */
export function retryDelayMs(attempt: number, retryAfterMs: number | undefined, random: () => number): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1) * (1 + JITTER * random()));
}

export function waitMs(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
