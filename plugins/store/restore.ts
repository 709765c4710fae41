import { chmodSync, existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { copyDamaged, sizeOf } from "./damaged-copy.ts";
import { migrate } from "./migrate.ts";
import { openConnection, type Sqlite } from "./native.ts";
import { type Salvaged, salvage } from "./salvage.ts";
import type { SchemaStep } from "./schema.ts";
import { isSound, listSnapshots, type Snapshot, syncFile } from "./snapshots.ts";

/** A start waits no longer for rows of a damaged file; the file is kept. */
const salvageMs = 15_000;

/** Incident of a database that was damaged or missing. */
export interface Restored {
  /** Path of the damaged file; absent when there was none. */
  damaged?: string;
  /** Damage as SQLite reports it. */
  fault: string;
  /** The snapshot that took its place; absent: an empty database did. */
  snapshot?: Snapshot;
  /** Rows read from the damaged file; absent when nothing could be read. */
  salvaged?: Salvaged;
}

export interface RestoreOptions {
  path: string;
  steps: readonly SchemaStep[];
  /** Epoch ms, for the name of the damaged file. */
  now: number;
  fault: string;
}

/** Beside the database when damage was met while running: the next start checks the file even after a clean stop. */
export function suspectMark(path: string): string {
  return `${path}.suspect`;
}

/** A whole database that is about to take the place of another one. */
export function nextFile(path: string): string {
  return `${path}.next`;
}

/**
 * Puts the newest good snapshot in the place of a damaged database, with all rows that can still be read from it. The damaged files are kept as
 * `<path>.corrupt.<now>`. A crash at any point leaves either the damaged files, or what takes their place, for the next start.
 */
export async function restoreDatabase({ path, steps, now, fault }: RestoreOptions): Promise<Restored> {
  const next = nextFile(path);
  const temp = `${next}.tmp`;
  const snapshot = await newestGood(path, steps.at(-1)?.version ?? 0);
  dropFiles(temp);
  const db = await openBase(temp, snapshot, steps);
  let salvaged: Salvaged | undefined;
  try {
    if (sizeOf(path) > 0 || sizeOf(`${path}-wal`) > 0) salvaged = await salvageFrom(db, path, snapshot?.path ?? temp);
    db.pragma("journal_mode = DELETE");
  } finally {
    db.close();
  }
  chmodSync(temp, 0o600);
  syncFile(temp);
  renameSync(temp, next);
  const damaged = setAside(path, now);
  adoptNext(path);
  return {
    fault,
    ...(damaged === undefined ? {} : { damaged }),
    ...(snapshot === undefined ? {} : { snapshot }),
    ...(salvaged === undefined ? {} : { salvaged }),
  };
}

/** Completes a replacement that a crash has cut off. @returns whether there was one */
export function adoptNext(path: string): boolean {
  const next = nextFile(path);
  if (!existsSync(next)) return false;
  if (existsSync(path)) {
    // The file that it was to replace is still there; whether it has to be replaced is found out again.
    rmSync(next, { force: true });
    return false;
  }
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  renameSync(next, path);
  rmSync(suspectMark(path), { force: true });
  syncFile(dirname(path));
  return true;
}

/** One of a schema that this program does not know is as good as none. */
async function newestGood(path: string, known: number): Promise<Snapshot | undefined> {
  for (const snapshot of listSnapshots(path)) if (await isSound(snapshot, known)) return snapshot;
  return undefined;
}

/** Opens a database with the newest schema, into which rows are copied. */
async function openBase(temp: string, snapshot: Snapshot | undefined, steps: readonly SchemaStep[]): Promise<Sqlite> {
  if (snapshot) {
    const source = await openConnection(snapshot.path, { readonly: true, fileMustExist: true });
    try {
      await source.backup(temp);
    } finally {
      source.close();
    }
  }
  const db = await openConnection(temp, {});
  try {
    db.pragma("journal_mode = WAL");
    await migrate(db, temp, { steps, visit: () => undefined, copyBefore: false });
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

async function salvageFrom(db: Sqlite, path: string, like: string): Promise<Salvaged | undefined> {
  // The model has to be a file as it lies on disk, not one whose first page is still in its log.
  db.pragma("wal_checkpoint(TRUNCATE)");
  const copy = copyDamaged(path, like);
  const end = performance.now() + salvageMs;
  try {
    return await salvage(db, copy.path, () => performance.now() > end);
  } finally {
    copy.remove();
  }
}

/** The database goes first: a crash in between leaves a log without a database, which the next start sets aside too. */
function setAside(path: string, now: number): string | undefined {
  const target = `${path}.corrupt.${now}`;
  let isMoved = false;
  for (const suffix of ["", "-wal", "-shm"]) {
    if (!existsSync(path + suffix)) continue;
    renameSync(path + suffix, target + suffix);
    chmodSync(target + suffix, 0o600);
    isMoved = true;
  }
  return isMoved ? target : undefined;
}

function dropFiles(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
}
