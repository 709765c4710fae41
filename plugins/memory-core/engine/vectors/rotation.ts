/** Rotation of all vectors of one length. */
interface Rotation {
  dims: number;
  /** Length of a transform: the largest power of two that fits. */
  size: number;
  /** Factors before the transform of the first `size` components, and before that of the last. */
  before: readonly [Float32Array, Float32Array];
  /** Holds the result until the next call. */
  result: Float32Array;
}

let last: Rotation | undefined;

/**
 * The vector times `scale`, turned by a fixed rotation: angles stay as they are, and what a model puts into few components is spread over all of them, so
 * that few bits a component are enough. Signs that look random and a Walsh-Hadamard transform, once over the first components and once over the last ones.
 * @returns valid until the next call
 */
export function rotated(vector: Float32Array, scale: number): Float32Array {
  if (last?.dims !== vector.length) last = createRotation(vector.length);
  const { dims, size, before, result } = last;
  const [first, second] = before;
  for (let i = 0; i < dims; i++) result[i] = (vector[i] as number) * (first[i] as number) * scale;
  transform(result, 0, size);
  for (let i = 0; i < dims; i++) result[i] = (result[i] as number) * (second[i] as number);
  transform(result, dims - size, size);
  return result;
}

function createRotation(dims: number): Rotation {
  const size = 2 ** Math.floor(Math.log2(Math.max(1, dims)));
  const toUnit = 1 / Math.sqrt(size); // a transform makes what it touches longer
  const sign = createSigns(dims);
  const first = Float32Array.from({ length: dims }, (_, i) => sign() * (i < size ? toUnit : 1));
  const second = Float32Array.from({ length: dims }, (_, i) => sign() * (i >= dims - size ? toUnit : 1));
  return { dims, size, before: [first, second], result: new Float32Array(dims) };
}

/** The same for each process: stored codes depend on it. */
function createSigns(seed: number): () => 1 | -1 {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state & 0x10000) === 0 ? 1 : -1;
  };
}

/** Two steps at a time, which halves the reads and writes, and a last one where their number is odd. */
function transform(values: Float32Array, from: number, size: number): void {
  let half = 1;
  for (; 4 * half <= size; half *= 4) {
    for (let start = from; start < from + size; start += 4 * half) quarters(values, start, half);
  }
  for (let i = from; half < size && i < from + half; i++) {
    const a = values[i] as number;
    const b = values[i + half] as number;
    values[i] = a + b;
    values[i + half] = a - b;
  }
}

function quarters(values: Float32Array, start: number, length: number): void {
  for (let i = start; i < start + length; i++) {
    const a = values[i] as number;
    const b = values[i + length] as number;
    const c = values[i + 2 * length] as number;
    const d = values[i + 3 * length] as number;
    const ab = a + b;
    const cd = c + d;
    const aMinusB = a - b;
    const cMinusD = c - d;
    values[i] = ab + cd;
    values[i + length] = aMinusB + cMinusD;
    values[i + 2 * length] = ab - cd;
    values[i + 3 * length] = aMinusB - cMinusD;
  }
}
