import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import type { Failpoint } from "./failpoint.ts";
import { migrate, versionOf } from "./migrate.ts";
import { openConnection, type Sqlite } from "./native.ts";
import { Refusal } from "./refusal.ts";
import type { SchemaStep } from "./schema.ts";
import { isLocked, storageFault } from "./sqlite-fault.ts";

/** Above this a full check would hold up the start; damage then shows when it is met. */
const checkedBytes = 256 * 1024 * 1024;
const lockWaitMs = 5_000;

export interface OpenOptions {
  path: string;
  steps: readonly SchemaStep[];
  visit: (point: Failpoint) => void;
  /** Epoch ms for the name of a damaged file. */
  now: number;
  /** A writer that takes over inside the same process: the file was checked when the process started. */
  again?: boolean;
}

export interface OpenedDatabase {
  db: Sqlite;
  /** Where a damaged database was moved; a fresh one is in its place. */
  damaged?: string;
  migrated?: { from: number; to: number };
}

/** Beside the database when damage was met while running: the next start checks the file even after a clean stop. */
export function suspectMark(path: string): string {
  return `${path}.suspect`;
}

/**
 * Opens the state database for writing: refuses a newer one untouched, sets a damaged one aside, migrates an older one.
 * @throws {Refusal} `store-too-new`, `store-migration-failed`, `store-native-missing`, `store-open-failed`
 */
export async function openDatabase(options: OpenOptions): Promise<OpenedDatabase> {
  try {
    return await openChecked(options);
  } catch (error) {
    if (storageFault(error) !== "corrupt") throw toOpenRefusal(error, options.path);
    const damaged = setAside(options.path, options.now);
    try {
      return { ...(await openChecked(options)), damaged };
    } catch (again) {
      throw toOpenRefusal(again, options.path);
    }
  }
}

async function openChecked({ path, steps, visit, again }: OpenOptions): Promise<OpenedDatabase> {
  if (again) return { db: configure(await openConnection(path, { timeout: lockWaitMs, fileMustExist: true })) };
  const unclean = sizeOf(`${path}-wal`) > 0 || existsSync(suspectMark(path));
  if (sizeOf(path) > 0) await refuseNewer(path, steps.at(-1)?.version ?? 0);
  else if (unclean) throw corrupt("the file is empty, its log is not");
  closeSync(openSync(path, "a", 0o600));
  const db = await openConnection(path, { timeout: lockWaitMs });
  try {
    configure(db);
    if (unclean && sizeOf(path) <= checkedBytes) check(db);
    const moved = migrate(db, path, { steps, visit });
    rmSync(suspectMark(path), { force: true });
    return moved.from === moved.to ? { db } : { db, migrated: moved };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Read-only, so that a file of a newer program stays as it is. */
async function refuseNewer(path: string, known: number): Promise<void> {
  const db = await openConnection(path, { readonly: true, timeout: lockWaitMs });
  try {
    const found = versionOf(db);
    if (found > known) throw new Refusal("store-too-new", { path, found, known });
  } finally {
    db.close();
  }
}

/** `FULL`: a commit is acknowledged only when power loss cannot undo it (reliability: class M). */
function configure(db: Sqlite): Sqlite {
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  db.pragma("trusted_schema = OFF");
  db.pragma(`journal_size_limit = ${64 * 1024 * 1024}`);
  return db;
}

function check(db: Sqlite): void {
  const verdict = db.pragma("quick_check(1)", { simple: true });
  if (verdict !== "ok") throw corrupt(String(verdict));
}

/** What SQLite throws itself when it meets damage; used where damage is seen before SQLite can. */
function corrupt(message: string): Error {
  return Object.assign(new Error(message), { name: "SqliteError", code: "SQLITE_CORRUPT" });
}

/** The database goes first: a crash in between leaves a log without a database, which the next start sets aside too. */
function setAside(path: string, now: number): string {
  const target = `${path}.corrupt.${now}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(path + suffix)) {
      renameSync(path + suffix, target + suffix);
      chmodSync(target + suffix, 0o600);
    }
  }
  rmSync(suspectMark(path), { force: true });
  return target;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function toOpenRefusal(error: unknown, path: string): unknown {
  if (error instanceof Refusal) return error;
  const reason = isLocked(error) ? "another process holds it" : error instanceof Error ? error.message : String(error);
  return new Refusal("store-open-failed", { path, reason });
}
