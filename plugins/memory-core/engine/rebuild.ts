import { randomUUID } from "node:crypto";
import type { Tokenizer } from "../index-settings.ts";
import { createIndex, type Database, writeIdentity } from "./database.ts";
import { type SyncOutcome, type SyncScope, syncDocuments } from "./document-sync.ts";
import { copyJobs } from "./embedding/batch-jobs.ts";
import { copyCache, evictCache } from "./embedding/cache.ts";
import type { IndexIdentity } from "./identity.ts";
import { removeDatabase, type SwapStep, swapDatabase, syncDatabase, tempPath } from "./index-files.ts";
import type { VectorStore } from "./vector-store.ts";
import type { OpenIndex } from "./writing.ts";

const MERGE_PAGES = 200;
const VACUUM_PAGES = 64;

/** The moments of a rebuild, in order. */
export type RebuildStep = "created" | "cache-copied" | "indexed" | "finished" | "closed" | "synced" | "live-closed" | SwapStep;

export interface RebuildJob {
  dbPath: string;
  tokenizer: Tokenizer;
  identity: IndexIdentity;
  scope: SyncScope;
  openVectors(db: Database): VectorStore;
  /** The index that answers meanwhile, for what is worth keeping of it. */
  live: (OpenIndex & { identity: IndexIdentity }) | undefined;
  maxCacheEntries: number;
  /** Throws when the new index would be worse than the live one. */
  check(made: OpenIndex): void;
  /** Closes the live handle; nothing reads the index from here until `rebuildIndex` returns or throws. */
  closeLive(): void;
  /** Called at each moment, for tests. */
  step?: ((step: RebuildStep) => void) | undefined;
}

/** Rebuilds the whole index beside the live one and puts it in its place. Until then the old one answers; on any error it stays. */
export async function rebuildIndex(job: RebuildJob): Promise<SyncOutcome> {
  const id = randomUUID();
  const temp = tempPath(job.dbPath, id);
  try {
    const outcome = await build(temp, job);
    job.step?.("closed");
    await syncDatabase(temp);
    job.step?.("synced");
    job.scope.progress("swap", 0, 1);
    job.closeLive();
    job.step?.("live-closed");
    swapDatabase(job.dbPath, temp, { id, step: job.step });
    return outcome;
  } finally {
    removeDatabase(temp);
  }
}

async function build(temp: string, job: RebuildJob): Promise<SyncOutcome> {
  const { scope, live } = job;
  const db = createIndex(temp, job.tokenizer);
  let made: OpenIndex | undefined;
  try {
    job.step?.("created");
    if (live) await copyCache(live.db, db, scope.pacer);
    if (live?.identity.providerKey === job.identity.providerKey) copyJobs(live.db, db);
    job.step?.("cache-copied");
    made = { db, vectors: job.openVectors(db) };
    const outcome = await syncDocuments(made, scope);
    job.check(made);
    job.step?.("indexed");
    await optimizeText(db, scope);
    await evictCache(db, job.maxCacheEntries, scope.pacer);
    await dropFreePages(db, scope.pacer);
    const { dims } = made.vectors;
    writeIdentity(db, { ...job.identity, ...(dims === undefined ? {} : { vectorDims: dims }) });
    job.step?.("finished");
    return outcome;
  } finally {
    made?.vectors.close();
    db.close();
  }
}

/** Gives back what merging has left, in small steps. */
async function dropFreePages(db: Database, pacer: SyncScope["pacer"]): Promise<void> {
  for (let left = Number.POSITIVE_INFINITY; ; ) {
    const free = Number(db.pragma("freelist_count", { simple: true }));
    if (free === 0 || free >= left) return;
    left = free;
    db.pragma(`incremental_vacuum(${VACUUM_PAGES})`);
    await pacer.breathe();
  }
}

/** Joins the FTS segments in small steps: one `optimize` of a large index would hold up searches for seconds. */
export async function optimizeText(db: Database, scope: Pick<SyncScope, "pacer">): Promise<void> {
  const merge = db.prepare("INSERT INTO chunks_fts(chunks_fts, rank) VALUES ('merge', ?)");
  const changes = db.prepare("SELECT total_changes() AS n").pluck();
  for (let pages = -MERGE_PAGES, before = Number(changes.get()); ; pages = MERGE_PAGES) {
    merge.run(pages);
    const after = Number(changes.get());
    if (after - before < 2) return;
    before = after;
    await scope.pacer.breathe();
  }
}
