import { setImmediate as nextTurn } from "node:timers/promises";
import { type EmbeddingAdapter, EmbeddingError } from "svc/sdk";

/** Id of the adapter: the value of `memorySearch.provider`. */
const ADAPTER_ID = "hashing";
const MODEL = "hashing-v1";
const DEFAULT_DIMS = 512;
/** A longer text is not one thought; cutting it in silence would index half of it. */
const MAX_CHARS = 32_768;
/** Texts between two turns of the event loop, so that a big batch never holds up the gateway. */
const SLICE = 16;

/** The embedding adapter: words and letter triples, hashed to signed buckets. */
export function createHashingAdapter(): EmbeddingAdapter {
  return {
    id: ADAPTER_ID,
    transport: "local",
    defaultModel: MODEL,
    async create({ model = MODEL, outputDimensionality: dims = DEFAULT_DIMS }) {
      const embedBatch = async (texts: readonly string[], { signal }: { signal?: AbortSignal } = {}) => {
        const vectors: Float32Array[] = [];
        for (const [i, text] of texts.entries()) {
          signal?.throwIfAborted();
          vectors.push(embed(text, dims));
          if (i % SLICE === SLICE - 1) await nextTurn();
        }
        signal?.throwIfAborted();
        return vectors;
      };
      return {
        provider: {
          id: ADAPTER_ID,
          model,
          dims,
          normalized: true,
          embedBatch,
          embedQuery: async (text, options) => (await embedBatch([text], options))[0] as Float32Array,
        },
        identity: { adapter: ADAPTER_ID, model, dims },
      };
    },
  };
}

/**
 * The unit vector of a text. Pure.
 * @throws {EmbeddingError} `invalid-request` for a text without letters or digits, `too-long` over 32,768 characters
 */
export function embed(text: string, dims: number): Float32Array {
  if (text.length > MAX_CHARS) throw new EmbeddingError("too-long", `text: expected at most ${MAX_CHARS} characters, got ${text.length}`);
  const words =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) throw new EmbeddingError("invalid-request", "text: expected letters or digits, got none");
  const vector = new Float32Array(dims);
  for (const word of words) {
    add(vector, `w:${word}`, 1);
    const padded = `^${word}$`;
    for (let i = 0; i + 3 <= padded.length; i++) add(vector, padded.slice(i, i + 3), 0.3);
  }
  return toUnit(vector);
}

/** The sign keeps two features that share a bucket from always adding up. */
function add(vector: Float32Array, feature: string, weight: number): void {
  const hash = fnv1a(feature);
  const bucket = (hash >>> 1) % vector.length;
  vector[bucket] = (vector[bucket] as number) + (hash & 1 ? weight : -weight);
}

/** 32-bit FNV-1a over UTF-16 code units (http://www.isthe.com/chongo/tech/comp/fnv). */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

function toUnit(vector: Float32Array): Float32Array {
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  // Features that cancel each other out exactly would leave no direction.
  if (norm === 0) vector[0] = 1;
  return norm === 0 ? vector : vector.map((value) => value / norm);
}
