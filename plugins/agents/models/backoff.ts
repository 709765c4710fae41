import { backoffDelayMs, type ModelFault } from "svc/sdk";

const BASE_MS = 500;
const MAX_MS = 8_000;
/** A vendor that asks for a longer pause is left for the next candidate, or the run fails. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Number of retries of one candidate, by class of fault. */
const retries: Partial<Record<ModelFault, number>> = { rate_limit: 3, overloaded: 3, network: 3, timeout: 1 };

/**
 * Pause before retry number `retry` (from 1), or undefined when the candidate is not to be asked again.
 * The vendor's own wish wins over the doubling pause with full jitter.
 *
 * @param random in [0, 1)
 */
export function retryDelay(
  fault: ModelFault,
  retry: number,
  wish: { retryAfterMs?: number | undefined; random: number },
): number | undefined {
  if (retry > (retries[fault] ?? 0)) return undefined;
  if (wish.retryAfterMs !== undefined) return wish.retryAfterMs > MAX_RETRY_AFTER_MS ? undefined : Math.max(0, wish.retryAfterMs);
  const ceiling = backoffDelayMs(retry, { firstMs: BASE_MS, maxMs: MAX_MS });
  return Math.round(ceiling * (0.2 + 0.8 * wish.random));
}

/** Whether another candidate may do better after this fault. */
export function advances(fault: ModelFault): boolean {
  return fault !== "context_overflow" && fault !== "invalid_request";
}
