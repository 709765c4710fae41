import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "svc/sdk";
import { checkDatabase } from "./copy-database.ts";
import { hashFile } from "./copy-file.ts";
import { type BackupManifest, MANIFEST, maxFiles, readManifest } from "./manifest.ts";

/** One thing that is wrong with a backup. */
export interface BackupProblem {
  path: string;
  problem: string;
}

/** How many are told; a folder that is something else entirely has one for each file. */
const maxProblems = 100;

/**
 * Compares a backup with its manifest: every file is there, has its size and hash, and nothing else is; the database is whole.
 * @throws {SvcError} `backup-unreadable`, `backup-too-new`
 */
export async function verifyBackup(dir: string, signal: AbortSignal): Promise<{ manifest: BackupManifest; problems: BackupProblem[] }> {
  const manifest = await readManifest(dir);
  const problems: BackupProblem[] = [];
  const add = (path: string, problem: string) => {
    if (problems.length < maxProblems) problems.push({ path, problem });
  };
  for (const { path, bytes, sha256 } of manifest.files) {
    const found = await hashFile(join(dir, ...path.split("/")), signal).catch((error: unknown) => {
      signal.throwIfAborted();
      return (error as NodeJS.ErrnoException).code === "ENOENT" ? "it is missing" : messageOf(error);
    });
    if (typeof found === "string") add(path, found);
    else if (found.bytes !== bytes) add(path, `it has ${found.bytes} bytes; the manifest says ${bytes}`);
    else if (found.sha256 !== sha256) add(path, "it was changed: its hash is not that of the manifest");
  }
  const known = new Set([MANIFEST, ...manifest.files.map(({ path }) => path)]);
  for (const path of await filesIn(dir, "")) if (!known.has(path)) add(path, "the manifest does not know it");
  if (manifest.database && problems.length === 0) {
    await checkDatabase(join(dir, "state", "state.sqlite"), signal).catch((error: unknown) => {
      signal.throwIfAborted();
      add("state/state.sqlite", messageOf(error));
    });
  }
  return { manifest, problems };
}

async function filesIn(dir: string, above: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(dir, above), { withFileTypes: true })) {
    const path = above === "" ? entry.name : `${above}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await filesIn(dir, path)));
    else found.push(path);
    if (found.length > 2 * maxFiles) break;
  }
  return found;
}
