/** A model as the vendor describes it (platform.openai.com/docs/guides/embeddings). */
export interface OpenAiModel {
  dims: number;
  /** `dimensions` shortens the vectors. */
  isShortenable: boolean;
  maxInputTokens: number;
}

export const DEFAULT_MODEL = "text-embedding-3-small";

const models: Readonly<Record<string, OpenAiModel>> = {
  "text-embedding-3-small": { dims: 1_536, isShortenable: true, maxInputTokens: 8_192 },
  "text-embedding-3-large": { dims: 3_072, isShortenable: true, maxInputTokens: 8_192 },
  "text-embedding-ada-002": { dims: 1_536, isShortenable: false, maxInputTokens: 8_191 },
};

/** Undefined for a model of another server that speaks the same protocol. */
export function knownModel(model: string): OpenAiModel | undefined {
  return Object.hasOwn(models, model) ? models[model] : undefined;
}
