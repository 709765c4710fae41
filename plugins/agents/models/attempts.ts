import { isModelError, isSvcError, ModelError, messageOf } from "svc/sdk";
import { advances, retryDelay } from "./backoff.ts";
import type { Candidate } from "./choice.ts";
import type { Cooldown } from "./cooldown.ts";

export interface AttemptOptions<T> {
  candidates: readonly Candidate[];
  cooldown: Cooldown;
  attempt(candidate: Candidate): Promise<T>;
  /** Something of this turn was already shown: no second try. */
  isVisible(): boolean;
  /** Something of this run was already shown: no other model. */
  mayFailover(): boolean;
  /** Makes the request smaller after `context_overflow`; false when that is not possible. */
  shrink(): boolean;
  onRetry(candidate: Candidate, error: ModelError, pauseMs: number): void;
  pause(ms: number): Promise<void>;
  random(): number;
}

/**
 * One model turn with retries and failover. Bounded: at most three retries per candidate, each candidate once.
 * @throws the last fault
 */
export async function withFailover<T>(options: AttemptOptions<T>): Promise<{ value: T; candidate: Candidate }> {
  let last: unknown = new ModelError("auth", "no language model is available");
  for (const candidate of inOrder(options.candidates, options.cooldown)) {
    try {
      const value = await withRetries(candidate, options);
      options.cooldown.succeeded(candidate.provider.id);
      return { value, candidate };
    } catch (error) {
      if (!isModelError(error) || !advances(error.fault)) throw error;
      options.cooldown.failed(candidate.provider.id, error.fault, error.message);
      if (!options.mayFailover()) throw error;
      last = error;
    }
  }
  throw last;
}

/** Providers that rest come last: a chain in which all of them rest is still tried. */
function inOrder(candidates: readonly Candidate[], cooldown: Cooldown): Candidate[] {
  const resting = candidates.filter((c) => cooldown.rests(c.provider.id));
  return [...candidates.filter((c) => !resting.includes(c)), ...resting];
}

async function withRetries<T>(candidate: Candidate, options: AttemptOptions<T>): Promise<T> {
  const ready = candidate.provider.available();
  if (!ready.ok) throw new ModelError("auth", `model provider "${candidate.provider.id}" is not ready: ${ready.reason}`);
  let shrunk = false;
  for (let retry = 1; ; ) {
    try {
      return await options.attempt(candidate);
    } catch (raw) {
      const error = asModelError(raw);
      if (!error || options.isVisible()) throw raw;
      if (error.fault === "context_overflow" && !shrunk && options.shrink()) {
        shrunk = true;
        continue;
      }
      const pauseMs = retryDelay(error.fault, retry, { retryAfterMs: error.retryAfterMs, random: options.random() });
      if (pauseMs === undefined) throw error;
      options.onRetry(candidate, error, pauseMs);
      await options.pause(pauseMs);
      retry += 1;
    }
  }
}

/** A fault of the provider's own code counts as a broken connection; an abort of ours does not get here as a fault. */
function asModelError(error: unknown): ModelError | undefined {
  if (isModelError(error)) return error;
  if (isSvcError(error) || (error instanceof Error && error.name === "AbortError")) return undefined;
  return new ModelError("invalid_request", `the model provider failed: ${messageOf(error)}`, { cause: error });
}
