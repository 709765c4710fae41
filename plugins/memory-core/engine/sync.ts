import type { ChunkingSettings } from "./chunker.ts";
import type { Database } from "./database.ts";
import { codeOf } from "./fault.ts";
import { type ListedFile, type Listing, listMemory } from "./listing.ts";
import type { Pacer } from "./pacer.ts";
import { type FileContent, readForIndex } from "./read-file.ts";
import { createWriter, type FileRow, type IndexWriter } from "./writer.ts";

export type ProgressPhase = "scan" | "write" | "swap" | "done" | "error";

/** What a sync needs besides the database. */
export interface SyncScope {
  workspace: string;
  extraPaths: readonly string[];
  chunking: ChunkingSettings;
  pacer: Pacer;
  now(): number;
  progress(phase: ProgressPhase, done: number, total: number): void;
}

export interface SyncOutcome {
  listing: Listing;
  /** Files written anew and files taken out. */
  changed: number;
  removed: number;
  /** Files that were skipped, with the reason. */
  skipped: Array<{ path: string; code: string }>;
}

/** A file changed this shortly before it was read may have changed again unseen. */
const RACY_MS = 2_000;
const BATCH_FILES = 64;
const BATCH_CHARS = 1_000_000;

/** Brings an index up to date with the files. Many files share a transaction, one file never spans two. */
export async function syncFiles(db: Database, scope: SyncScope): Promise<SyncOutcome> {
  scope.progress("scan", 0, 0);
  const listing = await listMemory(scope, scope.pacer);
  const outcome: SyncOutcome = { listing, changed: 0, removed: 0, skipped: [...listing.problems] };
  const writer = createWriter(db, scope.chunking, scope.now);
  const known = writer.known();
  const batch = createBatch(db, writer);
  for (const [index, file] of listing.files.entries()) {
    await scope.pacer.breathe();
    const row = known.get(file.path);
    known.delete(file.path);
    if (row && isTrusted(row, file)) continue;
    if (readInto(batch, file, { row, outcome })) scope.progress("write", index + 1, listing.files.length);
  }
  batch.flush();
  for (const path of known.keys()) {
    await scope.pacer.breathe();
    batch.add(0, (w) => w.remove(path));
    outcome.removed++;
  }
  batch.flush();
  return outcome;
}

/** Time and size may spare the read when the last read was clearly later than the last change. */
function isTrusted(row: FileRow, file: ListedFile): boolean {
  return row.mtime === file.mtimeMs && row.size === file.size && row.mtime + RACY_MS < row.checked_at;
}

/** Reads one file and queues its writes; true when it is new or different. */
function readInto(batch: Batch, file: ListedFile, { row, outcome }: { row: FileRow | undefined; outcome: SyncOutcome }): boolean {
  let content: FileContent;
  try {
    content = readForIndex(file.absolute);
  } catch (error) {
    outcome.skipped.push({ path: file.path, code: codeOf(error) ?? "EIO" });
    return false;
  }
  if (content.kind === "gone") {
    if (row) batch.add(0, (writer) => writer.remove(file.path));
    return false;
  }
  if (content.kind === "too-large") {
    outcome.skipped.push({ path: file.path, code: "EFBIG" });
    if (row) batch.add(0, (writer) => writer.remove(file.path));
    return false;
  }
  if (row?.hash === content.hash) {
    batch.add(0, (writer) => writer.touch(file.path, content));
    return false;
  }
  batch.add(content.text.length, (writer) => writer.put(file, content));
  outcome.changed++;
  return true;
}

interface Batch {
  add(chars: number, write: (writer: IndexWriter) => void): void;
  flush(): void;
}

/** Groups the writes of whole files into transactions of bounded size. */
function createBatch(db: Database, writer: IndexWriter): Batch {
  let writes: Array<(writer: IndexWriter) => void> = [];
  let chars = 0;
  const commit = db.transaction((all: typeof writes) => {
    for (const write of all) write(writer);
  });
  const batch: Batch = {
    add(size, write) {
      writes.push(write);
      chars += size;
      if (writes.length >= BATCH_FILES || chars >= BATCH_CHARS) batch.flush();
    },
    flush() {
      if (writes.length === 0) return;
      const all = writes;
      writes = [];
      chars = 0;
      commit(all);
    },
  };
  return batch;
}
