import { randomBytes } from "node:crypto";
import { chown, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { reached } from "./failpoint.ts";

/** Options for writing a file. */
export interface WriteOptions {
  /** Mode of the file, default 0600. */
  mode?: number;
  /** Name of the temp file in the same folder; default one that begins with a dot. */
  temp?: string;
  /** Owner of the new file, where this process may give files away. */
  owner?: { uid: number; gid: number };
  /** Begins the names of its failpoints, `<family>.before-write`, `.after-write`, `.after-fsync`, `.after-rename`, `.after-sync`; default `file`. */
  family?: string;
  /** Runs when the new bytes are safe on disk and the old ones are still in place. A failure leaves the old ones. */
  beforeRename?(): Promise<void>;
}

/**
 * Replaces a file so that readers see the old bytes or the new ones, also after a crash: temp file beside it, fsync, rename, fsync of the folder.
 * Missing folders are made with mode 0700. A failure leaves the old file and no temp file.
 */
export async function writeFileAtomic(path: string, content: string | Uint8Array, options: WriteOptions = {}): Promise<void> {
  const dir = dirname(path);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const temp = join(dir, options.temp ?? `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const file = await open(temp, "wx", options.mode ?? 0o600);
    try {
      if (options.owner) await chown(temp, options.owner.uid, options.owner.gid);
      await reached(`${options.family ?? "file"}.before-write`);
      await file.writeFile(content);
      await reached(`${options.family ?? "file"}.after-write`);
      await file.sync();
      await reached(`${options.family ?? "file"}.after-fsync`);
    } finally {
      await file.close();
    }
    await options.beforeRename?.();
    await rename(temp, path);
    await reached(`${options.family ?? "file"}.after-rename`);
  } catch (error) {
    await rm(temp, { force: true });
    throw error;
  }
  await syncFolder(dir);
  await reached(`${options.family ?? "file"}.after-sync`);
}

/** fsync of a folder; not possible on Windows, where rename is journaled anyway. */
export async function syncFolder(dir: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
