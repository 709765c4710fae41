import { createHash } from "node:crypto";
import type { MemorySource } from "../index-settings.ts";
import type { Database } from "./database.ts";
import type { DocumentRow } from "./documents.ts";
import type { Passage, Passages } from "./passages.ts";
import type { VectorStore } from "./vector-store.ts";

/** State of a document when it was read, as stored in the index. */
export interface DocumentStamp {
  path: string;
  hash: string;
  mtimeMs: number;
  size: number;
}

/** The vector of a passage; `pending`: a later sync brings it; `none`: it has none. */
export type PassageVector = Float32Array | "pending" | "none";

export interface WriterParts {
  db: Database;
  source: MemorySource;
  /** Model of the vectors, part of each chunk's id. */
  model: string;
  vectors: VectorStore;
  now(): number;
}

/** Writes documents of one source into an index; the caller owns the transaction. */
export interface IndexWriter {
  /** Rows of these documents, or of all. */
  known(only?: readonly string[]): Map<string, DocumentRow>;
  /** Old rows out, new rows in; the rows go in as the steps are taken. */
  put(stamp: DocumentStamp, passages: Passages, vectors: readonly PassageVector[]): Generator<void>;
  /** Same content, new time: the next sync need not read it. */
  touch(stamp: Omit<DocumentStamp, "hash">): void;
  remove(path: string): Generator<void>;
}

const STEP_ROWS = 32;

export function createWriter(parts: WriterParts): IndexWriter {
  const { db, source, vectors, now } = parts;
  const sql = prepareAll(db);
  function* removeChunks(path: string): Generator<void> {
    const rowids = sql.rowids.all(source, path) as number[];
    if (rowids.length === 0) return;
    for (const [index, rowid] of rowids.entries()) {
      sql.deleteFts.run(rowid);
      vectors.remove(rowid);
      if (index % STEP_ROWS === STEP_ROWS - 1) yield;
    }
    sql.deleteChunks.run(source, path);
  }
  return {
    known(only) {
      const rows = only ? only.flatMap((path) => sql.file.all(source, path)) : sql.files.all(source);
      return new Map((rows as DocumentRow[]).map((row) => [row.path, row]));
    },
    *put(stamp, passages, found) {
      yield* removeChunks(stamp.path);
      yield* insertChunks(sql, { ...parts, path: stamp.path, passages, found });
      sql.putFile.run(stamp.path, source, stamp.hash, stamp.mtimeMs, stamp.size, now());
    },
    touch: ({ path, mtimeMs, size }) => void sql.touchFile.run(mtimeMs, size, now(), source, path),
    *remove(path) {
      yield* removeChunks(path);
      sql.deleteFile.run(source, path);
    },
  };
}

function prepareAll(db: Database) {
  return {
    files: db.prepare("SELECT path, hash, mtime, size, checked_at FROM files WHERE source = ?"),
    file: db.prepare("SELECT path, hash, mtime, size, checked_at FROM files WHERE source = ? AND path = ?"),
    rowids: db.prepare("SELECT rowid FROM chunks WHERE source = ? AND path = ?").pluck(),
    deleteFts: db.prepare("DELETE FROM chunks_fts WHERE rowid = ?"),
    deleteChunks: db.prepare("DELETE FROM chunks WHERE source = ? AND path = ?"),
    deleteFile: db.prepare("DELETE FROM files WHERE source = ? AND path = ?"),
    putFile: db.prepare("INSERT OR REPLACE INTO files(path, source, hash, mtime, size, checked_at) VALUES (?, ?, ?, ?, ?, ?)"),
    touchFile: db.prepare("UPDATE files SET mtime = ?, size = ?, checked_at = ? WHERE source = ? AND path = ?"),
    putChunk: db.prepare(
      "INSERT INTO chunks(id, path, source, start_line, end_line, hash, model, text, updated_at, trail, pending) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    putFts: db.prepare("INSERT INTO chunks_fts(rowid, text, heading, path_words) VALUES (?, ?, ?, ?)"),
  };
}

function* insertChunks(
  sql: ReturnType<typeof prepareAll>,
  {
    source,
    model,
    vectors,
    now,
    path,
    passages,
    found,
  }: WriterParts & { path: string; passages: Passages; found: readonly PassageVector[] },
): Generator<void> {
  const seen = new Map<string, number>();
  const at = now();
  for (const [index, passage] of passages.list.entries()) {
    const { startLine, endLine, hash, text, trail } = passage;
    const vector = found[index] ?? "none";
    const id = uniqueId(placeOf({ source, path, model }, passage), seen);
    const row = sql.putChunk.run(id, path, source, startLine, endLine, hash, model, text, at, trail, vector === "pending" ? 1 : 0);
    const rowid = Number(row.lastInsertRowid);
    sql.putFts.run(rowid, text, passage.heading, passages.pathWords);
    if (typeof vector !== "string") vectors.put(rowid, source, vector);
    if (index % STEP_ROWS === STEP_ROWS - 1) yield;
  }
}

function placeOf({ source, path, model }: { source: string; path: string; model: string }, passage: Passage): string {
  return `${source}:${path}:${passage.startLine}:${passage.endLine}:${passage.hash}:${model}`;
}

/** Equal pieces of one line share everything; an ordinal tells them apart. */
function uniqueId(place: string, seen: Map<string, number>): string {
  const ordinal = seen.get(place) ?? 0;
  seen.set(place, ordinal + 1);
  return createHash("sha256")
    .update(ordinal === 0 ? place : `${place}:${ordinal}`)
    .digest("hex");
}
