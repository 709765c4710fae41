import type { MemorySource } from "../../index-settings.ts";
import type { Database } from "../database.ts";
import type { Pacer } from "../pacer.ts";
import { codeBytes, encode } from "./codes.ts";
import { VectorMatrix } from "./matrix.ts";
import { vectorOf } from "./similarity.ts";

/** Rows that are read at once, in about a millisecond. */
const CODE_ROWS = 512;
const VECTOR_ROWS = 128;

/** False for an index of an older version: its codes are made from its vectors while it is read, which takes ten times as long. */
export function hasCodes(db: Database): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'chunk_codes'").get() !== undefined;
}

/** Reads the codes of all vectors into memory, in one sequential pass with pauses. @throws {RangeError} when the memory cannot be had */
export function loadMatrix(db: Database, dims: number, pacer: Pacer): Promise<VectorMatrix> {
  return hasCodes(db) ? fromCodes(db, dims, pacer) : fromVectors(db, dims, pacer);
}

async function fromCodes(db: Database, dims: number, pacer: Pacer): Promise<VectorMatrix> {
  const matrix = new VectorMatrix(dims, 0);
  const bytes = codeBytes(dims);
  const page = db.prepare(`SELECT chunk_id, source, code FROM chunk_codes WHERE chunk_id > ? ORDER BY chunk_id LIMIT ${CODE_ROWS}`).raw();
  const stored = db.prepare("SELECT embedding FROM chunk_vectors WHERE chunk_id = ? AND dims = ?").pluck();
  for (let after = Number.MIN_SAFE_INTEGER; ; await pacer.breathe()) {
    const rows = page.all(after) as Array<[rowid: number, source: MemorySource, code: Buffer]>;
    for (const [rowid, source, code] of rows) {
      const whole = code.length === bytes ? code : encodeBlob(stored.get(rowid, dims) as Buffer | undefined);
      if (whole) matrix.put(rowid, source, whole);
    }
    if (rows.length < CODE_ROWS) return matrix;
    after = rows.at(-1)?.[0] ?? after;
  }
}

async function fromVectors(db: Database, dims: number, pacer: Pacer): Promise<VectorMatrix> {
  const sessions = new Set(db.prepare("SELECT rowid FROM chunks WHERE source = 'sessions'").pluck().all() as number[]);
  const matrix = new VectorMatrix(dims, 0);
  const page = db
    .prepare(`SELECT chunk_id, embedding FROM chunk_vectors WHERE chunk_id > ? AND dims = ? ORDER BY chunk_id LIMIT ${VECTOR_ROWS}`)
    .raw();
  for (let after = Number.MIN_SAFE_INTEGER; ; await pacer.breathe()) {
    const rows = page.all(after, dims) as Array<[rowid: number, embedding: Buffer]>;
    for (const [rowid, embedding] of rows) {
      const code = encodeBlob(embedding);
      if (code) matrix.put(rowid, sessions.has(rowid) ? "sessions" : "memory", code);
    }
    if (rows.length < VECTOR_ROWS) return matrix;
    after = rows.at(-1)?.[0] ?? after;
  }
}

function encodeBlob(embedding: Buffer | undefined): Uint8Array | undefined {
  return embedding && encode(vectorOf(embedding));
}
