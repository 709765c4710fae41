import { createHash, hash } from "node:crypto";
import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { sharedErrors } from "../../sdk/internal/errors.ts";
import { openRegular } from "../../sdk/internal/files/open-regular.ts";

/** Trees with more entries are not hashed; an installed plugin with its dependencies stays far below. */
const MAX_ENTRIES = 100_000;
/** Files of one folder that are read at the same time. */
const AT_ONCE = 16;
/** A file up to here is read and hashed in one go: a millisecond or two. */
const SMALL_BYTES = 524_288;

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
  for (let from = 0; from < names.length; from += AT_ONCE) {
    state.signal?.throwIfAborted();
    const paths = names.slice(from, from + AT_ONCE).map((name) => (below === "" ? name : `${below}/${name}`));
    const entries = await Promise.all(paths.map((path) => entryOf(root, path)));
    for (const { line, folder } of entries) {
      if (state.lines.length >= MAX_ENTRIES) throw sharedErrors.unsafeFile({ path: root, reason: `more than ${MAX_ENTRIES} entries` });
      state.lines.push(line);
      if (folder !== undefined) await walk(root, folder, state);
    }
  }
}

/** Line that one entry adds to the hash; `folder` = its entries come next. */
async function entryOf(root: string, path: string): Promise<{ line: string; folder?: string }> {
  const name = JSON.stringify(path);
  const facts = await lstat(join(root, path));
  if (facts.isDirectory()) return { line: `folder ${name}`, folder: path };
  if (facts.isFile()) return { line: `file ${name} ${await fileDigest(join(root, path))}` };
  const what = facts.isSymbolicLink() ? `link ${JSON.stringify(await readlink(join(root, path)))}` : "other";
  return { line: `${what} ${name}` };
}

async function fileDigest(path: string): Promise<string> {
  const handle = await openRegular(path);
  try {
    if ((await handle.stat()).size <= SMALL_BYTES) return hash("sha512", await handle.readFile(), "base64");
    const digest = createHash("sha512");
    for await (const chunk of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) digest.update(chunk);
    return digest.digest("base64");
  } finally {
    await handle.close();
  }
}
