import type { MemorySource } from "../../index-settings.ts";
import type { Database } from "../database.ts";
import type { Pacer } from "../pacer.ts";
import type { VectorRow } from "../vector-store.ts";
import { BestRows } from "./best-rows.ts";
import { blobOf, cosine, hasDirection, vectorOf } from "./similarity.ts";

/** Rows that are read at once, in 1 to 2 ms; the pacer is asked between two pages. */
const PAGE_ROWS = { "sqlite-vec": 512, "in-process": 64 };

export interface RowScan {
  query: Float32Array;
  /** At most this many rows. */
  k: number;
  sources: readonly MemorySource[];
  /** Code that compares two vectors. */
  backend: "sqlite-vec" | "in-process";
  /** Ends the scan without a result, between two pages, as soon as it is true. */
  isNeedless?(): boolean;
}

/**
 * Compares the query with every stored vector of its length, page after page, best first: by `vec_distance_cosine` on a database that has sqlite-vec, else in
 * JavaScript. It needs no memory and neither the `vec0` table nor WebAssembly. Vectors without a direction are not compared.
 * @returns undefined when it was ended as needless
 * @throws {IndexFault} `memory-sync-aborted` when the pacer's signal aborts
 */
export async function scanRows(db: Database, scan: RowScan, pacer: Pacer): Promise<VectorRow[] | undefined> {
  const { query, k, sources, backend } = scan;
  const among = sources.map(() => "?").join(", ");
  const value = backend === "sqlite-vec" ? "1 - vec_distance_cosine(v.embedding, ?)" : "v.embedding";
  const given = backend === "sqlite-vec" ? [blobOf(query)] : [];
  const pageRows = PAGE_ROWS[backend];
  const page = db.prepare(
    `SELECT v.chunk_id, ${value} FROM chunk_vectors v CROSS JOIN chunks c ON c.rowid = v.chunk_id
     WHERE v.chunk_id > ? AND v.dims = ? AND c.source IN (${among}) ORDER BY v.chunk_id LIMIT ${pageRows}`,
  );
  const best = new BestRows(k);
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = page.raw().all(...given, after, query.length, ...sources) as Array<[rowid: number, found: Buffer | number | null]>;
    for (const [rowid, found] of rows) {
      const score = typeof found === "number" ? found : found && similarity(query, vectorOf(found));
      if (score !== null && score !== undefined) best.add(rowid, score);
    }
    const last = rows.at(-1);
    if (!last || rows.length < pageRows) break;
    after = last[0];
    await pacer.breathe();
    if (scan.isNeedless?.()) return undefined;
  }
  return best.sorted().map(({ key, score }) => ({ rowid: key, score }));
}

function similarity(query: Float32Array, vector: Float32Array): number | undefined {
  return hasDirection(vector) ? cosine(query, vector) : undefined;
}
