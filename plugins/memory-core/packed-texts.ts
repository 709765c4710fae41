/** Texts on their way between threads: one piece of memory that is moved, not copied, and decoded in slices. */
export interface PackedTexts {
  /** UTF-8, one after the other. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Offset of the end of each text. */
  ends: Uint32Array;
}

/** Bytes decoded at a stretch: a few milliseconds, then others have their turn. */
const SLICE_BYTES = 1024 * 1024;

/** @param texts together less than 4 GiB */
export function packTexts(texts: readonly string[]): PackedTexts {
  const ends = new Uint32Array(texts.length);
  let size = 0;
  texts.forEach((text, i) => {
    size += Buffer.byteLength(text);
    ends[i] = size;
  });
  const bytes = new Uint8Array(size);
  const target = Buffer.from(bytes.buffer);
  texts.forEach((text, i) => void target.write(text, i === 0 ? 0 : (ends[i - 1] as number)));
  return { bytes, ends };
}

/** Rejects with the signal's reason when nobody waits any more. */
export async function unpackTexts({ bytes, ends }: PackedTexts, signal: AbortSignal): Promise<string[]> {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const texts: string[] = [];
  let start = 0;
  let sliceEnd = SLICE_BYTES;
  for (const end of ends) {
    if (start >= sliceEnd) {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      sliceEnd = start + SLICE_BYTES;
    }
    texts.push(source.toString("utf8", start, end));
    start = end;
  }
  return texts;
}
