import { mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "svc/sdk";
import { openRegular } from "svc/sdk/internal";
import { installErrors } from "../errors.ts";
import { contentLimits, createContentCounter } from "./limits.ts";

/** Made by tools on the author's machine; dependencies come from the lockfile instead. */
const leftOut = new Set(["node_modules", ".git", ".npmrc"]);

/**
 * Copies a plugin's folder: regular files and folders within the limits of an archive, without `node_modules`. A link in it refuses the whole folder.
 * @throws {SvcError} `archive-refused`
 */
export async function copyFolder(from: string, target: string, options: { signal?: AbortSignal } = {}): Promise<void> {
  const counter = createContentCounter(contentLimits);
  const copy = async (below: string): Promise<void> => {
    await mkdir(join(target, below), { recursive: true, mode: 0o700 });
    for (const entry of await readdir(join(from, below), { withFileTypes: true })) {
      options.signal?.throwIfAborted();
      if (leftOut.has(entry.name)) continue;
      counter.entry();
      const path = join(below, entry.name);
      if (entry.isDirectory()) await copy(path);
      else if (entry.isFile()) await copyFile({ from: join(from, path), to: join(target, path), root: from }, counter);
      else throw new Error(`${path} is a link or no regular file`);
    }
  };
  try {
    await copy("");
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw installErrors.archiveRefused({ archive: from, reason: messageOf(error) }, { cause: error });
  }
}

async function copyFile(
  { from, to, root }: { from: string; to: string; root: string },
  counter: ReturnType<typeof createContentCounter>,
): Promise<void> {
  const source = await openRegular(from, { root });
  try {
    const target = await open(to, "wx", 0o600);
    try {
      for await (const chunk of source.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
        counter.bytes(chunk.length);
        await target.write(chunk);
      }
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
