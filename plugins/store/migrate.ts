import { chmodSync, closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Failpoint } from "./failpoint.ts";
import type { Sqlite } from "./native.ts";
import { Refusal } from "./refusal.ts";
import type { SchemaStep } from "./schema.ts";
import { storageFault } from "./sqlite-fault.ts";

const copiesKept = 3;

/** Schema version written in the file; 0 for an empty one. */
export function versionOf(db: Sqlite): number {
  return db.pragma("user_version", { simple: true }) as number;
}

/**
 * Brings the schema up to the newest step, each step in its own transaction. A database that has something in it is copied to
 * `<path>.pre-<version>` first.
 * @throws {Refusal} `store-migration-failed`; steps before the failed one stay, the failed one leaves nothing
 */
export function migrate(
  db: Sqlite,
  path: string,
  options: { steps: readonly SchemaStep[]; visit: (point: Failpoint) => void },
): { from: number; to: number } {
  const from = versionOf(db);
  const due = options.steps.filter((step) => step.version > from);
  if (due.length === 0) return { from, to: from };
  if (!isEmpty(db)) {
    copyBefore(db, path, from);
    options.visit("store.after-copy");
  }
  for (const step of due) runStep(db, path, { step, visit: options.visit });
  return { from, to: versionOf(db) };
}

function runStep(db: Sqlite, path: string, { step, visit }: { step: SchemaStep; visit: (point: Failpoint) => void }): void {
  try {
    db.transaction(() => {
      step.up(db);
      db.pragma(`user_version = ${step.version}`);
      visit("store.before-migrated");
    }).immediate();
  } catch (error) {
    // Damage is dealt with by the opening, which keeps the file.
    if (storageFault(error) === "corrupt") throw error;
    throw new Refusal("store-migration-failed", { path, version: step.version, reason: (error as Error).message });
  }
}

function isEmpty(db: Sqlite): boolean {
  return db.prepare("SELECT count(*) FROM sqlite_master").pluck().get() === 0;
}

/** The copy appears under its name only when it is whole and on disk. */
function copyBefore(db: Sqlite, path: string, version: number): void {
  const target = `${path}.pre-${version}`;
  const temp = `${target}.tmp`;
  rmSync(temp, { force: true });
  db.prepare("VACUUM INTO ?").run(temp);
  chmodSync(temp, 0o600);
  const file = openSync(temp, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temp, target);
  dropOldCopies(path);
}

function dropOldCopies(path: string): void {
  const prefix = `${basename(path)}.pre-`;
  const versions = readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => b - a);
  for (const version of versions.slice(copiesKept)) {
    const old = join(dirname(path), `${prefix}${version}`);
    if (existsSync(old)) rmSync(old);
  }
}
