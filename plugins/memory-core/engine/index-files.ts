import { closeSync, fsyncSync, lstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { IndexFault } from "./fault.ts";
import { liveOwner, rebuildLockPath } from "./rebuild-lock.ts";

const companions = ["-wal", "-shm", "-journal"];

export function tempPath(dbPath: string, id: string): string {
  return `${dbPath}.tmp-${id}`;
}

/** Deletes a database with its companion files. */
export function removeDatabase(path: string): void {
  for (const suffix of ["", ...companions]) rmSync(path + suffix, { force: true });
}

/** True when there is a file at `path`. @throws {IndexFault} `memory-index-unusable` when something else stands there */
export function isDatabaseFile(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isFile()) {
    throw new IndexFault("memory-index-unusable", { path, reason: "it is no regular file; choose another store.path" });
  }
  return stats !== undefined;
}

/** Makes the folder of an index. @throws {IndexFault} `memory-index-unusable` when something else stands in the place of the index */
export function prepareFolder(live: string): void {
  isDatabaseFile(live);
  mkdirSync(dirname(live), { recursive: true, mode: 0o700 });
}

/** Writes a finished database through to the disk, without holding the thread. */
export async function syncDatabase(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The moments of a swap between which a crash must not lose an index. */
export type SwapStep = "moved-away" | "moved-in" | "backup-removed";

/**
 * Puts a finished, synced database in the place of the live one; both are closed. The old one stays as a backup until the new
 * one is there. `step` is told each moment, for tests.
 */
export function swapDatabase(
  live: string,
  temp: string,
  { id, step }: { id: string; step?: ((step: SwapStep) => void) | undefined },
): void {
  const backup = `${live}.backup-${id}`;
  const hadLive = isDatabaseFile(live);
  if (hadLive) moveDatabase(live, backup);
  step?.("moved-away");
  try {
    renameSync(temp, live);
  } catch (error) {
    if (hadLive) moveDatabase(backup, live);
    throw error;
  }
  step?.("moved-in");
  syncFolder(dirname(live));
  removeDatabase(backup);
  step?.("backup-removed");
}

/**
 * Repairs what a crash left: with the live file missing its backup comes back; temporary files, orphan backups and a dead owner's lock go.
 * Does nothing while another live process rebuilds this very index.
 */
export function recoverFiles(live: string): void {
  if (liveOwner(live) !== undefined) return;
  const backups = leftovers(live, "backup");
  if (!isDatabaseFile(live)) {
    const whole = backups.flatMap((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats?.isFile() ? [{ path, mtimeMs: stats.mtimeMs }] : [];
    });
    const newest = whole.sort((a, b) => b.mtimeMs - a.mtimeMs)[0];
    if (newest) moveDatabase(newest.path, live);
  }
  for (const path of [...backups, ...leftovers(live, "tmp")]) removeDatabase(path);
  rmSync(rebuildLockPath(live), { force: true });
  if (!isDatabaseFile(live)) removeDatabase(live); // a log without its database
}

/** Keeps a damaged index for a look, one at most. */
export function setAside(live: string): void {
  const aside = `${live}.damaged`;
  removeDatabase(aside);
  renameSync(live, aside);
  removeDatabase(live);
}

/** The log follows its database; after a crash in between it stands where the restored database will find it. */
function moveDatabase(from: string, to: string): void {
  renameSync(from, to);
  for (const suffix of companions) {
    if (lstatSync(from + suffix, { throwIfNoEntry: false })) renameSync(from + suffix, to + suffix);
  }
}

/** Databases named after the live one, also those of which only a companion is left. */
function leftovers(live: string, kind: "tmp" | "backup"): string[] {
  const prefix = `${basename(live)}.${kind}-`;
  const names = listNames(dirname(live)).filter((name) => name.startsWith(prefix));
  return [...new Set(names.map((name) => join(dirname(live), name.replace(/-(wal|shm|journal)$/, ""))))];
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // not made yet
  }
}

/** Makes the renames durable; not possible on Windows, where they are journaled. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
