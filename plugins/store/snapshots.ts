import { chmodSync, closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { openConnection, type Sqlite } from "./native.ts";

/** Copies that stay; the newest good one is restored when the database is damaged. */
const kept = 3;
/** One step: nothing is written in between that would make the copy begin again. */
const allPages = 0x7fff_ffff;

/** A copy of the database as it was at a time. */
export interface Snapshot {
  path: string;
  /** Epoch ms. */
  at: number;
}

/** `quick` reads every page; `full` compares every index with its table as well. */
export type CheckDepth = "quick" | "full";

/** Snapshots of a database, newest first. */
export function listSnapshots(path: string): Snapshot[] {
  const prefix = `${basename(path)}.snapshot.`;
  const folder = dirname(path);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => ({ path: join(folder, name), at: Number(name.slice(prefix.length)) }))
    .sort((a, b) => b.at - a.at);
}

/** Damage of a database; undefined when it is sound. */
export function findDamage(db: Sqlite, depth: CheckDepth): string | undefined {
  const verdict = db.pragma(depth === "full" ? "integrity_check(1)" : "quick_check(1)", { simple: true });
  // Above the damage stands the name of the database, which is always the same.
  return verdict === "ok" ? undefined : String(verdict).split("\n").at(-1);
}

/**
 * Copies the database while others write to it, checks the copy, and puts it under its name only when it is whole and on disk. Older copies go.
 * @returns the snapshot, or what is wrong with the database: a copy has the same pages
 */
export async function takeSnapshot(path: string, options: { at: number; depth: CheckDepth }): Promise<Snapshot | { damage: string }> {
  // The name tells the order. One that an earlier clock, which was ahead, has given must not pass for a newer one.
  const at = Math.max(options.at, (listSnapshots(path)[0]?.at ?? 0) + 1);
  const target = `${path}.snapshot.${at}`;
  const temp = `${target}.tmp`;
  dropLeftovers(path);
  const source = await openConnection(path, { readonly: true, fileMustExist: true });
  try {
    const damage = await copyWhole(source, temp, options.depth);
    if (damage !== undefined) return { damage };
  } finally {
    source.close();
    for (const suffix of ["-journal", "-wal", "-shm"]) rmSync(temp + suffix, { force: true });
  }
  renameSync(temp, target);
  syncFile(dirname(path));
  for (const old of listSnapshots(path).slice(kept)) rmSync(old.path, { force: true });
  return { path: target, at };
}

/**
 * Copies a database into one file that needs no log beside it, readable by its owner only and on disk when this returns.
 * @returns what is wrong with it, if something is; the copy is removed then
 */
export async function copyWhole(source: Sqlite, target: string, depth: CheckDepth): Promise<string | undefined> {
  rmSync(target, { force: true });
  try {
    await source.backup(target, { progress: () => allPages });
    chmodSync(target, 0o600);
    const damage = await closeAndCheck(target, depth);
    if (damage !== undefined) rmSync(target, { force: true });
    else syncFile(target);
    return damage;
  } catch (error) {
    rmSync(target, { force: true });
    throw error;
  }
}

async function closeAndCheck(target: string, depth: CheckDepth): Promise<string | undefined> {
  const copy = await openConnection(target, {});
  try {
    copy.pragma("journal_mode = DELETE");
    return findDamage(copy, depth);
  } catch (error) {
    // SQLite throws instead of reporting when not even the first page can be read.
    if (error instanceof Error && /^SQLITE_(CORRUPT|NOTADB)/.test(String((error as { code?: unknown }).code))) return error.message;
    throw error;
  } finally {
    copy.close();
  }
}

/** Whether a snapshot can be restored. @param known newest schema of this program */
export async function isSound(snapshot: Snapshot, known: number): Promise<boolean> {
  try {
    const db = await openConnection(snapshot.path, { readonly: true, fileMustExist: true });
    try {
      const version = db.pragma("user_version", { simple: true }) as number;
      return version <= known && findDamage(db, "quick") === undefined;
    } finally {
      db.close();
    }
  } catch {
    return false;
  }
}

/** Parts of a copy that was cut off. */
function dropLeftovers(path: string): void {
  const prefix = `${basename(path)}.snapshot.`;
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(prefix) && /^\d+\.tmp/.test(name.slice(prefix.length))) rmSync(join(dirname(path), name), { force: true });
  }
}

/** fsync of a file, or of a folder after a rename in it. */
export function syncFile(path: string): void {
  if (process.platform === "win32") return;
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
