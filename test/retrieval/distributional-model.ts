import { seededRandom } from "../../plugins/memory-core/test-vectors.ts";

/** Model that turns texts into vectors without a network and without weights: words are near each other when they stand among the same words. */
export interface DistributionalModel {
  embed(text: string): Float32Array;
}

const dims = 256;
const nonZero = 12;
const window = 4;

/**
 * Learns from the texts that will be searched, by random indexing: each word has a sparse random vector, and what it means is the sum of those of its
 * neighbours. It is small and weak beside a trained model, which is enough to compare ways of joining words and vectors.
 */
export function trainModel(texts: readonly string[]): DistributionalModel {
  const documents = texts.map(wordsOf);
  const frequency = new Map<string, number>();
  for (const document of documents) for (const word of new Set(document)) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const weightOf = (word: string) => Math.log(1 + documents.length / (1 + (frequency.get(word) ?? 0)));
  const meanings = new Map<string, Float32Array>();
  for (const document of documents) {
    for (const [at, word] of document.entries()) {
      const meaning = meanings.get(word) ?? new Float32Array(dims);
      meanings.set(word, meaning);
      for (let other = Math.max(0, at - window); other <= Math.min(document.length - 1, at + window); other++) {
        const neighbour = document[other] ?? "";
        if (other !== at) addSparse(meaning, neighbour, weightOf(neighbour));
      }
    }
  }
  for (const meaning of meanings.values()) normalise(meaning);
  return {
    embed(text) {
      const sum = new Float32Array(dims);
      for (const word of new Set(wordsOf(text))) {
        const weight = weightOf(word) ** 2;
        const meaning = meanings.get(word);
        // The word itself and what it means, half each.
        addSparse(sum, word, weight / Math.sqrt(nonZero));
        if (meaning) for (let at = 0; at < dims; at++) sum[at] = (sum[at] ?? 0) + weight * (meaning[at] ?? 0);
      }
      return normalise(sum);
    },
  };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];
}

const sparse = new Map<string, Array<[at: number, sign: number]>>();

function addSparse(vector: Float32Array, word: string, weight: number): void {
  let entries = sparse.get(word);
  if (!entries) {
    let seed = 7;
    for (const character of word) seed = (Math.imul(seed, 31) + character.charCodeAt(0)) >>> 0;
    const random = seededRandom(seed);
    for (let skip = 0; skip < 8; skip++) random();
    entries = Array.from({ length: nonZero }, () => [Math.floor(random() * dims), random() < 0.5 ? -1 : 1]);
    sparse.set(word, entries);
  }
  for (const [at, sign] of entries) vector[at] = (vector[at] ?? 0) + sign * weight;
}

function normalise(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector) || 1;
  for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] ?? 0) / length;
  return vector;
}
