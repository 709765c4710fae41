/** Facts needed about a model before it is called (ollama.com/library and the model cards). */
export interface OllamaModel {
  /** Undefined: learnt from the first answer. */
  dims?: number;
  /** Lengths that `dimensions` may ask for; undefined: there is no choice. */
  offered?: { from: number; to: number } | readonly number[];
  /** Context of the model as the server loads it. */
  maxInputTokens: number;
  /** Put before a text; the model was trained with it. */
  prefix: { query: string; document: string };
}

export const DEFAULT_MODEL = "nomic-embed-text";

const none = { query: "", document: "" };
const qwenTask = "Given a search query, retrieve relevant passages that answer the query";

const models: Readonly<Record<string, OllamaModel>> = {
  "nomic-embed-text": {
    dims: 768,
    offered: { from: 64, to: 768 },
    maxInputTokens: 2_048,
    prefix: { query: "search_query: ", document: "search_document: " },
  },
  "mxbai-embed-large": {
    dims: 1_024,
    maxInputTokens: 512,
    prefix: { query: "Represent this sentence for searching relevant passages: ", document: "" },
  },
  "all-minilm": { dims: 384, maxInputTokens: 512, prefix: none },
  "bge-m3": { dims: 1_024, maxInputTokens: 8_192, prefix: none },
  "qwen3-embedding": { maxInputTokens: 8_192, prefix: { query: `Instruct: ${qwenTask}\nQuery: `, document: "" } },
  "qwen3-embedding:0.6b": {
    dims: 1_024,
    offered: { from: 32, to: 1_024 },
    maxInputTokens: 8_192,
    prefix: { query: `Instruct: ${qwenTask}\nQuery: `, document: "" },
  },
  embeddinggemma: {
    dims: 768,
    offered: [128, 256, 512, 768],
    maxInputTokens: 2_048,
    prefix: { query: "task: search result | query: ", document: "title: none | text: " },
  },
};

/** Context the server gives a model that says nothing about it. */
const usual: OllamaModel = { maxInputTokens: 2_048, prefix: none };

/** The row of a model by its name without the namespace, with its tag or without. */
export function modelOf(model: string): { isKnown: boolean; row: OllamaModel } {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  const found = [name, name.split(":", 1)[0] as string].find((key) => Object.hasOwn(models, key));
  return { isKnown: found !== undefined, row: (found === undefined ? undefined : models[found]) ?? usual };
}
