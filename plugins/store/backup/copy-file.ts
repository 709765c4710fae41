import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { openRegular } from "svc/sdk/internal";

const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 10;

/** Size and hash of a copy. */
export interface Copied {
  bytes: number;
  /** SHA-256 of the copy, hex. */
  sha256: string;
  /** Mode of the original. */
  mode: number;
}

export interface CopyOptions {
  signal: AbortSignal;
  /** The file grows line by line while it is copied: the copy ends with its last whole line. */
  isAppendOnly?: boolean;
  /** Called after each piece with its length. */
  onBytes?(count: number): void;
}

/**
 * Copies a regular file into a new one that only its owner may read, as long as it was at the beginning, and brings it to disk.
 * @throws {SvcError} `unsafe-file` for a link or anything else that is no file
 */
export async function copyFile(source: string, target: string, { signal, isAppendOnly, onBytes }: CopyOptions): Promise<Copied> {
  const from = await openRegular(source);
  try {
    const { size, mode } = await from.stat();
    const end = isAppendOnly ? await endOfLastLine(from, size) : size;
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const to = await open(target, "wx", 0o600);
    try {
      const copied = await pump(from, {
        end,
        signal,
        async onChunk(chunk) {
          await to.write(chunk);
          onBytes?.(chunk.length);
        },
      });
      await to.sync();
      return { ...copied, mode: mode & 0o777 };
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** Size and hash of a regular file. @throws {SvcError} `unsafe-file` */
export async function hashFile(path: string, signal: AbortSignal): Promise<Omit<Copied, "mode">> {
  const file = await openRegular(path);
  try {
    return await pump(file, { end: Number.POSITIVE_INFINITY, signal });
  } finally {
    await file.close();
  }
}

interface Pump {
  end: number;
  signal: AbortSignal;
  onChunk?(chunk: Uint8Array): Promise<void>;
}

async function pump(file: FileHandle, { end, signal, onChunk }: Pump): Promise<Omit<Copied, "mode">> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let at = 0;
  while (at < end) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at), at);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    await onChunk?.(chunk);
    at += bytesRead;
  }
  return { bytes: at, sha256: hash.digest("hex") };
}

/** Looks from the end backwards, so that a long file costs no more than its last line. */
async function endOfLastLine(file: FileHandle, size: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(65_536);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - buffer.length);
    const { bytesRead } = await file.read(buffer, 0, end - start, start);
    const found = buffer.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (found >= 0) return start + found + 1;
    end = start;
  }
  return 0;
}
