import { statSync } from "node:fs";
import type { Tokenizer } from "../index-settings.ts";
import { type Database, isCorrupt, openIndex, writeIdentity } from "./database.ts";
import type { IndexIdentity } from "./identity.ts";
import { isDatabaseFile, recoverFiles, removeDatabase, setAside } from "./index-files.ts";
import type { VectorStore } from "./vector-store.ts";

export interface IndexCounts {
  files: number;
  chunks: number;
}

/** An open index that answers. */
export interface OpenLiveIndex {
  db: Database;
  vectors: VectorStore;
  identity: IndexIdentity;
  tokenizer: Tokenizer;
}

/** The index that answers: opened on first need, closed around a swap, opened again, also when another process has put a new one in its place. */
export interface LiveIndex {
  /** The open database; undefined when there is none yet. @throws {IndexFault} `memory-index-unusable` */
  use(): OpenLiveIndex | undefined;
  /** The database if it is open. */
  opened(): OpenLiveIndex | undefined;
  counts(): IndexCounts;
  /** Counts again, after a sync. */
  recount(): IndexCounts;
  /** Writes down the length of the first vectors. */
  noteDims(): void;
  close(): void;
  /** Closes and puts a damaged database aside; the next sync makes a new one. */
  giveUp(): void;
  /** Deletes the database. Returns false when there was none. */
  remove(): boolean;
}

export interface LiveIndexOptions {
  warn(message: string): void;
  openVectors(db: Database): VectorStore;
}

type Opened = NonNullable<ReturnType<typeof openIndex>> & { vectors: VectorStore; file: string };

const none: IndexCounts = { files: 0, chunks: 0 };

export function createLiveIndex(path: string, options: LiveIndexOptions): LiveIndex {
  let open: Opened | undefined;
  let counts = none;
  let isRecovered = false;

  const live: LiveIndex = {
    use() {
      if (open && fileOf(path) !== open.file) live.close();
      if (!open) {
        if (!isRecovered) recoverFiles(path);
        isRecovered = true;
        open = openOrSetAside(path, options, (opened) => {
          counts = countRows(opened.db);
        });
        if (!open) counts = none;
      }
      return live.opened();
    },
    opened() {
      if (!open) return undefined;
      const { db, vectors, identity } = open;
      return { db, vectors, identity, tokenizer: identity.ftsTokenizer };
    },
    counts: () => counts,
    recount() {
      counts = open ? countRows(open.db) : none;
      return counts;
    },
    noteDims() {
      const dims = open?.vectors.dims;
      if (!open || dims === undefined || open.identity.vectorDims === dims) return;
      open.identity = { ...open.identity, vectorDims: dims };
      writeIdentity(open.db, open.identity);
    },
    close() {
      open?.vectors.close();
      open?.db.close();
      open = undefined;
    },
    giveUp() {
      live.close();
      counts = none;
      if (isDatabaseFile(path)) setAside(path);
    },
    remove() {
      live.close();
      counts = none;
      const existed = isDatabaseFile(path);
      removeDatabase(path);
      recoverFiles(path);
      return existed;
    },
  };
  return live;
}

/** @param check reads the whole of what an answer needs; damage it meets counts as damage of the file */
function openOrSetAside(path: string, { warn, openVectors }: LiveIndexOptions, check: (opened: Opened) => void): Opened | undefined {
  if (!isDatabaseFile(path)) return undefined;
  let db: Database | undefined;
  try {
    const file = fileOf(path);
    const index = openIndex(path);
    if (!index) return undefined;
    db = index.db;
    const opened = { ...index, vectors: openVectors(db), file };
    check(opened);
    return opened;
  } catch (error) {
    db?.close();
    if (!isCorrupt(error)) throw error;
    warn(`the memory index ${path} is damaged; it was moved to ${path}.damaged and is being rebuilt from the files`);
    setAside(path);
    return undefined;
  }
}

/** Identity of the file at a path: another process may replace it under the same name. */
function fileOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.dev}:${stats.ino}` : "";
}

function countRows(db: Database): IndexCounts {
  const count = (table: "files" | "chunks") => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  return { files: count("files"), chunks: count("chunks") };
}
