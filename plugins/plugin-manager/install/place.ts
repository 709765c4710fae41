import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Older than any install takes: left by one that was killed. */
const STALE_MS = 3_600_000;
const prefixes = [".staging-", ".replaced-"];

/** A private folder beside the installed plugins, on the same file system; removed at the end whatever happens. Leftovers of killed commands go too. */
export async function withStaging<T>(root: string, work: (staging: string) => Promise<T>): Promise<T> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  await removeLeftovers(root);
  const staging = await mkdtemp(join(root, ".staging-"));
  try {
    return await work(staging);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * Puts a finished folder in place of the one that may stand there, by renames only.
 * @returns undoes it: the old one stands there again
 */
export async function putInPlace(finished: string, target: string): Promise<{ undo(): Promise<void>; finish(): Promise<void> }> {
  const replaced = join(dirname(target), `.replaced-${randomBytes(6).toString("hex")}`);
  const hadOne = await rename(target, replaced).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
  const restore = async () => {
    if (hadOne) await rename(replaced, target);
  };
  try {
    await rename(finished, target);
  } catch (error) {
    await restore();
    throw error;
  }
  return {
    async undo() {
      await rm(target, { recursive: true, force: true });
      await restore();
    },
    finish: () => rm(replaced, { recursive: true, force: true }),
  };
}

async function removeLeftovers(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!prefixes.some((prefix) => name.startsWith(prefix))) continue;
    const mtimeMs = (await stat(join(root, name)).catch(() => undefined))?.mtimeMs ?? Date.now();
    if (Date.now() - mtimeMs > STALE_MS) await rm(join(root, name), { recursive: true, force: true });
  }
}
