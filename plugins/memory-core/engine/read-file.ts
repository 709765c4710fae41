import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync, realpathSync, type Stats } from "node:fs";
import { dirname } from "node:path";

/** Larger files are left out of the index; `memory_get` reads this much of them. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

// Non-blocking, so that a FIFO put in the place of a file cannot hold the thread; Windows has neither flag.
const SAFE_READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Runs `use` with a regular file opened without following a symlink; undefined when it is anything else by now. */
export function withRegularFile<T>(path: string, use: (fd: number, stats: Stats) => T): T | undefined {
  const fd = openSync(path, SAFE_READ);
  try {
    const stats = fstatSync(fd);
    return stats.isFile() ? use(fd, stats) : undefined;
  } finally {
    closeSync(fd);
  }
}

/**
 * True when an open file is the one at this real path. A folder on the way may have been swapped for a symlink between the look at it and the opening, and back;
 * where the system tells no path of an open file, only what stands there now can be compared.
 */
export function isOpenedAt(fd: number, stats: Stats, real: string): boolean {
  try {
    const link = readlinkSync(`/proc/self/fd/${fd}`);
    if (link.startsWith("/")) return link === real;
  } catch {
    // not this system
  }
  const now = lstatSync(real, { throwIfNoEntry: false });
  return now?.ino === stats.ino && now.dev === stats.dev && realpathSync.native(dirname(real)) === dirname(real);
}

/** The first `maxBytes` of an open file. */
export function readUpTo(fd: number, maxBytes: number, expected: number): Buffer {
  const parts: Buffer[] = [];
  let total = 0;
  while (total < maxBytes) {
    const part = Buffer.allocUnsafe(Math.min(maxBytes - total, Math.max(expected - total + 1, 8192)));
    const count = readSync(fd, part, 0, part.length, null);
    if (count === 0) break;
    parts.push(part.subarray(0, count));
    total += count;
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, total);
}

/** Text of a file; a byte order mark is not part of it, and broken UTF-8 becomes U+FFFD. */
export function decodeText(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** @throws `ESTALE` */
export function requireAt(fd: number, stats: Stats, real: string): void {
  if (!isOpenedAt(fd, stats, real)) throw Object.assign(new Error("the file was replaced meanwhile"), { code: "ESTALE" });
}

/** File content read for the index. */
export type FileContent =
  | { kind: "text"; text: string; hash: string; mtimeMs: number; size: number }
  | { kind: "too-large" }
  | { kind: "gone" };

/** @param real its real path when it was listed @throws system errors other than "not there any more", `ESTALE` when it is another file by now */
export function readForIndex(path: string, real: string): FileContent {
  try {
    const content = withRegularFile(path, (fd, stats): FileContent => {
      requireAt(fd, stats, real);
      if (stats.size > MAX_FILE_BYTES) return { kind: "too-large" };
      const bytes = readUpTo(fd, MAX_FILE_BYTES + 1, stats.size);
      if (bytes.length > MAX_FILE_BYTES) return { kind: "too-large" };
      const hash = createHash("sha256").update(bytes).digest("hex");
      return { kind: "text", text: decodeText(bytes), hash, mtimeMs: Math.floor(stats.mtimeMs), size: stats.size };
    });
    return content ?? { kind: "gone" };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "ENXIO") return { kind: "gone" };
    throw error;
  }
}
