import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Tokenizer } from "../index-settings.ts";
import { createIndex, type Database, writeIdentity } from "./database.ts";
import type { IndexIdentity } from "./identity.ts";
import { isDatabaseFile, removeDatabase, swapDatabase, syncDatabase, tempPath } from "./index-files.ts";
import { takeRebuildLock } from "./rebuild-lock.ts";
import { type SyncOutcome, type SyncScope, syncFiles } from "./sync.ts";

const MERGE_PAGES = 200;

export interface RebuildJob {
  dbPath: string;
  tokenizer: Tokenizer;
  identity: IndexIdentity;
  scope: SyncScope;
  /** Closes the live handle; nothing reads the index from here until `rebuild` returns or throws. */
  closeLive(): void;
}

/** Makes the whole index anew beside the live one and puts it in its place. Until then the old one answers; on any error it stays. */
export async function rebuildIndex(job: RebuildJob): Promise<SyncOutcome> {
  isDatabaseFile(job.dbPath);
  mkdirSync(dirname(job.dbPath), { recursive: true, mode: 0o700 });
  const id = randomUUID();
  const temp = tempPath(job.dbPath, id);
  const release = takeRebuildLock(job.dbPath);
  try {
    const outcome = await build(temp, job);
    await syncDatabase(temp);
    job.scope.progress("swap", 0, 1);
    job.closeLive();
    swapDatabase(job.dbPath, temp, { id });
    return outcome;
  } finally {
    removeDatabase(temp);
    release();
  }
}

async function build(temp: string, job: RebuildJob): Promise<SyncOutcome> {
  const db = createIndex(temp, job.tokenizer);
  try {
    const outcome = await syncFiles(db, job.scope);
    await optimizeText(db, job.scope);
    writeIdentity(db, job.identity);
    return outcome;
  } finally {
    db.close();
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
