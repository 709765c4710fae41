import { constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { LogTail, LogTailQuestion } from "../../sdk/types/log.ts";
import { logFilePath } from "./log-path.ts";

const DEFAULT_LIMIT = 500;
const DEFAULT_MAX_BYTES = 250_000;
const NEWLINE = 0x0a;

/**
 * Reads whole lines of a log file, at most `maxBytes` of it. A line that is still being written is left for the next reading; one that is longer than
 * `maxBytes` is passed over. A missing file reads as an empty one.
 * @throws {Error} of the system when the file cannot be read, or that it is no regular file
 */
export async function tailLog(
  file: string,
  { cursor, limit = DEFAULT_LIMIT, maxBytes = DEFAULT_MAX_BYTES }: LogTailQuestion,
): Promise<LogTail> {
  const handle = await openLog(file);
  if (!handle) return { file, cursor: 0, size: 0, lines: [], truncated: false, reset: (cursor ?? 0) > 0 };
  try {
    const { size } = await handle.stat();
    const reset = cursor !== undefined && cursor > size;
    const found =
      cursor === undefined || reset
        ? await newest(handle, { size, limit, maxBytes })
        : await after(handle, { size, cursor, limit, maxBytes });
    return { file, size, reset, ...found };
  } finally {
    await handle.close();
  }
}

/** The log file of this moment; before its first line, the newest one of an earlier day. */
export async function currentLogFile(stateDir: string, configured: string | undefined, at: Date): Promise<string> {
  const today = logFilePath(stateDir, configured, at);
  if (configured !== undefined) return today;
  const dir = join(stateDir, "logs");
  const names = await readdir(dir).catch(() => []);
  const days = names.map((name) => join(dir, name)).filter((path) => /gateway-\d{4}-\d\d-\d\d\.jsonl$/.test(path) && path <= today);
  return days.sort().at(-1) ?? today;
}

/** Never waits for whoever would write into a pipe. */
async function openLog(file: string): Promise<FileHandle | undefined> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!handle || (await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new Error(`${file}: is no regular file`);
}

interface Bounds {
  size: number;
  limit: number;
  maxBytes: number;
}
type Found = Pick<LogTail, "cursor" | "lines" | "truncated">;

async function newest(handle: FileHandle, { size, limit, maxBytes }: Bounds): Promise<Found> {
  const start = Math.max(0, size - maxBytes);
  const bytes = await readAt(handle, start, size);
  const isCut = start > 0 && !(await isLineStart(handle, start));
  const { lines, end } = wholeLines(bytes, isCut ? firstLineAfter(bytes) : 0);
  const shown = lines.slice(-limit);
  return { cursor: start + end, lines: shown, truncated: start > 0 || shown.length < lines.length };
}

async function after(handle: FileHandle, { size, cursor, limit, maxBytes }: Bounds & { cursor: number }): Promise<Found> {
  const bytes = await readAt(handle, cursor, Math.min(size, cursor + maxBytes));
  const isCut = !(await isLineStart(handle, cursor));
  const { lines, end } = wholeLines(bytes, isCut ? firstLineAfter(bytes) : 0, limit);
  // No line ends in so many bytes: it is passed over, or the reader would stand before it for ever.
  const isTooLong = end === 0 && bytes.length === maxBytes;
  const isMore = cursor + bytes.length < size || bytes.indexOf(NEWLINE, end) !== -1;
  return { cursor: cursor + (isTooLong ? bytes.length : end), lines, truncated: isCut || isTooLong || isMore };
}

async function readAt(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.max(0, end - start));
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, start + length);
    if (bytesRead === 0) break; // it was cut meanwhile
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

async function isLineStart(handle: FileHandle, at: number): Promise<boolean> {
  return at === 0 || (await readAt(handle, at - 1, at))[0] === NEWLINE;
}

/** Behind the first line end; the length when there is none. */
function firstLineAfter(bytes: Buffer): number {
  const at = bytes.indexOf(NEWLINE);
  return at === -1 ? bytes.length : at + 1;
}

/** @returns the lines that end in these bytes, and where the last of them ends */
function wholeLines(bytes: Buffer, from: number, limit = Number.POSITIVE_INFINITY): { lines: string[]; end: number } {
  const lines: string[] = [];
  let end = from;
  while (lines.length < limit) {
    const at = bytes.indexOf(NEWLINE, end);
    if (at === -1) break;
    if (at > end) lines.push(bytes.toString("utf8", end, at));
    end = at + 1;
  }
  return { lines, end };
}
