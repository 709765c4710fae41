import { type EmbeddingAdapter, offeredDimensions, openOpenAiShaped, type RemoteSource, type RemoteVendor, withoutVendor } from "svc/sdk";

const ID = "mistral";
const DEFAULT_MODEL = "mistral-embed";
/** 257 are answered with "Too many inputs in request, split into more batches". */
const MAX_ITEMS_PER_REQUEST = 256;

const vendor: RemoteVendor = {
  adapter: ID,
  vendor: "mistral",
  baseUrl: "https://api.mistral.ai/v1",
  keyEnv: ["MISTRAL_API_KEY"],
};

interface MistralModel {
  dims: number;
  /** `output_dimension` shortens the vectors; undefined: they have one length. */
  offered?: { from: number; to: number };
  maxInputTokens: number;
}

const models: Readonly<Record<string, MistralModel>> = {
  "mistral-embed": { dims: 1_024, maxInputTokens: 8_000 },
  "codestral-embed": { dims: 1_536, offered: { from: 1, to: 3_072 }, maxInputTokens: 8_000 },
};

/** The adapter for the vendor. */
export function createMistralAdapter(ctx: RemoteSource): EmbeddingAdapter {
  return {
    id: ID,
    transport: "remote",
    defaultModel: DEFAULT_MODEL,
    autoSelectPriority: 50,
    async create(context) {
      const model = withoutVendor(context.model ?? DEFAULT_MODEL, [ID]);
      const known = Object.entries(models).find(([name]) => model === name || model.startsWith(`${name}-`))?.[1];
      const offered = known && (known.offered ?? [known.dims]);
      const wanted = offered
        ? offeredDimensions(context.outputDimensionality, { adapter: ID, model, offered })
        : context.outputDimensionality;
      const isSent = wanted !== undefined && (!known || known.offered !== undefined);
      return openOpenAiShaped(ctx, context, {
        vendor,
        model,
        dims: wanted ?? known?.dims,
        maxInputTokens: known?.maxInputTokens,
        maxItemsPerRequest: MAX_ITEMS_PER_REQUEST,
        body: () => (isSent ? { output_dimension: wanted } : {}),
      });
    },
  };
}
