import { lstat, opendir } from "node:fs/promises";
import { inFolder, openContained, shownPath } from "svc/sdk/internal";
import type { FileToMatch, Matched } from "./grep-match.ts";
import type { Place } from "./place.ts";

/** Finds of a search; filled while it runs. */
export interface Found {
  lines: string[];
  hits: number;
  files: number;
  /** Files that are too large to be searched. */
  tooLarge: number;
  /** There are more files than a search looks at. */
  isCut: boolean;
}

export const MAX_HITS = 200;
export const MAX_FILES = 20_000;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 32;
const HEAD_BYTES = 8_192;
const ignored = new Set([".git", "node_modules"]);

export interface Walk {
  place: Place;
  /** Takes the path of a file below the workspace. */
  fits(path: string): boolean;
  match(file: FileToMatch): Promise<Matched>;
  found: Found;
  signal: AbortSignal;
}

/** Searches one file, or the text files below a folder in the order of their names. @throws {SvcError} `unsafe-file` when the place itself cannot be opened */
export async function searchPlace(walk: Walk): Promise<void> {
  const { parts } = walk.place;
  if (await isFolder(walk.place)) await searchFolder(walk, parts, 0);
  else await searchFile(walk, parts);
}

async function isFolder({ root, parts }: Place): Promise<boolean> {
  const name = parts.at(-1);
  if (name === undefined) return true;
  return inFolder(root, parts.slice(0, -1), async (folder) => {
    const facts = await lstat(folder.pathOf(name)).catch(() => undefined);
    return facts?.isDirectory() ?? false;
  });
}

async function searchFolder(walk: Walk, parts: readonly string[], depth: number): Promise<void> {
  const { found, place, signal } = walk;
  for (const { name, isFolder } of await entriesOf(walk, parts)) {
    if (found.hits >= MAX_HITS || found.isCut) return;
    signal.throwIfAborted();
    const below = [...parts, name];
    if (ignored.has(name) || place.isClosed(below)) continue;
    // A file that is gone or has become a link meanwhile has nothing to find.
    const unlessEnded = () => signal.throwIfAborted();
    if (isFolder && depth < MAX_DEPTH) await searchFolder(walk, below, depth + 1).catch(unlessEnded);
    else if (!isFolder && walk.fits(below.join("/"))) await searchFile(walk, below).catch(unlessEnded);
  }
}

async function entriesOf({ place, found }: Walk, parts: readonly string[]): Promise<Array<{ name: string; isFolder: boolean }>> {
  return inFolder(place.root, parts, async (folder) => {
    const entries: Array<{ name: string; isFolder: boolean }> = [];
    for await (const entry of await opendir(folder.way)) {
      if (entries.length >= MAX_FILES) {
        found.isCut = true;
        break;
      }
      if (entry.isFile() || entry.isDirectory()) entries.push({ name: entry.name, isFolder: entry.isDirectory() });
    }
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  });
}

async function searchFile({ place, found, match }: Walk, parts: readonly string[]): Promise<void> {
  if (found.files >= MAX_FILES) {
    found.isCut = true;
    return;
  }
  found.files += 1;
  const bytes = await readText(place.root, parts, found);
  if (!bytes) return;
  const { lines, hits } = await match({ path: shownPath(parts.join("/")), bytes, most: MAX_HITS - found.hits });
  found.lines.push(...lines);
  found.hits += hits;
}

/** Undefined for what is no text. */
async function readText(root: string, parts: readonly string[], found: Found): Promise<Buffer | undefined> {
  const file = await openContained(root, parts, { oneName: true });
  try {
    const { size } = await file.stat();
    if (size > MAX_FILE_BYTES) found.tooLarge += 1;
    if (size > MAX_FILE_BYTES) return undefined;
    const bytes = Buffer.alloc(size);
    const { bytesRead } = await file.read(bytes, 0, size, 0);
    const read = bytes.subarray(0, bytesRead);
    return read.subarray(0, HEAD_BYTES).includes(0) ? undefined : read;
  } finally {
    await file.close();
  }
}
