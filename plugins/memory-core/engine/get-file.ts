import { lstatSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { splitLines } from "./chunker.ts";
import { codeOf } from "./fault.ts";
import { curatedNames, isMarkdown, type ListingRoots } from "./memory-paths.ts";
import { decodeText, isOpenedAt, MAX_FILE_BYTES, readUpTo, withRegularFile } from "./read-file.ts";

/** Maximum number of bytes that `memory_get` reads. */
export const MAX_GET_BYTES = 64 * 1024;

export interface LineRange {
  /** First line, from 1. */
  from?: number | undefined;
  /** Number of lines. */
  lines?: number | undefined;
}

export type GetOutcome =
  | { kind: "text"; text: string; from: number; totalLines: number; truncated: boolean }
  /** Allowed, but not there: not an error. */
  | { kind: "missing" }
  /** Outside of the memory, or not a regular file. */
  | { kind: "refused" };

/** Files of the workspace that may be read besides `memory/`: curated notes and the dream diary. */
const readableNames = [...curatedNames, "DREAMS.md", "dreams.md"];
const MAX_PATH_CHARS = 4_096;

/** Reads a memory file, or lines of it, by the path a search hit carries. Never leaves the memory roots, whatever the path or the disk say. */
export function getMemoryFile(roots: ListingRoots, path: string, range: LineRange): GetOutcome {
  const place = placeOf(roots, path);
  if (!place) return { kind: "refused" };
  try {
    if (!isInPlace(place)) return { kind: "refused" };
    const found = withRegularFile(place.absolute, (fd, stats) => {
      const isSame = isOpenedAt(fd, stats, realOf(place)) && isInPlace(place);
      return isSame ? { bytes: readUpTo(fd, MAX_FILE_BYTES, stats.size), size: stats.size } : undefined;
    });
    return found ? select(found, range) : { kind: "refused" };
  } catch (error) {
    const code = codeOf(error);
    return code === "ENOENT" || code === "ENOTDIR" ? { kind: "missing" } : { kind: "refused" };
  }
}

interface Place {
  absolute: string;
  /** The directory that must contain it, with nothing but real directories in between. */
  root: string;
}

function placeOf({ workspace, extraPaths }: ListingRoots, path: string): Place | undefined {
  if (path === "" || path.length > MAX_PATH_CHARS || path.includes("\0") || !isMarkdown(path)) return undefined;
  const absolute = resolve(workspace, path);
  if (readableNames.some((name) => absolute === join(workspace, name))) return { absolute, root: workspace };
  if (isBelow(absolute, join(workspace, "memory"))) return { absolute, root: workspace };
  for (const extra of extraPaths) {
    if (absolute === extra) return { absolute, root: dirname(extra) };
    if (isBelow(absolute, extra) && !isSymlink(extra)) return { absolute, root: extra };
  }
  return undefined;
}

/** The file is regular itself and no directory between it and its root is a symlink. */
function isInPlace({ absolute, root }: Place): boolean {
  if (!lstatSync(absolute).isFile()) return false;
  return realpathSync.native(dirname(absolute)) === dirname(realOf({ absolute, root }));
}

/** Path of the file when there is no symlink on the way below its root. */
function realOf({ absolute, root }: Place): string {
  return join(realpathSync.native(root), relative(root, absolute));
}

function isBelow(path: string, directory: string): boolean {
  return path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

function isSymlink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function select({ bytes, size }: { bytes: Buffer; size: number }, range: LineRange): GetOutcome {
  const all = splitLines(decodeText(bytes));
  const from = range.from ?? 1;
  const wanted = all.slice(from - 1, range.lines === undefined ? undefined : from - 1 + range.lines);
  const text = wanted.join("\n");
  const shown = cutBytes(text, MAX_GET_BYTES);
  return { kind: "text", text: shown, from, totalLines: all.length, truncated: shown !== text || size > bytes.length };
}

/** The longest beginning of at most `maxBytes` bytes of UTF-8 that ends between two characters. */
function cutBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
