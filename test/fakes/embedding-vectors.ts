/** A unit vector whose direction comes from a hash of the words: texts that share words are near each other, others are not. */
export function wordVector(text: string, dims: number): number[] {
  const vector = new Array<number>(dims).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["nothing"]) {
    const hash = fnv1a(word);
    const bucket = (hash >>> 1) % dims;
    vector[bucket] = (vector[bucket] as number) + (hash & 1 ? 1 : -1);
  }
  const norm = Math.hypot(...vector);
  // Words that cancel each other out leave no direction.
  if (norm === 0) vector[0] = 1;
  return norm === 0 ? vector : vector.map((value) => value / norm);
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** A vector as vendors send it when base64 is asked for: little-endian float32. */
export function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [i, value] of vector.entries()) bytes.writeFloatLE(value, i * 4);
  return bytes.toString("base64");
}
