import { EmbeddingError } from "../define.ts";

/** A shorter vector has no direction: it stays as it is, and the index leaves it out. */
const MIN_NORM = 1e-10;
/** A unit vector of float32 numbers is off by this much at most: to scale it again would change nothing but its last digits. */
const UNIT_TOLERANCE = 1e-6;

/**
 * The vector with length 1; one shorter than 1e-10 is returned unchanged.
 * @returns a new array, or the given one when nothing has to change
 */
export function toUnitVector(vector: Float32Array): Float32Array {
  return scaled(vector, normOf(vector));
}

/** Not finite when one of the numbers is not: squares of float32 do not overflow. */
function normOf(vector: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] as number;
    sum += value * value;
  }
  return Math.sqrt(sum);
}

function scaled(vector: Float32Array, norm: number): Float32Array {
  if (norm < MIN_NORM || Math.abs(norm - 1) < UNIT_TOLERANCE) return vector;
  const unit = new Float32Array(vector.length);
  for (let i = 0; i < vector.length; i++) unit[i] = (vector[i] as number) / norm;
  return unit;
}

/**
 * Reads a vector out of a parsed answer: numbers, or base64 of little-endian float32.
 * @returns undefined for anything else; numbers that are none become NaN, for `checkedVectors` to find
 */
export function readVector(value: unknown): Float32Array | undefined {
  if (value instanceof Float32Array) return value;
  if (typeof value === "string") return fromBase64(value);
  if (!Array.isArray(value)) return undefined;
  return Float32Array.from(value, (item) => (typeof item === "number" ? item : Number.NaN));
}

function fromBase64(text: string): Float32Array | undefined {
  const length = lengthInBase64(text);
  return length === undefined ? undefined : decodeInto(new Float32Array(length), text);
}

/** Numbers of a vector in base64; undefined when its length is not that of one. */
function lengthInBase64(text: string): number | undefined {
  let end = text.length;
  while (text[end - 1] === "=") end--;
  const bytes = Math.floor((end * 3) / 4);
  return bytes === 0 || bytes % 4 !== 0 ? undefined : bytes / 4;
}

/** Every machine Node runs on is little-endian. @returns undefined when the text is no base64: the decoder leaves out what is none without a word */
function decodeInto(vector: Float32Array, text: string): Float32Array | undefined {
  const { buffer, byteOffset, byteLength } = vector;
  return Buffer.from(buffer, byteOffset, byteLength).write(text, "base64") === byteLength ? vector : undefined;
}

/** Vectors that lie side by side take one piece of memory of at most this many bytes. */
const SLAB_BYTES = 1024 * 1024;
const SLAB_VECTORS = 32;

/** Reads the vectors of one answer. */
export interface VectorDecoder {
  /** @returns undefined for a text that is no vector in base64 */
  fromText(text: string): Float32Array | undefined;
  /** Decodes a list; NaN takes the place of an item that is no number, for `checkedVectors` to find. */
  fromNumbers(list: readonly unknown[]): Float32Array;
}

/**
 * Decodes the vectors of one answer, 32 side by side: pieces of memory as large as these are moved to another thread instead of being copied. The first has
 * its own: the answer to a query holds no other.
 */
export function createVectorDecoder(): VectorDecoder {
  let slab: Float32Array | undefined;
  let used = 0;
  const place = (length: number): Float32Array => {
    if (!slab || used + length > slab.length) {
      const count = slab ? Math.min(SLAB_VECTORS, Math.floor(SLAB_BYTES / 4 / length)) : 1;
      slab = new Float32Array(Math.max(1, count) * length);
      used = 0;
    }
    return slab.subarray(used, used + length);
  };
  return {
    fromText(text) {
      const length = lengthInBase64(text);
      const vector = length === undefined ? undefined : decodeInto(place(length), text);
      if (vector) used += vector.length;
      return vector;
    },
    fromNumbers(list) {
      const vector = place(list.length);
      for (let i = 0; i < list.length; i++) vector[i] = typeof list[i] === "number" ? (list[i] as number) : Number.NaN;
      used += vector.length;
      return vector;
    },
  };
}

/** Required shape of the vectors in an answer. */
export interface ExpectedVectors {
  /** Adapter id, for messages. */
  adapter: string;
  /** Texts that were sent. */
  count: number;
  /** Length of each vector, when it is known. */
  dims?: number | undefined;
}

/**
 * Checks the vectors of one answer and makes them unit vectors.
 * @param found in the order of the texts; undefined where the answer has none
 * @throws {EmbeddingError} `bad-response`: too few or too many, one empty, one of another length, a number that is not finite
 */
export function checkedVectors(found: ReadonlyArray<Float32Array | undefined>, { adapter, count, dims }: ExpectedVectors): Float32Array[] {
  const wrong = (what: string) => new EmbeddingError("bad-response", `embedding adapter "${adapter}": ${what}`);
  if (found.length !== count) throw wrong(`expected ${count} vectors, got ${found.length}`);
  const expected = dims ?? found[0]?.length;
  return found.map((vector, i) => {
    if (!vector || vector.length === 0) throw wrong(`the answer has no vector for text ${i + 1} of ${count}`);
    if (vector.length !== expected) throw wrong(`expected vectors of ${expected} dimensions, got one of ${vector.length}`);
    const norm = normOf(vector);
    if (!Number.isFinite(norm)) throw wrong(`the vector of text ${i + 1} of ${count} holds something that is no finite number`);
    return scaled(vector, norm);
  });
}

/**
 * Puts the items of a list into the order of their `index`; a list without any is in order already.
 * @throws {EmbeddingError} `bad-response` when an index is missing, comes twice or is out of range
 */
export function inIndexOrder<T extends { index?: unknown }>(items: readonly T[], adapter: string): T[] {
  if (items.every((item) => item.index === undefined)) return [...items];
  const ordered = new Map(items.map((item) => [item.index, item]));
  return items.map((_, i) => {
    const item = ordered.get(i);
    if (!item) throw new EmbeddingError("bad-response", `embedding adapter "${adapter}": the answer has no vector with index ${i}`);
    return item;
  });
}
