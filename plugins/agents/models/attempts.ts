import { cutEnd, isModelError, isSvcError, ModelError, type ModelFault, messageOf } from "svc/sdk";
import { advances, retryDelay } from "./backoff.ts";
import type { Candidate } from "./choice.ts";
import { type Cooldown, restingId } from "./cooldown.ts";

export interface AttemptOptions<T> {
  candidates: readonly Candidate[];
  cooldown: Cooldown;
  /** False when another provider was registered under its id meanwhile. */
  isCurrent(candidate: Candidate): boolean;
  /** One turn. `isLast`: no other candidate is left. */
  attempt(candidate: Candidate, at: { isLast: boolean }): Promise<T>;
  /** Something of this turn was already shown: no second try. */
  isVisible(): boolean;
  /** Something of this run was already shown: no other model. */
  mayFailover(): boolean;
  /** Makes the request smaller after `context_overflow`, at most three times per candidate; false when that is not possible. */
  shrink(candidate: Candidate, error: ModelError): boolean | Promise<boolean>;
  /** Takes another candidate longer requests? Default: it does not, as far as anybody knows. */
  isRoomier?(candidate: Candidate, than: Candidate): boolean;
  /** Called for a candidate whose provider cannot be asked. */
  onNotReady?(candidate: Candidate, error: ModelError): void;
  onRetry(candidate: Candidate, error: ModelError, pauseMs: number): void;
  pause(ms: number): Promise<void>;
  random(): number;
}

/**
 * One model turn with retries and failover. Bounded: at most three retries per candidate, each candidate once.
 * @throws the last fault, with the names and faults of those that were tried before
 */
export async function withFailover<T>(options: AttemptOptions<T>): Promise<{ value: T; candidate: Candidate }> {
  const failures: Failure[] = [];
  const order = inOrder(options.candidates, options.cooldown);
  let tooSmall: Candidate | undefined;
  const isFit = (candidate: Candidate) => tooSmall === undefined || options.isRoomier?.(candidate, tooSmall) === true;
  for (const [i, candidate] of order.entries()) {
    if (!isFit(candidate)) continue;
    try {
      const value = await withRetries(candidate, options, { isLast: i === order.length - 1 });
      if (options.isCurrent(candidate)) options.cooldown.succeeded(candidate.provider.id, candidate.model);
      return { value, candidate };
    } catch (error) {
      if (isModelError(error) && error.fault === "context_overflow") tooSmall = candidate;
      const isOverflow = tooSmall === candidate && order.slice(i + 1).some(isFit);
      if (!isModelError(error) || (!advances(error.fault) && !isOverflow)) throw error;
      // An answer without a word says nothing about the next question, a replaced provider nothing about its successor.
      if (!harmless.has(error.fault) && options.isCurrent(candidate))
        options.cooldown.failed(
          restingId({ provider: candidate.provider.id, model: candidate.model }, error.fault),
          error.fault,
          error.message,
        );
      if (!options.mayFailover()) throw error;
      failures.push({ model: `${candidate.provider.id}/${candidate.model}`, error });
    }
  }
  throw joined(failures);
}

/** Faults that say nothing about the next request of another conversation. */
const harmless: ReadonlySet<ModelFault> = new Set(["content_filter", "empty", "context_overflow"]);

/** A server that may take longer to begin its answer had its time: a second request would begin the same work anew. */
const PATIENT_MS = 120_000;
/** Longest text of all failures together. */
const MAX_JOINED_CHARS = 2_000;

const MAX_SHRINKS = 3;

interface Failure {
  /** Provider and model. */
  model: string;
  error: ModelError;
}

/** The last failure, in words that name every model that was tried. Its class decides who may read the text, so the others add no words of their vendors. */
function joined(failures: readonly Failure[]): ModelError {
  const last = failures.at(-1)?.error;
  if (!last) return new ModelError("auth", "no language model is available");
  if (failures.length === 1) return last;
  const { fault, status, retryAfterMs } = last;
  const before = failures.slice(0, -1).map(({ model, error }) => `${model}: ${error.fault}`);
  const text = cutEnd([...before, `${failures.at(-1)?.model}: ${last.message}`].join("; then "), MAX_JOINED_CHARS);
  return new ModelError(fault, text, {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: last,
  });
}

/** Providers that rest come last: a chain in which all of them rest is still tried. */
function inOrder(candidates: readonly Candidate[], cooldown: Cooldown): Candidate[] {
  const resting = candidates.filter((c) => cooldown.rests(c.provider.id, c.model));
  return [...candidates.filter((c) => !resting.includes(c)), ...resting];
}

async function withRetries<T>(candidate: Candidate, options: AttemptOptions<T>, at: { isLast: boolean }): Promise<T> {
  const ready = candidate.provider.available();
  if (!ready.ok) {
    const error = new ModelError("auth", `model provider "${candidate.provider.id}" is not ready: ${ready.reason}`);
    options.onNotReady?.(candidate, error);
    throw error;
  }
  let shrinks = 0;
  for (let retry = 1; ; ) {
    try {
      return await options.attempt(candidate, at);
    } catch (raw) {
      const error = asModelError(raw);
      if (!error || options.isVisible()) throw raw;
      if (error.fault === "context_overflow" && shrinks < MAX_SHRINKS && (await options.shrink(candidate, error))) {
        shrinks += 1;
        continue;
      }
      const isSlow = (candidate.provider.firstAnswerMs ?? 0) > PATIENT_MS;
      const pauseMs =
        error.fault === "timeout" && isSlow
          ? undefined
          : retryDelay(error.fault, retry, { retryAfterMs: error.retryAfterMs, random: options.random() });
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
