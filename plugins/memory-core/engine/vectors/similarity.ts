/** A shorter vector points nowhere; its direction is noise. */
export const MIN_NORM = 1e-10;

/** Cosine similarity, 0 when either vector has no direction. Both have the same length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i] ?? 0;
    const y = b[i] ?? 0;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  const norms = Math.sqrt(aa) * Math.sqrt(bb);
  return norms < MIN_NORM ** 2 ? 0 : dot / norms;
}

/** False for the zero vector and what cannot be told from it. */
export function hasDirection(vector: Float32Array): boolean {
  return normOf(vector) >= MIN_NORM;
}

export function normOf(vector: Float32Array): number {
  let sum = 0;
  // By index: an iterator takes several times as long.
  for (let i = 0; i < vector.length; i++) sum += (vector[i] as number) ** 2;
  return Math.sqrt(sum);
}

/** A float32 blob as a vector, copied: blobs of a database need not be aligned. */
export function vectorOf(blob: Uint8Array): Float32Array {
  return new Float32Array(blob.buffer.slice(blob.byteOffset, blob.byteOffset + blob.byteLength));
}

/** Little-endian float32, as it is stored; all processors Node runs on are little-endian. */
export function blobOf(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}
