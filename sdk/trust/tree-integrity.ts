import { createHash } from "node:crypto";
import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { SvcError } from "../errors.ts";
import { openRegular } from "./open-regular.ts";

/** Trees with more entries are not hashed; an installed plugin with its dependencies stays far below. */
const MAX_ENTRIES = 100_000;

/**
 * One hash over names, kinds and contents of everything below a folder: `sha512-<base64>`. Modes, owners and dates take no part, so a restored backup keeps its
 * hash. Links count with their target's name and are not followed; what is no file is named and not opened.
 * @throws {SvcError} `unsafe-file` above 100,000 entries, or when a file changes its kind meanwhile; errors of the system as they are
 */
export async function treeIntegrity(root: string, options: { signal?: AbortSignal } = {}): Promise<string> {
  const lines: string[] = [];
  await walk(root, "", { lines, signal: options.signal });
  return `sha512-${createHash("sha512").update(lines.join("\n")).digest("base64")}`;
}

async function walk(root: string, below: string, state: { lines: string[]; signal: AbortSignal | undefined }): Promise<void> {
  // By code units, so that the order is the same in every locale.
  const names = (await readdir(join(root, below))).sort((a, b) => (a < b ? -1 : 1));
  for (const name of names) {
    state.signal?.throwIfAborted();
    const path = below === "" ? name : `${below}/${name}`;
    if (state.lines.length >= MAX_ENTRIES) throw new SvcError("unsafe-file", { path: root, reason: `more than ${MAX_ENTRIES} entries` });
    const facts = await lstat(join(root, path));
    if (facts.isDirectory()) {
      state.lines.push(`folder ${JSON.stringify(path)}`);
      await walk(root, path, state);
    } else if (facts.isFile()) {
      state.lines.push(`file ${JSON.stringify(path)} ${await fileDigest(join(root, path))}`);
    } else {
      state.lines.push(
        `${facts.isSymbolicLink() ? `link ${JSON.stringify(await readlink(join(root, path)))}` : "other"} ${JSON.stringify(path)}`,
      );
    }
  }
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash("sha512");
  const handle = await openRegular(path);
  try {
    for await (const chunk of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) hash.update(chunk);
  } finally {
    await handle.close();
  }
  return hash.digest("base64");
}
