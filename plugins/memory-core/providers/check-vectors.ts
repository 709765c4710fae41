import { EmbeddingError } from "svc/sdk";

/** Required shape of vectors. */
export interface VectorShape {
  /** Adapter id, for the message. */
  id: string;
  dims: number | undefined;
  /** True when its vectors have length 1. */
  normalized: boolean;
}

/** Shorter than this a vector has no direction; it stays as it is. */
const NO_LENGTH = 1e-10;

/**
 * The vectors as they may be stored and compared: one per text, of one length, of numbers only, of norm 1. What comes from an adapter is not believed.
 * @throws {EmbeddingError} `bad-response`; nothing is replaced in silence
 */
export function checkVectors(vectors: readonly Float32Array[], count: number, shape: VectorShape): Float32Array[] {
  if (!Array.isArray(vectors) || vectors.length !== count)
    throw wrong(shape, `expected ${count} vectors, got ${vectors?.length ?? "none"}`);
  const dims = shape.dims ?? vectors[0]?.length;
  return vectors.map((vector) => {
    if (!isFloats(vector) || vector.length === 0) throw wrong(shape, "expected a vector, got none");
    if (vector.length !== dims) throw wrong(shape, `expected ${dims} dimensions, got ${vector.length}`);
    return toUnit(vector, shape);
  });
}

/** Recognises a Float32Array by its tag: an adapter may live in another realm. */
function isFloats(value: unknown): value is Float32Array {
  return Object.prototype.toString.call(value) === "[object Float32Array]";
}

function toUnit(vector: Float32Array, shape: VectorShape): Float32Array {
  let sum = 0;
  // By index: an iterator takes several times as long, on the thread that answers everybody.
  for (let i = 0; i < vector.length; i++) sum += (vector[i] as number) ** 2;
  if (!Number.isFinite(sum)) throw wrong(shape, "a vector holds what is no number");
  const norm = Math.sqrt(sum);
  if (shape.normalized || norm < NO_LENGTH || Math.abs(norm - 1) < 1e-4) return vector;
  return vector.map((value) => value / norm);
}

function wrong({ id }: VectorShape, problem: string): EmbeddingError {
  return new EmbeddingError("bad-response", `${id}: ${problem}`);
}
