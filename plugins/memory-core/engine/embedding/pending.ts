import type { MemorySource } from "../../index-settings.ts";
import type { Database } from "../database.ts";
import { embeddedHash, embeddedText } from "../passages.ts";
import type { PassageVector } from "../writer.ts";
import type { OpenIndex, QueuedWrite } from "../writing.ts";

/** A chunk that waits for its vector. */
export interface PendingChunk {
  rowid: number;
  id: string;
  path: string;
  source: MemorySource;
  /** Text to embed. */
  text: string;
}

export interface PendingChunks {
  count(): number;
  /** In order of their rows, after one of them; those that a batch job brings are left out. */
  page(afterRowid: number, options: { limit: number; maxTextBytes: number }): PendingChunk[];
  /** A chunk that waits, by its id. */
  find(id: string, maxTextBytes: number): PendingChunk | undefined;
  /** Gives a chunk its vector, or none for good, within the transaction of the caller; false when it is no longer there. */
  settle(chunk: PendingChunk, vector: Exclude<PassageVector, "pending">): boolean;
}

/** A chunk and what it is given. */
export interface SettledChunk {
  chunk: PendingChunk;
  hash: string;
  vector: Float32Array | "none";
}

interface Row {
  rowid: number;
  id: string;
  path: string;
  source: MemorySource;
  trail: string;
  text: string;
}

export function countPending(db: Database): number {
  return Number(db.prepare("SELECT count(*) FROM chunks WHERE pending = 1").pluck().get());
}

export function createPendingChunks({ db, vectors }: OpenIndex): PendingChunks {
  const columns = "rowid, id, path, source, trail, text";
  const page = db.prepare(
    `SELECT ${columns} FROM chunks WHERE pending = 1 AND rowid > ? AND id NOT IN (SELECT chunk_id FROM batch_items) ORDER BY rowid LIMIT ?`,
  );
  const find = db.prepare(`SELECT ${columns} FROM chunks WHERE id = ? AND pending = 1`);
  const settle = db.prepare("UPDATE chunks SET pending = 0 WHERE rowid = ? AND id = ? AND pending = 1");
  const toChunk = ({ trail, text, ...row }: Row, maxTextBytes: number): PendingChunk => ({
    ...row,
    text: embeddedText({ trail, text }, maxTextBytes),
  });
  return {
    count: () => countPending(db),
    page: (afterRowid, { limit, maxTextBytes }) => (page.all(afterRowid, limit) as Row[]).map((row) => toChunk(row, maxTextBytes)),
    find(id, maxTextBytes) {
      const row = find.get(id) as Row | undefined;
      return row && toChunk(row, maxTextBytes);
    },
    settle({ rowid, id, source }, vector) {
      if (settle.run(rowid, id).changes === 0) return false;
      if (typeof vector !== "string") vectors.put(rowid, source, vector);
      return true;
    },
  };
}

export function hashOf(chunk: PendingChunk): string {
  return embeddedHash(chunk.text);
}

/** @param store remembers the vectors besides */
export function settling(
  settled: readonly SettledChunk[],
  { pending, store }: { pending: PendingChunks; store?: ((hash: string, vector: Float32Array) => void) | undefined },
): QueuedWrite {
  const run = function* () {
    for (const { chunk, hash, vector } of settled) {
      pending.settle(chunk, vector);
      if (typeof vector !== "string") store?.(hash, vector);
      yield;
    }
  };
  return { rows: settled.length, run };
}
