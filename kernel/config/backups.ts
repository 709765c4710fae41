import { lstat, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { writeFileAtomic } from "../../sdk/files.ts";
import { readRegularFile } from "../../sdk/internal/files/read-regular.ts";
import { MAX_CONFIG_BYTES } from "./config-file.ts";

/** `.bak`, `.bak.1` … `.bak.4`, newest first. */
const RING = ["", ".1", ".2", ".3", ".4"].map((n) => `.bak${n}`);
const KEEP_REJECTED = 5;

/** Puts the present bytes of a file into its ring of five backups. Nothing happens when there is no file. */
export async function rotateBackups(path: string): Promise<void> {
  const bytes = await readRegularFile(path, { maxBytes: MAX_CONFIG_BYTES }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (bytes === undefined) return;
  for (let i = RING.length - 1; i > 0; i--) await rename(path + RING[i - 1], path + RING[i]).catch(ignoreMissing);
  await writeFileAtomic(`${path}.bak`, bytes);
}

/** Keeps a refused candidate as `<path>.rejected.<time>`, with the four before it. Returns its path. */
export async function keepRejected(path: string, content: string | Uint8Array): Promise<string> {
  const kept = `${path}.rejected.${new Date().toISOString().replace(/[:.]/g, "-")}`;
  await writeFileAtomic(kept, content);
  const all = (await siblings(path, ".rejected.")).sort();
  for (const old of all.slice(0, Math.max(0, all.length - KEEP_REJECTED))) await rm(old, { force: true });
  return kept;
}

/** Writers who wait for the lock make its temp files without holding it; one of these is nobody's after so long. */
const LOCK_TEMP_MS = 60_000;

/** Removes temp files that writers left who died; call it only while holding the file's lock. */
export async function removeOrphans(path: string): Promise<void> {
  for (const file of await siblings(path, ".")) {
    const isLockTemp = /\.lock\.[0-9a-f]+\.tmp$/.test(file);
    if (!isLockTemp && !/\.tmp-\d+-[0-9a-f]+$/.test(file)) continue;
    const found = await lstat(file).catch(() => undefined);
    if (found?.isFile() && (!isLockTemp || Date.now() - found.mtimeMs > LOCK_TEMP_MS)) await rm(file, { force: true });
  }
}

/** Path of the copy of the last config that a gateway became ready with. */
export function lastGoodPath(path: string): string {
  return `${path}.last-good`;
}

/** Paths of all copies of a config file that there may be: its ring of backups and the last config that worked. */
export function copiesOf(path: string): string[] {
  return [...RING.map((suffix) => path + suffix), lastGoodPath(path)];
}

/** Absolute path of the youngest copy of a config file that holds anything; undefined when there is none. */
export async function newestBackup(path: string): Promise<string | undefined> {
  const found = await Promise.all(
    copiesOf(path).map(async (copy) => {
      const file = await stat(copy).catch(() => undefined);
      return file?.isFile() && file.size > 0 ? [{ path: copy, at: file.mtimeMs }] : [];
    }),
  );
  return found.flat().sort((a, b) => b.at - a.at)[0]?.path;
}

async function siblings(path: string, suffix: string): Promise<string[]> {
  const dir = dirname(path);
  return (await readdir(dir).catch(() => [])).filter((name) => name.startsWith(basename(path) + suffix)).map((name) => join(dir, name));
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
