import { setMaxListeners } from "node:events";
import { EmbeddingError, type EmbeddingProvider, type LocalEmbedder } from "svc/sdk";
import type { PrefixStyle } from "./prefix-style.ts";

export interface LocalProviderOptions {
  model: string;
  style: PrefixStyle;
  /** Length of its vectors, where it is known before the first one. */
  dims: number | undefined;
  /** Length that the config asks for. */
  wantedDims: number | undefined;
  maxTokens: number;
}

/** One agent's use of a model: prompts before the texts, vectors of length 1. */
export function createLocalProvider(embedder: LocalEmbedder, options: LocalProviderOptions): EmbeddingProvider {
  const { model, style, dims, wantedDims, maxTokens } = options;
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // one for each text that waits, and those are counted elsewhere
  const embed = async (text: string, kind: "query" | "document", signal: AbortSignal | undefined) => {
    if (stop.signal.aborted) throw new EmbeddingError("overloaded", "local: the provider was closed");
    if (text.trim() === "") throw new EmbeddingError("invalid-request", "local: the text is empty; a text without a word has no vector");
    const signals = signal ? [signal, stop.signal] : [stop.signal];
    const vector = await embedder.embed(style[kind] + text, { kind, signals });
    if (wantedDims === undefined || vector.length === wantedDims) return normalized(vector);
    const message = `local: ${model} gives ${vector.length} dimensions, got outputDimensionality ${wantedDims}; unset it`;
    throw new EmbeddingError("invalid-request", message);
  };
  return {
    id: "local",
    model,
    ...(dims === undefined ? {} : { dims }),
    normalized: true,
    maxInputTokens: maxTokens,
    embedQuery: (text, { signal } = {}) => embed(text, "query", signal),
    async embedBatch(texts, { signal } = {}) {
      const vectors: Float32Array[] = [];
      for (const text of texts) vectors.push(await embed(text, "document", signal));
      return vectors;
    },
    async close() {
      stop.abort(new EmbeddingError("overloaded", "local: the provider was closed"));
      await embedder.close();
    },
  };
}

/** To length 1; a vector of no length stays as it is. */
function normalized(vector: Float32Array): Float32Array {
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return norm < 1e-10 ? vector : vector.map((value) => value / norm);
}
