import { readdirSync, renameSync, rmSync, statfsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Failpoint } from "./failpoint.ts";
import type { Sqlite } from "./native.ts";
import { Refusal } from "./refusal.ts";
import type { SchemaStep } from "./schema.ts";
import { copyWhole, syncFile } from "./snapshots.ts";
import { storageFault } from "./sqlite-fault.ts";

const copiesKept = 3;

/** Schema version written in the file; 0 for an empty one. */
export function versionOf(db: Sqlite): number {
  return db.pragma("user_version", { simple: true }) as number;
}

/** Oldest schema whose programs read and write this file correctly: a later step may only have added what they do not look at. */
export function minReaderOf(db: Sqlite): number {
  const version = versionOf(db);
  // A program that does not keep this row changed the schema: nothing is known of what it did.
  const stored: unknown = hasInfo(db)
    ? db.prepare("SELECT min_reader FROM schema_info WHERE id = 1 AND version = ?").pluck().get(version)
    : undefined;
  return typeof stored === "number" ? stored : version;
}

export interface MigrateOptions {
  steps: readonly SchemaStep[];
  visit: (point: Failpoint) => void;
  /** Epoch ms, for the name of the copy. */
  now?: number;
  /** Bytes that are free in a folder; default: what the system says. */
  freeBytes?: (folder: string) => number;
  /** False for a copy: the original is still there. Default true. */
  copyBefore?: boolean;
}

/** Schema versions before and after, and the copy from before the first step; none of an empty database. */
export interface Migrated {
  from: number;
  to: number;
  copy?: string;
}

/**
 * Brings the schema up to the newest step, each step in its own transaction. A database that has something in it is copied to
 * `<path>.pre-<version>-<ts>` first.
 * @throws {Refusal} `store-no-room`, before anything is changed; `store-migration-failed`: steps before the failed one stay, the failed one leaves nothing
 */
export async function migrate(db: Sqlite, path: string, options: MigrateOptions): Promise<Migrated> {
  const from = versionOf(db);
  const due = options.steps.filter((step) => step.version > from);
  if (due.length === 0) return { from, to: from };
  let copy = "";
  if (options.copyBefore !== false && !isEmpty(db)) {
    requireRoom(db, path, options.freeBytes ?? freeBytesIn);
    copy = await copyBefore(db, path, { version: from, now: options.now ?? 0 });
    options.visit("store.after-copy");
  }
  for (const step of due) runStep(db, path, { step, copy, visit: options.visit });
  return { from, to: versionOf(db), ...(copy === "" ? {} : { copy }) };
}

/** The copy, and as much again for what the steps write: a disk that fills up in the middle would be a worse start. @throws {Refusal} `store-no-room` */
function requireRoom(db: Sqlite, path: string, freeBytes: (folder: string) => number): void {
  const bytes = (db.pragma("page_count", { simple: true }) as number) * (db.pragma("page_size", { simple: true }) as number);
  const [free, needed] = [freeBytes(dirname(path)), 2 * bytes];
  const megabytes = (count: number) => Math.ceil(count / 1_000_000);
  if (free < needed) throw new Refusal("store-no-room", { path, needed: megabytes(needed), free: megabytes(free) });
}

function freeBytesIn(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY; // a system that does not say refuses nothing
  }
}

interface Step {
  step: SchemaStep;
  copy: string;
  visit: (point: Failpoint) => void;
}

function runStep(db: Sqlite, path: string, { step, copy, visit }: Step): void {
  try {
    db.transaction(() => {
      step.up(db);
      db.pragma(`user_version = ${step.version}`);
      writeMinReader(db, step);
      visit("store.before-migrated");
    }).immediate();
  } catch (error) {
    // Damage is dealt with by the opening, which keeps the file.
    if (storageFault(error) === "corrupt") throw error;
    throw new Refusal("store-migration-failed", { path, version: step.version, reason: (error as Error).message, copy });
  }
}

/** Never lowered: a step that old programs may ignore does not make an earlier one harmless to them. */
function writeMinReader(db: Sqlite, { version, minReader = version }: SchemaStep): void {
  if (!hasInfo(db)) return;
  db.prepare(
    `INSERT INTO schema_info (id, version, min_reader) VALUES (1, @version, @minReader)
     ON CONFLICT (id) DO UPDATE SET version = @version, min_reader = max(min_reader, @minReader)`,
  ).run({ version, minReader });
}

function hasInfo(db: Sqlite): boolean {
  return db.prepare("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_info'").pluck().get() === 1;
}

function isEmpty(db: Sqlite): boolean {
  return db.prepare("SELECT count(*) FROM sqlite_master").pluck().get() === 0;
}

/** The copy appears under its name only when it is whole and on disk. */
async function copyBefore(db: Sqlite, path: string, { version, now }: { version: number; now: number }): Promise<string> {
  const target = `${path}.pre-${version}-${now}`;
  const temp = `${target}.tmp`;
  const damage = await copyWhole(db, temp, "quick");
  if (damage !== undefined) throw Object.assign(new Error(damage), { name: "SqliteError", code: "SQLITE_CORRUPT" });
  renameSync(temp, target);
  syncFile(dirname(path));
  dropOldCopies(path);
  return target;
}

function dropOldCopies(path: string): void {
  const prefix = `${basename(path)}.pre-`;
  const copies = readdirSync(dirname(path))
    .flatMap((name) => {
      const [, version, at] = /^(\d+)-(\d+)$/.exec(name.startsWith(prefix) ? name.slice(prefix.length) : "") ?? [];
      return version === undefined ? [] : [{ name, version: Number(version), at: Number(at) }];
    })
    .sort((a, b) => b.at - a.at || b.version - a.version);
  for (const { name } of copies.slice(copiesKept)) rmSync(join(dirname(path), name), { force: true });
}
