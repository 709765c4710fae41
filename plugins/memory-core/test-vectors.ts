/** Random numbers for tests that are the same each time. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

/** Vectors without any structure. */
export function randomVectors(count: number, dims: number, random: () => number): Float32Array[] {
  return Array.from({ length: count }, () => Float32Array.from({ length: dims }, () => normal(random)));
}

/** Vectors around `clusters` centres, as those of texts about a few subjects are. */
export function clusteredVectors(count: number, dims: number, random: () => number, clusters = 20): Float32Array[] {
  const centres = randomVectors(clusters, dims, random);
  return Array.from({ length: count }, (_, i) => {
    const centre = centres[i % clusters];
    return Float32Array.from({ length: dims }, (_, d) => (centre?.[d] ?? 0) + 0.6 * normal(random));
  });
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
