/** A model as the vendor describes it (docs.voyageai.com/docs/embeddings). */
export interface VoyageModel {
  /** Undefined: learnt from the first answer. */
  dims?: number;
  /** Lengths that `output_dimension` offers; undefined: there is no choice. */
  offered?: readonly number[];
  maxInputTokens: number;
  /** All texts together; the vendor gives these figures by size of the model, and they change more often than the rest. */
  maxTokensPerRequest: number;
}

export const DEFAULT_MODEL = "voyage-4-large";

const large = 120_000;
const middle = 320_000;
const lite = 1_000_000;
const chosen = (maxTokensPerRequest: number): VoyageModel => ({
  dims: 1_024,
  offered: [256, 512, 1_024, 2_048],
  maxInputTokens: 32_000,
  maxTokensPerRequest,
});

const models: Readonly<Record<string, VoyageModel>> = {
  "voyage-4-large": chosen(large),
  "voyage-4": chosen(middle),
  "voyage-4-lite": chosen(lite),
  "voyage-3.5": chosen(middle),
  "voyage-3.5-lite": chosen(lite),
  "voyage-3-large": chosen(large),
  "voyage-code-3": chosen(large),
  "voyage-3": { maxInputTokens: 32_000, maxTokensPerRequest: middle },
  "voyage-3-lite": { maxInputTokens: 16_000, maxTokensPerRequest: lite },
};

/** A model without a row is taken for one of the large kind, whose limits are the narrowest. */
export function modelOf(model: string): VoyageModel {
  return (Object.hasOwn(models, model) ? models[model] : undefined) ?? { maxInputTokens: 32_000, maxTokensPerRequest: large };
}
