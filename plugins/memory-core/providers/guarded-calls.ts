import { type Clock, EmbeddingError } from "svc/sdk";
import type { EmbedCalls } from "./embed-calls.ts";
import { faultOf, type PlainEmbeddingFault } from "./embedding-fault.ts";
import type { HeldProvider } from "./held-provider.ts";

/** Decides about calls and learns from their results. */
export interface CallGuard {
  clock: Pick<Clock, "monotonic">;
  /** Ends calls that nobody waits for. */
  signal: AbortSignal;
  /** The provider in use. @throws {EmbeddingError} when there is none */
  held(): HeldProvider;
  succeeded(held: HeldProvider): void;
  failed(held: HeldProvider, fault: PlainEmbeddingFault): void;
  /** Failures in a row show that it is no blip. */
  isDown(held: HeldProvider, fault: PlainEmbeddingFault): void;
}

/** A query given up sooner tells nothing about the vendor. */
const SLOW_QUERY_MS = 1_000;

/** Calls of whatever provider is in use: none while it is to be left alone, and every fault counts. */
export function createGuardedCalls(guard: CallGuard): EmbedCalls {
  const pass = <K extends Exclude<keyof EmbedCalls, "embedQuery">>(method: K): EmbedCalls[K] =>
    ((params: never, signal: AbortSignal) => embedDocuments(guard, (held) => held.calls[method](params, signal))) as EmbedCalls[K];
  return {
    embedQuery: ({ text }, signal) => embedQuery(guard, text, signal),
    embed: pass("embed"),
    embedMedia: pass("embedMedia"),
    batchSubmit: pass("batchSubmit"),
    batchPoll: pass("batchPoll"),
    batchResults: pass("batchResults"),
    batchEnd: pass("batchEnd"),
  };
}

async function embedQuery(guard: CallGuard, text: string, signal: AbortSignal): Promise<Float32Array> {
  const held = guard.held();
  const known = held.queries.get(text);
  if (known) return known;
  const count = (fault: PlainEmbeddingFault) => void (held.circuit.failed(fault) && guard.isDown(held, fault));
  const refusal = held.circuit.refusal();
  if (refusal) {
    count(refusal);
    throw toError(refusal);
  }
  const startedAt = guard.clock.monotonic();
  try {
    const vector = await held.calls.embedQuery({ text }, signal);
    held.queries.set(text, vector);
    guard.succeeded(held);
    return vector;
  } catch (error) {
    const fault = signal.aborted ? givenUp(held, guard.clock.monotonic() - startedAt) : faultOf(error);
    if (fault) {
      guard.failed(held, fault);
      if (signal.aborted && held.opened.provider.loadsModel === true) warmUp(guard, held, text);
      else count(fault);
    }
    throw error;
  }
}

/**
 * A model server ends the load when the call that began it is given up, so searches alone would never see it done: one query goes on without them, with the
 * time that a load may take. What it fails with counts like any other failure.
 */
function warmUp(guard: CallGuard, held: HeldProvider, text: string): void {
  if (held.isWarming) return;
  held.isWarming = true;
  held.calls
    .embedQuery({ text }, guard.signal)
    .then(
      (vector) => {
        held.queries.set(text, vector);
        guard.succeeded(held);
      },
      (error: unknown) => {
        const fault = faultOf(error);
        guard.failed(held, fault);
        if (held.circuit.failed(fault)) guard.isDown(held, fault);
      },
    )
    .finally(() => {
      held.isWarming = false;
    });
}

/** Retries belong to the thread, which says when they are used up. */
async function embedDocuments<T>(guard: CallGuard, run: (held: HeldProvider) => Promise<T>): Promise<T> {
  const held = guard.held();
  const refusal = held.circuit.refusal();
  if (refusal) throw toError(refusal);
  try {
    const done = await run(held);
    guard.succeeded(held);
    return done;
  } catch (error) {
    guard.failed(held, faultOf(error));
    throw error;
  }
}

/** A query that the search gave up: nothing at all of a model in this process, which is being loaded; a model server may be loading its own, too. */
function givenUp({ opened: { facts, provider } }: HeldProvider, tookMs: number): PlainEmbeddingFault | undefined {
  if (tookMs < SLOW_QUERY_MS || (facts.pace === "local" && provider.loadsModel !== true)) return undefined;
  const hint = provider.loadsModel === true ? "; it may be loading its model" : "";
  return { fault: "timeout", message: `${facts.id}: no answer within the time of the search (${Math.round(tookMs)} ms)${hint}` };
}

function toError({ fault, message, status, retryAfterMs }: PlainEmbeddingFault): EmbeddingError {
  return new EmbeddingError(fault, message, {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
