import { isUtf8 } from "node:buffer";
import type { FileHandle } from "node:fs/promises";

/** Lines of a file that fit into one result. */
export interface Page {
  text: string;
  /** Number of the last line, from 1; smaller than the first one that was asked for when the file ends before it. */
  last: number;
  /** There is more behind it. */
  hasMore: boolean;
  /** The one line was longer than a page. */
  isCut: boolean;
  /** Some bytes are no UTF-8 and shown as U+FFFD. */
  isDamaged: boolean;
}

export const MAX_LINES = 2_000;
export const MAX_PAGE_BYTES = 50 * 1024;
const CHUNK_BYTES = 64 * 1024;
const LF = 10;

/** Reads lines from the line `offset` on, at most `limit` of them and 50 KB, in steps of 64 KB whatever the size of the file. */
export async function readPage(
  file: Pick<FileHandle, "read">,
  { offset, limit, signal }: { offset: number; limit: number; signal: AbortSignal },
): Promise<Page> {
  const taken: Buffer[] = [];
  let bytes = 0;
  let line = 1; // the one that the next byte belongs to
  let isAtStart = true; // of that line
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const read = chunk.subarray(0, bytesRead);
    let at = 0;
    while (at < bytesRead && line < offset + limit && bytes <= MAX_PAGE_BYTES) {
      const end = read.indexOf(LF, at);
      const to = end < 0 ? bytesRead : end + 1;
      if (line >= offset) {
        taken.push(read.subarray(at, to));
        bytes += to - at;
      }
      at = to;
      isAtStart = end >= 0;
      if (isAtStart) line += 1;
    }
    if (at < bytesRead || bytes > MAX_PAGE_BYTES) return pageOf(Buffer.concat(taken), { offset, hasMore: true });
  }
  const last = isAtStart ? line - 1 : line;
  return { ...pageOf(Buffer.concat(taken), { offset, hasMore: false }), last };
}

function pageOf(all: Buffer, { offset, hasMore }: { offset: number; hasMore: boolean }): Page {
  const fits = all.length <= MAX_PAGE_BYTES;
  const lastEnd = fits ? -1 : all.lastIndexOf(LF, MAX_PAGE_BYTES - 1);
  const isCut = !fits && lastEnd < 0;
  const kept = fits ? all : all.subarray(0, isCut ? wholeEnd(all, MAX_PAGE_BYTES) : lastEnd + 1);
  const text = kept.toString("utf8").replace(/^\ufeff/, "");
  const ends = countLines(kept);
  return { text, last: offset + ends - 1, hasMore: hasMore || !fits, isCut, isDamaged: !isUtf8(kept) };
}

/** The end of the last whole character before a place. */
function wholeEnd(bytes: Buffer, end: number): number {
  let at = end;
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines += 1;
  return bytes.length > 0 && bytes[bytes.length - 1] !== LF ? lines + 1 : lines;
}
