/** Way to tell a model whether a text is a question or a document. Part of the index identity. */
export type TaskStyle = "type" | "prefix";

/** Facts the adapter needs about a model before it calls it. */
export interface GeminiModel {
  task: TaskStyle;
  /** Sizes that may be asked for; of a range only the ends. */
  dimensions: readonly number[] | { from: number; to: number };
  defaultDimensions: number;
  /** The request says which size is wanted. */
  sendsDimensions: boolean;
  maxInputTokens: number;
  multimodal: boolean;
}

export const DEFAULT_MODEL = "gemini-embedding-001";

const firstGeneration: GeminiModel = {
  task: "type",
  dimensions: { from: 128, to: 3072 },
  defaultDimensions: 3072,
  sendsDimensions: false,
  maxInputTokens: 2_048,
  multimodal: false,
};

const secondGeneration: GeminiModel = {
  task: "prefix",
  dimensions: [768, 1536, 3072],
  defaultDimensions: 3072,
  sendsDimensions: true,
  maxInputTokens: 8_192,
  multimodal: true,
};

const models: Readonly<Record<string, GeminiModel>> = {
  [DEFAULT_MODEL]: firstGeneration,
  "gemini-embedding-2": secondGeneration,
  // The preview still tells the two apart by `taskType`.
  "gemini-embedding-2-preview": { ...secondGeneration, task: "type" },
};

/** The row of a model; undefined for a name we have no facts about. */
export function geminiModel(name: string): GeminiModel | undefined {
  return Object.hasOwn(models, name) ? models[name] : undefined;
}

/** Task parameters and text sent to the vendor, by the side of the search. Pure. */
export function taskOf(style: TaskStyle, side: "query" | "document"): { taskType?: string; prefix: string } {
  if (style === "type") return { taskType: side === "query" ? "RETRIEVAL_QUERY" : "RETRIEVAL_DOCUMENT", prefix: "" };
  return { prefix: side === "query" ? "task: search result | query: " : "title: none | text: " };
}
