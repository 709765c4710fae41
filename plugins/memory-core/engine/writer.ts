import { createHash } from "node:crypto";
import { type ChunkingSettings, chunkLines, splitLines } from "./chunker.ts";
import type { Database } from "./database.ts";
import { headingsOf, readOutline } from "./headings.ts";
import type { ListedFile } from "./listing.ts";

/** A file as the index knows it. */
export interface FileRow {
  path: string;
  hash: string;
  mtime: number;
  size: number;
  checked_at: number;
}

export interface FileText {
  text: string;
  hash: string;
  mtimeMs: number;
  size: number;
}

const MODEL = "fts-only";
const SOURCE = "memory";

/** Writes files into an index; the caller owns the transaction. */
export interface IndexWriter {
  known(): Map<string, FileRow>;
  /** Old rows out, new rows in. Returns the number of chunks. */
  put(file: Pick<ListedFile, "path">, content: FileText): number;
  /** Same content, new time: the next sync need not read it. */
  touch(path: string, content: Pick<FileText, "mtimeMs" | "size">): void;
  remove(path: string): void;
}

export function createWriter(db: Database, chunking: ChunkingSettings, now: () => number): IndexWriter {
  const sql = prepareAll(db);
  const removeChunks = (path: string) => {
    for (const { rowid } of sql.rowids.all(SOURCE, path) as Array<{ rowid: number }>) sql.deleteFts.run(rowid);
    sql.deleteChunks.run(SOURCE, path);
  };
  return {
    known: () => new Map((sql.files.all(SOURCE) as FileRow[]).map((row) => [row.path, row])),
    put(file, content) {
      removeChunks(file.path);
      const count = insertChunks(sql, { path: file.path, text: content.text, chunking, now: now() });
      sql.putFile.run(file.path, SOURCE, content.hash, content.mtimeMs, content.size, now());
      return count;
    },
    touch(path, content) {
      sql.touchFile.run(content.mtimeMs, content.size, now(), SOURCE, path);
    },
    remove(path) {
      removeChunks(path);
      sql.deleteFile.run(SOURCE, path);
    },
  };
}

function prepareAll(db: Database) {
  return {
    files: db.prepare("SELECT path, hash, mtime, size, checked_at FROM files WHERE source = ?"),
    rowids: db.prepare("SELECT rowid FROM chunks WHERE source = ? AND path = ?"),
    deleteFts: db.prepare("DELETE FROM chunks_fts WHERE rowid = ?"),
    deleteChunks: db.prepare("DELETE FROM chunks WHERE source = ? AND path = ?"),
    deleteFile: db.prepare("DELETE FROM files WHERE source = ? AND path = ?"),
    putFile: db.prepare("INSERT OR REPLACE INTO files(path, source, hash, mtime, size, checked_at) VALUES (?, ?, ?, ?, ?, ?)"),
    touchFile: db.prepare("UPDATE files SET mtime = ?, size = ?, checked_at = ? WHERE source = ? AND path = ?"),
    putChunk: db.prepare(
      "INSERT INTO chunks(id, path, source, start_line, end_line, hash, model, text, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    putFts: db.prepare("INSERT INTO chunks_fts(rowid, text, heading, path_words) VALUES (?, ?, ?, ?)"),
  };
}

function insertChunks(
  sql: ReturnType<typeof prepareAll>,
  { path, text, chunking, now }: { path: string; text: string; chunking: ChunkingSettings; now: number },
): number {
  const lines = splitLines(text);
  const outline = readOutline(lines);
  const chunks = chunkLines(lines, chunking);
  const pathWords = `${path.replace(/\.md$/i, "")} ${outline.title}`;
  const seen = new Map<string, number>();
  for (const chunk of chunks) {
    const place = `${SOURCE}:${path}:${chunk.startLine}:${chunk.endLine}:${chunk.hash}:${MODEL}`;
    const id = uniqueId(place, seen);
    const row = sql.putChunk.run(id, path, SOURCE, chunk.startLine, chunk.endLine, chunk.hash, MODEL, chunk.text, now);
    sql.putFts.run(row.lastInsertRowid, chunk.text, headingsOf(chunk, outline), pathWords);
  }
  return chunks.length;
}

/** Equal pieces of one line share everything; an ordinal tells them apart. */
function uniqueId(place: string, seen: Map<string, number>): string {
  const ordinal = seen.get(place) ?? 0;
  seen.set(place, ordinal + 1);
  return createHash("sha256")
    .update(ordinal === 0 ? place : `${place}:${ordinal}`)
    .digest("hex");
}
