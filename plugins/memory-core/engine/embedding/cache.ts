import type { ProviderFacts } from "../../index-settings.ts";
import type { Database } from "../database.ts";
import type { Pacer } from "../pacer.ts";

/** Vectors of texts seen before, by hash, least recently used out first. */
export interface EmbeddingCache {
  /** Vectors of these texts; refreshes what is found. Those of another length than `dims` are not found. */
  lookup(hashes: readonly string[], dims: number | undefined): Map<string, Float32Array>;
  /** Within the transaction of the caller. */
  store(hash: string, vector: Float32Array): void;
}

const LOOKUP_HASHES = 400;
const COPY_ROWS = 100;
const EVICT_ROWS = 500;

export function createEmbeddingCache(db: Database, provider: ProviderFacts, now: () => number): EmbeddingCache {
  const key = [provider.id, provider.model, provider.providerKey];
  const where = "provider = ? AND model = ? AND provider_key = ?";
  const find = db.prepare(`SELECT hash, embedding FROM embedding_cache WHERE ${where} AND hash IN (SELECT value FROM json_each(?))`);
  const refresh = db.prepare(`UPDATE embedding_cache SET updated_at = ? WHERE ${where} AND hash IN (SELECT value FROM json_each(?))`);
  const put = db.prepare(
    `INSERT OR REPLACE INTO embedding_cache(provider, model, provider_key, hash, embedding, dims, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  return {
    lookup(hashes, dims) {
      const found = new Map<string, Float32Array>();
      for (let from = 0; from < hashes.length; from += LOOKUP_HASHES) {
        const rows = find.all(...key, JSON.stringify(hashes.slice(from, from + LOOKUP_HASHES))) as Array<{
          hash: string;
          embedding: Buffer;
        }>;
        const hits: string[] = [];
        for (const { hash, embedding } of rows) {
          const vector = toVector(embedding);
          if (vector.length === 0 || (dims !== undefined && vector.length !== dims)) continue;
          found.set(hash, vector);
          hits.push(hash);
        }
        if (hits.length > 0) refresh.run(now(), ...key, JSON.stringify(hits));
      }
      return found;
    },
    store(hash, vector) {
      put.run(...key, hash, Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength), vector.length, now());
    },
  };
}

/** Takes the whole cache over into an index that is being made, in small steps. */
export async function copyCache(from: Database, to: Database, pacer: Pacer): Promise<void> {
  const columns = "provider, model, provider_key, hash, embedding, dims, updated_at";
  const read = from.prepare(`SELECT rowid, ${columns} FROM embedding_cache WHERE rowid > ? ORDER BY rowid LIMIT ?`).raw();
  const write = to.prepare(`INSERT OR REPLACE INTO embedding_cache(${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const writeAll = to.transaction((rows: unknown[][]) => {
    for (const [, ...values] of rows) write.run(...values);
  });
  for (let last = 0; ; ) {
    const rows = read.all(last, COPY_ROWS) as unknown[][];
    if (rows.length === 0) return;
    writeAll(rows);
    last = Number(rows.at(-1)?.[0]);
    await pacer.breathe();
  }
}

/** Deletes the oldest entries above the limit. */
export async function evictCache(db: Database, maxEntries: number, pacer: Pacer): Promise<void> {
  let above = countCache(db) - maxEntries;
  const evict = db.prepare(
    "DELETE FROM embedding_cache WHERE rowid IN (SELECT rowid FROM embedding_cache ORDER BY updated_at, rowid LIMIT ?)",
  );
  while (above > 0) {
    above -= evict.run(Math.min(above, EVICT_ROWS)).changes;
    await pacer.breathe();
  }
}

export function countCache(db: Database): number {
  return Number(db.prepare("SELECT count(*) FROM embedding_cache").pluck().get());
}

/** Blobs need not stand at a multiple of four in memory, so they are copied. */
function toVector(blob: Buffer): Float32Array {
  if (blob.length % 4 !== 0) return new Float32Array(0);
  return new Float32Array(blob.buffer.slice(blob.byteOffset, blob.byteOffset + blob.length));
}
