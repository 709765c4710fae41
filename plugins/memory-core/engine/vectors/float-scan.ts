import type { MemorySource } from "../../index-settings.ts";
import type { Database } from "../database.ts";
import type { Pacer } from "../pacer.ts";
import type { VectorRow } from "../vector-store.ts";
import { BestRows } from "./best-rows.ts";
import { cosine, vectorOf } from "./quantise.ts";

const PAGE_ROWS = 64;

/** Compares the query with every stored vector of its length, row after row: exact, slow, and needs neither extension nor WebAssembly. */
export async function scanVectors(
  db: Database,
  { query, k, sources }: { query: Float32Array; k: number; sources: readonly MemorySource[] },
  pacer: Pacer,
): Promise<VectorRow[]> {
  const among = sources.map(() => "?").join(", ");
  const page = db.prepare(
    `SELECT v.chunk_id AS rowid, v.embedding FROM chunk_vectors v CROSS JOIN chunks c ON c.rowid = v.chunk_id
     WHERE v.chunk_id > ? AND v.dims = ? AND c.source IN (${among}) ORDER BY v.chunk_id LIMIT ${PAGE_ROWS}`,
  );
  const best = new BestRows(k);
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = page.all(after, query.length, ...sources) as Array<{ rowid: number; embedding: Buffer }>;
    for (const { rowid, embedding } of rows) best.add(rowid, cosine(query, vectorOf(embedding)));
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_ROWS) break;
    after = last.rowid;
    await pacer.breathe();
  }
  return best.sorted().map(({ key, score }) => ({ rowid: key, score }));
}
