import { EmbeddingError } from "svc/sdk";
import type { HostHandlers } from "../host-calls.ts";
import { unpackTexts } from "../packed-texts.ts";
import { checkVectors, type VectorShape } from "./check-vectors.ts";
import { limitedCall } from "./limited-call.ts";
import type { OpenedProvider, ProviderHost } from "./open-provider.ts";

/** Calls of one provider with their limits and the look at what comes back. */
export type EmbedCalls = Omit<HostHandlers, "listSessions" | "readSession">;

const QUERY_MS = { remote: 60_000, local: 300_000 };
const DOCUMENTS_MS = { remote: 120_000, local: 600_000 };
const POLL_MS = 60_000;
const TRANSFER_MS = 600_000;

export function createEmbedCalls(host: Pick<ProviderHost, "timers">, { provider, batch, facts }: OpenedProvider): EmbedCalls {
  const limited = <T>(what: string, limitMs: number, signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>) =>
    limitedCall(run, { timers: host.timers, limitMs, signal, what: `${facts.id}: ${what}` });
  // A length that nobody has told may change with the model behind a name; the thread compares it with its index.
  const shape: VectorShape = { id: facts.id, dims: facts.dims, normalized: provider.normalized === true };
  const checked = (vectors: readonly Float32Array[], count: number) => checkVectors(vectors, count, shape);
  const jobs = () => {
    if (batch && facts.batch) return batch;
    throw new EmbeddingError("model", `${facts.id}: there is no batch API for ${facts.model}`);
  };
  return {
    async embedQuery({ text }, signal) {
      const vector = await limited("a query", QUERY_MS[facts.pace], signal, (s) => provider.embedQuery(text, { signal: s }));
      return checked([vector], 1)[0] as Float32Array;
    },
    async embed({ texts }, signal) {
      const vectors = await limited("texts", DOCUMENTS_MS[facts.pace], signal, (s) => provider.embedBatch(texts, { signal: s }));
      return packVectors(checked(vectors, texts.length));
    },
    async embedMedia({ inputs }, signal) {
      if (!facts.multimodal) throw new EmbeddingError("invalid-request", `${facts.id}: ${facts.model} takes no images or sounds`);
      const parts = inputs.map(({ text, mime, data }) => [
        { type: "text" as const, text },
        { type: "media" as const, mime, data },
      ]);
      const run = (s: AbortSignal) => provider.embedBatchInputs?.(parts, { signal: s }) ?? Promise.resolve([]);
      return checked(await limited("images and sounds", DOCUMENTS_MS[facts.pace], signal, run), inputs.length);
    },
    async batchSubmit({ texts, tag }, signal) {
      return {
        job: await limited("a batch job", TRANSFER_MS, signal, async (s) => jobs().submit(await unpackTexts(texts, s), { tag, signal: s })),
      };
    },
    batchPoll: ({ job }, signal) => limited("a batch job", POLL_MS, signal, (s) => jobs().poll(job, { signal: s })),
    batchResults: ({ job, count }, signal) =>
      limited("the results of a batch job", TRANSFER_MS, signal, async (s) => {
        const results: Array<Float32Array | string> = Array.from({ length: count }, () => "the batch holds no result for it");
        const kept = createVectorSlabs();
        const good = (vector: Float32Array) => kept(checked([vector], 1)[0] as Float32Array);
        for await (const line of jobs().results(job, { signal: s })) {
          if (line.index >= 0 && line.index < count) results[line.index] = "error" in line ? line.error : oneOf(line.vector, good);
        }
        return results;
      }),
    async batchEnd({ job, cancel }, signal) {
      const run = async () => {
        if (cancel) await jobs().cancel(job);
        await jobs().cleanup(job);
      };
      await limited("the end of a batch job", POLL_MS, signal, run);
      return { ended: true };
    },
  };
}

/** A vector that cannot be used fails for its own line only. */
function oneOf(vector: Float32Array, good: (vector: Float32Array) => Float32Array): Float32Array | string {
  try {
    return good(vector);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** 4 MiB of numbers. */
const SLAB_NUMBERS = 1024 * 1024;

/** A piece of memory that is moved as the adapter gave it: larger than any that Node lends out to several. */
const MOVED_BYTES = 64 * 1024;

/** Share of a large piece that vectors have to fill to be moved with it. Whatever is copied out of a piece leaves it to be collected, which V8 puts off for long. */
const MOVED_SHARE = 0.25;

/** Brings vectors into few pieces of memory, to be moved: those that fill much of a large one by themselves stay in it, others are copied into one. */
function packVectors(vectors: readonly Float32Array[]): Float32Array[] {
  const bytes = new Map<ArrayBufferLike, number>();
  for (const { buffer, byteLength } of vectors) bytes.set(buffer, (bytes.get(buffer) ?? 0) + byteLength);
  const isMoved = ({ buffer }: Float32Array) => {
    const { byteLength } = buffer;
    return byteLength >= MOVED_BYTES && (bytes.get(buffer) ?? 0) >= byteLength * MOVED_SHARE;
  };
  const all = new Float32Array(vectors.reduce((sum, vector) => sum + (isMoved(vector) ? 0 : vector.length), 0));
  let used = 0;
  return vectors.map((vector) => {
    if (isMoved(vector)) return vector;
    all.set(vector, used);
    used += vector.length;
    return all.subarray(used - vector.length, used);
  });
}

/**
 * Copies vectors into few large pieces of memory: those are moved to another thread at once, while thousands of small ones, copied or moved, hold up this
 * one for half a second.
 */
function createVectorSlabs(): (vector: Float32Array) => Float32Array {
  let slab = new Float32Array(0);
  let used = 0;
  return (vector) => {
    if (used + vector.length > slab.length) {
      slab = new Float32Array(Math.max(SLAB_NUMBERS, vector.length));
      used = 0;
    }
    const copy = slab.subarray(used, used + vector.length);
    copy.set(vector);
    used += vector.length;
    return copy;
  };
}
