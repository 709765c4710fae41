import { closeSync, existsSync, openSync, rmSync, statSync } from "node:fs";
import { sizeOf } from "./damaged-copy.ts";
import type { Failpoint } from "./failpoint.ts";
import { type Migrated, migrate, minReaderOf, versionOf } from "./migrate.ts";
import { openConnection, type Sqlite } from "./native.ts";
import { Refusal } from "./refusal.ts";
import { adoptNext, type Restored, restoreDatabase, suspectMark } from "./restore.ts";
import type { SchemaStep } from "./schema.ts";
import { type CheckDepth, findDamage, listSnapshots } from "./snapshots.ts";
import { isLocked, storageFault } from "./sqlite-fault.ts";

/** Above this a check would hold up the start; the check that follows in the background finds what is wrong. */
const checkedBytes = 256 * 1024 * 1024;
/** Up to this size the indexes are compared with their tables as well: a tenth of a second. */
const comparedBytes = 16 * 1024 * 1024;
const lockWaitMs = 5_000;

export interface OpenOptions {
  path: string;
  steps: readonly SchemaStep[];
  visit: (point: Failpoint) => void;
  /** Epoch ms for the names of files that are put aside. */
  now: number;
  /** A writer that takes over inside the same process: the file was checked when the process started. */
  again?: boolean;
}

export interface OpenedDatabase {
  db: Sqlite;
  /** The database was damaged, or missing: what was done about it. */
  restored?: Restored;
  migrated?: Migrated;
  /** The last process did not close it. */
  unclean?: true;
}

/**
 * Opens the state database for writing: refuses a newer one untouched, replaces a damaged one by the newest good snapshot and what can be salvaged,
 * migrates an older one.
 * @throws {Refusal} `store-too-new`, `store-no-room`, `store-migration-failed`, `store-native-missing`, `store-open-failed`
 */
export async function openDatabase(options: OpenOptions): Promise<OpenedDatabase> {
  const { path, steps, now } = options;
  try {
    return await openChecked(options);
  } catch (error) {
    if (storageFault(error) !== "corrupt") throw toOpenRefusal(error, path);
    try {
      const restored = await restoreDatabase({ path, steps, now, fault: (error as Error).message });
      return { ...(await openChecked(options)), restored };
    } catch (again) {
      throw toOpenRefusal(again, path);
    }
  }
}

async function openChecked({ path, steps, visit, now, again }: OpenOptions): Promise<OpenedDatabase> {
  if (again) return { db: configure(await openConnection(path, { timeout: lockWaitMs, fileMustExist: true })) };
  // A FIFO would be waited for without end, by a thread that nobody can stop then.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new Refusal("store-open-failed", { path, reason: "it is not a regular file" });
  adoptNext(path);
  const isSuspect = existsSync(suspectMark(path));
  const hasLog = sizeOf(`${path}-wal`) > 0;
  if (sizeOf(path) > 0) await refuseNewer(path, steps.at(-1)?.version ?? 0);
  else if (hasLog || isSuspect) throw corrupt("the file is empty, its log is not");
  else if (listSnapshots(path).length > 0) throw corrupt(existsSync(path) ? "the file is empty" : "the file is missing");
  closeSync(openSync(path, "a", 0o600));
  const db = await openConnection(path, { timeout: lockWaitMs });
  try {
    configure(db);
    // A fault found while running may be an index that contradicts its table, which only the full check sees.
    if (isSuspect) check(db, "full");
    else if (hasLog && sizeOf(path) <= checkedBytes) check(db, sizeOf(path) <= comparedBytes ? "full" : "quick");
    const moved = await migrate(db, path, { steps, visit, now });
    rmSync(suspectMark(path), { force: true });
    return { db, ...(hasLog ? { unclean: true } : {}), ...(moved.from === moved.to ? {} : { migrated: moved }) };
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
    if (found <= known) return;
    const needed = minReaderOf(db);
    if (needed > known) throw new Refusal("store-too-new", { path, found, needed, known });
  } finally {
    db.close();
  }
}

/** `FULL`: a commit is acknowledged only when power loss cannot undo it. */
function configure(db: Sqlite): Sqlite {
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  db.pragma("trusted_schema = OFF");
  db.pragma(`journal_size_limit = ${64 * 1024 * 1024}`);
  return db;
}

function check(db: Sqlite, depth: CheckDepth): void {
  const damage = findDamage(db, depth);
  if (damage !== undefined) throw corrupt(damage);
}

/** Error that SQLite itself throws for damage; used where damage is seen before SQLite notices. */
function corrupt(message: string): Error {
  return Object.assign(new Error(message), { name: "SqliteError", code: "SQLITE_CORRUPT" });
}

function toOpenRefusal(error: unknown, path: string): unknown {
  if (error instanceof Refusal) return error;
  const reason = isLocked(error) ? "another process holds it" : error instanceof Error ? error.message : String(error);
  return new Refusal("store-open-failed", { path, reason });
}
