import type { Database } from "./engine/database.ts";
import type { VectorStore } from "./engine/vector-store.ts";
import type { MemorySource } from "./index-settings.ts";

export function addChunk(db: Database, rowid: number, source: MemorySource): void {
  db.prepare(
    "INSERT OR IGNORE INTO chunks(rowid, id, path, source, start_line, end_line, hash, model, text, updated_at, trail, pending) VALUES (?, ?, 'a', ?, 1, 1, '', '', '', 0, '', 0)",
  ).run(rowid, String(rowid), source);
}

/** Writes vectors under row ids from `first` on; each third is of a session. */
export function fillStore(db: Database, into: VectorStore, vectors: readonly Float32Array[], first = 1): void {
  db.transaction(() => {
    for (const [index, vector] of vectors.entries()) {
      const source: MemorySource = (first + index) % 3 === 0 ? "sessions" : "memory";
      addChunk(db, first + index, source);
      into.put(first + index, source, vector);
    }
  })();
  into.committed();
}
