import type { MemorySource } from "../../index-settings.ts";
import type { Database } from "../database.ts";
import type { Pacer } from "../pacer.ts";
import { VectorMatrix } from "./matrix.ts";
import { quantise, vectorOf } from "./quantise.ts";

const PAGE_ROWS = 128;

interface StoredRow {
  rowid: number;
  q8: Buffer | null;
  /** Only where there is no quantised copy. */
  embedding: Buffer | null;
}

/** Reads all quantised vectors of one length into memory, in one sequential pass with pauses. @throws {RangeError} when the memory cannot be had */
export async function loadMatrix(db: Database, dims: number, pacer: Pacer): Promise<VectorMatrix> {
  const sessions = new Set(db.prepare("SELECT rowid FROM chunks WHERE source = 'sessions'").pluck().all() as number[]);
  const chunks = Number(db.prepare("SELECT count(*) FROM chunks").pluck().get());
  const matrix = new VectorMatrix(dims, chunks);
  const page = db.prepare(
    `SELECT chunk_id AS rowid, q8, CASE WHEN q8 IS NULL THEN embedding END AS embedding FROM chunk_vectors
     WHERE chunk_id > ? AND dims = ? ORDER BY chunk_id LIMIT ${PAGE_ROWS}`,
  );
  for (let after = Number.MIN_SAFE_INTEGER; ; await pacer.breathe()) {
    const rows = page.all(after, dims) as StoredRow[];
    for (const row of rows) {
      const q8 = quantisedOf(row);
      const source: MemorySource = sessions.has(row.rowid) ? "sessions" : "memory";
      if (q8) matrix.put(row.rowid, source, q8);
    }
    if (rows.length < PAGE_ROWS) return matrix;
    after = rows.at(-1)?.rowid ?? after;
  }
}

function quantisedOf({ q8, embedding }: StoredRow): Int8Array | undefined {
  if (q8) return new Int8Array(q8.buffer, q8.byteOffset, q8.byteLength);
  return embedding ? quantise(vectorOf(embedding)) : undefined;
}
