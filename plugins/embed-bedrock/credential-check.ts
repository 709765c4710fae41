import type { EmbeddingContext, EmbeddingError } from "svc/sdk";
import { ownFault, toEmbeddingError } from "./call-fault.ts";
import { CallGivenUp, type ClientLease } from "./client-threads.ts";
import { isCredentialError } from "./raw-failure.ts";

/**
 * Asks the credential chain, at most once in five minutes.
 * @throws {EmbeddingError} `no-credentials` when it has none
 */
export type CredentialCheck = (lease: ClientLease, context: Pick<EmbeddingContext, "auto" | "clock" | "signal">) => Promise<void>;

const KEPT_MS = 300_000;
/** The chain may have to ask a token service; each question to the metadata address ends after a second. */
const AUTO_MS = 5_000;
const NAMED_MS = 20_000;

export function createCredentialCheck(): CredentialCheck {
  // Apart, because the one may ask where the other must not.
  const kept = new Map<boolean, { atMs: number; failure: EmbeddingError | undefined }>();
  return async (lease, { auto, clock, signal }) => {
    const last = kept.get(auto);
    // An operator who names this adapter has perhaps just signed in.
    if (last && clock.monotonic() - last.atMs < KEPT_MS && (auto || !last.failure)) {
      if (last.failure) throw last.failure;
      return;
    }
    const failure = await lackOf(lease, { limitMs: auto ? AUTO_MS : NAMED_MS, signal, now: clock.now() });
    kept.set(auto, { atMs: clock.monotonic(), failure });
    if (failure) throw failure;
  };
}

/** Error of having no credentials. */
export function noCredentials(reason: string): EmbeddingError {
  return ownFault(
    "no-credentials",
    `there are no usable AWS credentials: ${reason}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE or AWS_BEARER_TOKEN_BEDROCK for the gateway`,
  );
}

/** That there are no credentials, or undefined. Other failures are thrown: they say nothing about the next five minutes. */
async function lackOf(
  lease: ClientLease,
  { limitMs, signal, now }: { limitMs: number; signal: AbortSignal; now: number },
): Promise<EmbeddingError | undefined> {
  const limit = AbortSignal.timeout(limitMs);
  try {
    await lease.resolveCredentials(AbortSignal.any([limit, signal]));
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) return noCredentials(`the credential chain did not answer within ${limitMs / 1000} s`);
    if (!(error instanceof CallGivenUp)) throw error;
    if (isCredentialError(error.failure.name)) return noCredentials(error.failure.message);
    throw toEmbeddingError(error.failure, now);
  }
}
