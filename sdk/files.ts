import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Named moments of a write, in order; tests stop the process or inject a fault at each. */
export const writePoints = ["opened", "written", "synced", "renamed", "done"] as const;
export type WritePoint = (typeof writePoints)[number];

let failpoint: ((point: WritePoint, path: string) => void | Promise<void>) | undefined;

/** Tests only: called at each point of each write; throwing fails the write there. */
export function setWriteFailpoint(fn: typeof failpoint): void {
  failpoint = fn;
}

/**
 * Replaces a file so that readers see the old bytes or the new ones, also after a crash: temp file beside it, fsync, rename, fsync of the folder.
 * Missing folders are made with mode 0700. A failure leaves the old file and no temp file.
 * @param options.mode of the file, default 0600
 */
export async function writeFileAtomic(path: string, content: string | Uint8Array, options: { mode?: number } = {}): Promise<void> {
  const dir = dirname(path);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const temp = join(dir, `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const file = await open(temp, "wx", options.mode ?? 0o600);
    try {
      await failpoint?.("opened", path);
      await file.writeFile(content);
      await failpoint?.("written", path);
      await file.sync();
      await failpoint?.("synced", path);
    } finally {
      await file.close();
    }
    await rename(temp, path);
    await failpoint?.("renamed", path);
  } catch (error) {
    await rm(temp, { force: true });
    throw error;
  }
  await syncFolder(dir);
  await failpoint?.("done", path);
}

/** fsync of a folder; not possible on Windows, where rename is journaled anyway. */
async function syncFolder(dir: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
