import type { Tokenizer } from "../index-settings.ts";
import { type Database, isCorrupt, openIndex } from "./database.ts";
import type { IndexIdentity } from "./identity.ts";
import { isDatabaseFile, recoverFiles, removeDatabase, setAside } from "./index-files.ts";

export interface IndexCounts {
  files: number;
  chunks: number;
}

/** The index that answers: opened on first need, closed around a swap, opened again. */
export interface LiveIndex {
  /** The open database; undefined when there is none yet. @throws {IndexFault} `memory-index-unusable` */
  use(): { db: Database; identity: IndexIdentity; tokenizer: Tokenizer } | undefined;
  counts(): IndexCounts;
  /** Counts again, after a sync. */
  recount(): IndexCounts;
  close(): void;
  /** Closes and puts a damaged database aside; the next sync makes a new one. */
  giveUp(): void;
  /** Deletes the database. Returns false when there was none. */
  remove(): boolean;
}

type Opened = NonNullable<ReturnType<typeof openIndex>>;

const none: IndexCounts = { files: 0, chunks: 0 };

export function createLiveIndex(path: string, warn: (message: string) => void): LiveIndex {
  let open: Opened | undefined;
  let counts = none;
  let isRecovered = false;

  const live: LiveIndex = {
    use() {
      if (!open) {
        if (!isRecovered) recoverFiles(path);
        isRecovered = true;
        open = openOrSetAside(path, warn, (opened) => {
          counts = countRows(opened.db);
        });
      }
      return open && { ...open, tokenizer: open.identity.ftsTokenizer };
    },
    counts: () => counts,
    recount() {
      counts = open ? countRows(open.db) : none;
      return counts;
    },
    close() {
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
function openOrSetAside(path: string, warn: (message: string) => void, check: (opened: Opened) => void): Opened | undefined {
  if (!isDatabaseFile(path)) return undefined;
  let opened: Opened | undefined;
  try {
    opened = openIndex(path);
    if (opened) check(opened);
    return opened;
  } catch (error) {
    opened?.db.close();
    if (!isCorrupt(error)) throw error;
    warn(`the memory index ${path} is damaged; it was moved to ${path}.damaged and is made anew from the files`);
    setAside(path);
    return undefined;
  }
}

function countRows(db: Database): IndexCounts {
  const count = (table: "files" | "chunks") => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  return { files: count("files"), chunks: count("chunks") };
}
