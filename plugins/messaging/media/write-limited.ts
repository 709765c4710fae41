import { type FileHandle, open } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { withLimit } from "svc/sdk";
import { messagingErrors } from "../errors.ts";
import { HEAD_BYTES, mediaTypeOf } from "./media-type.ts";

interface WriteLimits {
  /** The type that the sender named. */
  mime: string;
  /** Called with the size so far, before it is written; it throws to end the file. */
  grow(bytes: number): void;
  /** Longest time without a byte, and for the whole file. */
  stallMs: number;
  wholeMs: number;
  signal: AbortSignal;
}

/**
 * Writes a new file from bytes or a stream of them and makes it durable. A stream that goes on for ever, or says nothing more, is left; what it has written stays to be
 * removed by the caller.
 */
export async function writeLimited(
  path: string,
  content: Uint8Array | AsyncIterable<Uint8Array>,
  { mime, grow, stallMs, wholeMs, signal }: WriteLimits,
): Promise<{ bytes: number; mime: string }> {
  const until = performance.now() + wholeMs;
  const file = await open(path, "wx", 0o600).catch(asFull);
  try {
    const head: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of chunksOf(content, () => Math.min(stallMs, until - performance.now()), signal)) {
      if (bytes < HEAD_BYTES) head.push(chunk.subarray(0, HEAD_BYTES - bytes));
      bytes += chunk.length;
      grow(bytes);
      await writeWhole(file, chunk).catch(asFull);
    }
    await file.sync();
    return { bytes, mime: mediaTypeOf(Buffer.concat(head), mime) };
  } finally {
    await file.close();
  }
}

async function* chunksOf(
  content: Uint8Array | AsyncIterable<Uint8Array>,
  limitMs: () => number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) {
    yield content;
    return;
  }
  const chunks = content[Symbol.asyncIterator]();
  const onLimit = () => {
    throw messagingErrors.mediaStalled();
  };
  let isOver = false;
  try {
    for (;;) {
      const next = await withLimit(chunks.next(), Math.max(0, limitMs()), onLimit, signal);
      isOver = next.done === true;
      if (isOver) return;
      if (!(next.value instanceof Uint8Array)) throw new TypeError("expected a stream of bytes");
      if (limitMs() <= 0) onLimit();
      // A source that is always ready would let nobody else have a turn.
      if (next.value.length === 0) await nextTurn();
      else yield next.value;
    }
  } finally {
    // A generator that hangs in its step returns when it likes.
    if (!isOver) void Promise.resolve(chunks.return?.()).catch(() => undefined);
  }
}

async function writeWhole(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
}

function asFull(error: unknown): never {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EMFILE" || code === "ENFILE")
    throw messagingErrors.mediaFull({ reason: code }, { cause: error });
  throw error;
}
