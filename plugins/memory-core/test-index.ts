import { createHash } from "node:crypto";
import Sqlite from "better-sqlite3";
import type { Database } from "./engine/database.ts";
import { passagesOf } from "./engine/passages.ts";
import { schemaSql } from "./engine/schema.ts";
import type { VectorStore } from "./engine/vector-store.ts";
import { createVectorStore } from "./engine/vectors/store.ts";
import { createWriter } from "./engine/writer.ts";
import type { MemorySource, Tokenizer } from "./index-settings.ts";

/** Test index in memory, filled without files. */
export interface TestIndex {
  db: Database;
  vectors: VectorStore;
  tokenizer: Tokenizer;
  readonly chunks: number;
  close(): void;
}

export interface TestIndexOptions {
  tokenizer?: Tokenizer;
  source?: MemorySource;
  chunking?: { tokens: number; overlap: number };
  /** Vector of a passage; without it passages have none. */
  vectorOf?(text: string, path: string): Float32Array | undefined;
  /** Time of a file, epoch ms. */
  mtimeOf?(path: string): number;
}

export function createTestIndex(tokenizer: Tokenizer = "unicode61"): TestIndex {
  const db = new Sqlite(":memory:");
  db.exec(schemaSql(tokenizer));
  const vectors = createVectorStore(db, { vector: { enabled: true, extensionPath: undefined } });
  return {
    db,
    vectors,
    tokenizer,
    get chunks() {
      return Number(db.prepare("SELECT count(*) FROM chunks").pluck().get());
    },
    close() {
      vectors.close();
      db.close();
    },
  };
}

/** Puts texts by path into the index, as a sync does. */
export function addToIndex(index: TestIndex, files: Record<string, string>, options: TestIndexOptions = {}): void {
  const { db, vectors } = index;
  const { source = "memory", chunking = { tokens: 400, overlap: 80 }, vectorOf, mtimeOf = () => 0 } = options;
  const writer = createWriter({ db, vectors, source, model: "test", now: Date.now });
  db.transaction(() => {
    for (const [path, text] of Object.entries(files)) {
      const passages = passagesOf(text, { path, chunking });
      const found = passages.list.map((passage) => vectorOf?.(passage.text, path) ?? "none");
      const hash = createHash("sha256").update(text).digest("hex");
      for (const _ of writer.put({ path, hash, mtimeMs: mtimeOf(path), size: text.length }, passages, found));
    }
  })();
  vectors.committed();
}
