/** 4 MiB of numbers. */
const SLAB_NUMBERS = 1024 * 1024;

/** Copies vectors into one piece of memory, to be moved. */
export function packVectors(vectors: readonly Float32Array[]): Float32Array[] {
  const all = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let used = 0;
  return vectors.map((vector) => {
    all.set(vector, used);
    used += vector.length;
    return all.subarray(used - vector.length, used);
  });
}

/**
 * Copies vectors into few large pieces of memory: those are moved to another thread at once, while thousands of small ones, copied or moved, hold up this
 * one for half a second.
 */
export function createVectorSlabs(): (vector: Float32Array) => Float32Array {
  let slab = new Float32Array(0);
  let used = 0;
  return (vector) => {
    if (used + vector.length > slab.length) {
      slab = new Float32Array(Math.max(SLAB_NUMBERS, vector.length));
      used = 0;
    }
    const copy = slab.subarray(used, used + vector.length);
    copy.set(vector);
    used += vector.length;
    return copy;
  };
}
