import type { Pacer } from "../pacer.ts";
import { createWriteQueue, type OpenIndex } from "../writing.ts";
import { type BatchRunner, runBatches } from "./batch.ts";
import { createEmbeddingCache } from "./cache.ts";
import type { Embedder, EmbedRun } from "./embedder.ts";
import { createPendingChunks, hashOf, type PendingChunk, type PendingChunks, type SettledChunk, settling } from "./pending.ts";
import { createEmbedQueue } from "./queue.ts";
import { toPassageVector } from "./vectorizer.ts";

export interface FillScope {
  embedder: Embedder;
  run: EmbedRun;
  useCache: boolean;
  batches: BatchRunner;
  pacer: Pacer;
  now(): number;
  progress(done: number, total: number): void;
  skip(path: string, reason: string): void;
  /** Called while jobs are waited for. */
  meanwhile(): Promise<void>;
}

const PAGE_CHUNKS = 256;

/** Brings the vectors that chunks still wait for: from the cache, from batch jobs, and the rest at once. */
export async function fillPending(index: OpenIndex, scope: FillScope): Promise<void> {
  const pending = createPendingChunks(index);
  if (pending.count() === 0) return;
  scope.run.dims ??= index.vectors.dims;
  if (scope.batches.isOn) await fromCache(index, scope, pending);
  await runBatches(index, { ...scope, pending });
  await fromProvider(index, scope, pending);
}

async function fromCache(index: OpenIndex, scope: FillScope, pending: PendingChunks): Promise<void> {
  if (!scope.useCache) return;
  const queue = createWriteQueue(index, scope.pacer);
  for await (const page of pages(scope, pending)) {
    const { hits } = lookup(index, scope, page);
    queue.add(settling(hits, { pending }));
    await queue.flush();
  }
}

async function fromProvider(index: OpenIndex, scope: FillScope, pending: PendingChunks): Promise<void> {
  const { embedder, run } = scope;
  const total = pending.count();
  const writes = createWriteQueue(index, scope.pacer);
  const cache = scope.useCache ? createEmbeddingCache(index.db, embedder.provider, scope.now) : undefined;
  let settled: SettledChunk[] = [];
  let done = 0;
  const queue = createEmbedQueue({
    maxItems: embedder.maxItems,
    maxBytes: embedder.maxRequestBytes,
    maxInFlight: 4,
    embed: (texts) => embedder.embedTexts(texts, run),
    answered() {
      done += settled.length;
      writes.add(settling(settled, { pending, store: cache?.store }));
      settled = [];
      scope.progress(done, total);
      return writes.flush();
    },
  });
  for await (const page of pages(scope, pending)) {
    if (embedder.pausedBy !== undefined) break;
    const { hits, misses } = lookup(index, scope, page);
    settled.push(...hits);
    for (const { chunk, hash } of misses) {
      const settle = (verdict: Float32Array | { skipped: string } | undefined) => {
        const vector = toPassageVector(verdict);
        if (verdict && "skipped" in verdict) scope.skip(chunk.path, verdict.skipped);
        if (vector !== "pending") settled.push({ chunk, hash, vector });
      };
      queue.add({ text: chunk.text, settle });
    }
    await queue.room();
  }
  await queue.drain();
  writes.add(settling(settled, { pending }));
  await writes.flush();
}

async function* pages({ embedder, pacer }: FillScope, pending: PendingChunks): AsyncGenerator<PendingChunk[]> {
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    await pacer.breathe();
    const page = pending.page(after, { limit: PAGE_CHUNKS, maxTextBytes: embedder.maxTextBytes });
    if (page.length === 0) return;
    after = page.at(-1)?.rowid ?? after;
    yield page;
  }
}

function lookup(
  { db }: OpenIndex,
  { embedder, run, useCache, now }: FillScope,
  page: readonly PendingChunk[],
): { hits: SettledChunk[]; misses: Array<{ chunk: PendingChunk; hash: string }> } {
  const hashed = page.map((chunk) => ({ chunk, hash: useCache ? hashOf(chunk) : "" }));
  if (!useCache) return { hits: [], misses: hashed };
  const cache = createEmbeddingCache(db, embedder.provider, now);
  const known = cache.lookup(
    hashed.map(({ hash }) => hash),
    embedder.provider.dims ?? run.dims,
  );
  const hits = hashed.flatMap(({ chunk, hash }): SettledChunk[] => {
    const vector = known.get(hash);
    return vector ? [{ chunk, hash, vector }] : [];
  });
  return { hits, misses: hashed.filter(({ hash }) => !known.has(hash)) };
}
