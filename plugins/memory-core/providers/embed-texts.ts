import { EmbeddingError, type MemoryEmbedding } from "svc/sdk";
import { memoryErrors } from "../errors.ts";
import { checkVectors } from "./check-vectors.ts";
import { embeddingFaultOf } from "./embedding-fault.ts";
import { limitedCall } from "./limited-call.ts";
import type { OpenedProvider, ProviderHost } from "./open-provider.ts";

/** Limit for one request of a provider; a call of several has as much for each of them, up to the second figure. */
const REQUEST_MS = 120_000;
const MAX_CALL_MS = 600_000;
/** Bytes of a request to a provider that names no limit. */
const REQUEST_BYTES = 8_000;
/** More bytes than a token has in any language: a text beyond that is too long for certain. A vendor that cuts texts in silence would not say so. */
const MAX_BYTES_PER_TOKEN = 8;
const PROBE = "word";
/** Texts that are tried one by one to find out which was refused. */
const MAX_TRIED = 8;

interface Call {
  texts: readonly string[];
  signal: AbortSignal | undefined;
}

/**
 * The vectors of `texts` from one provider, which splits them into requests of its vendor.
 * @throws {SvcError} `embedding-text-too-long` @throws {EmbeddingError}
 */
export async function embedTexts(
  host: ProviderHost,
  { provider, facts }: OpenedProvider,
  { texts, signal }: Call,
): Promise<MemoryEmbedding> {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const limit = provider.maxInputTokens ?? Number.POSITIVE_INFINITY;
  const tooLong = (index: number) => memoryErrors.embeddingTextTooLong({ index, limit, model: facts.model });
  const certain = sizes.findIndex((bytes) => bytes > limit * MAX_BYTES_PER_TOKEN);
  if (certain >= 0) throw tooLong(certain);

  let tokens = 0;
  const onUsage = (used: number) => {
    tokens += used;
  };
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const requests = Math.max(texts.length / (provider.maxItemsPerRequest ?? 1), bytes / (provider.maxTokensPerRequest ?? REQUEST_BYTES), 1);
  const limitMs = Math.min(REQUEST_MS * Math.ceil(requests), MAX_CALL_MS);
  const limits = { timers: host.timers, limitMs, signal: signal ?? host.signal, what: `${facts.id}: texts` };
  const ask = (some: readonly string[]) => limitedCall((s) => provider.embedBatch(some, { signal: s, onUsage }), limits);
  try {
    const vectors = await ask(texts);
    if (texts.length > 0 && vectors.length === 0) throw new EmbeddingError("bad-response", `${facts.id}: no vectors came back`);
    const checked = checkVectors(vectors, texts.length, { id: facts.id, dims: facts.dims, normalized: provider.normalized === true });
    return { provider: facts.id, model: facts.model, vectors: checked, tokens };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // A text of fewer bytes than the model takes tokens cannot be too long.
    // A vendor refuses for other reasons, too: a text is blamed for its length only where a single word passes.
    const isForLength = async () =>
      embeddingFaultOf(error)?.fault === "too-long" ||
      (await ask([PROBE]).then(
        () => true,
        () => false,
      ));
    const suspects = [...sizes.entries()].filter(([, size]) => size > limit).sort(([, a], [, b]) => b - a);
    if (suspects.length === 0 || !(await isForLength())) throw error;
    for (const [index] of suspects.slice(0, MAX_TRIED)) {
      const isRefused = texts.length === 1 || (await ask([texts[index] ?? ""]).then(() => false, isRefusal));
      if (isRefused) throw tooLong(index);
    }
    throw error;
  }
}

function isRefusal(error: unknown): boolean {
  const fault = embeddingFaultOf(error)?.fault;
  return fault === "too-long" || fault === "invalid-request";
}
