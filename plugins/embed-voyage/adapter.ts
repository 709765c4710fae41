import {
  createBatchJobs,
  type EmbeddingAdapter,
  offeredDimensions,
  openOpenAiShaped,
  type RemoteSource,
  type RemoteVendor,
  withoutVendor,
} from "svc/sdk";

const ID = "voyage";
const MAX_ITEMS_PER_REQUEST = 1_000;
/** Maximum number of requests in one batch job; the limits of the protocol it shares with its inventor. */
const MAX_BATCH_REQUESTS = 50_000;
const MAX_BATCH_BYTES = 200_000_000;

const vendor: RemoteVendor = {
  adapter: ID,
  vendor: "voyage",
  baseUrl: "https://api.voyageai.com/v1",
  keyEnv: ["VOYAGE_API_KEY"],
};

/** The adapter for the vendor: questions and documents are embedded with prompts of their own. */
export function createVoyageAdapter(ctx: RemoteSource): EmbeddingAdapter {
  return {
    id: ID,
    transport: "remote",
    defaultModel: DEFAULT_MODEL,
    autoSelectPriority: 40,
    async create(context) {
      const model = withoutVendor(context.model ?? DEFAULT_MODEL, [ID, "voyageai"]);
      const { dims: usual, offered, maxInputTokens, maxTokensPerRequest } = modelOf(model);
      const wanted = offered
        ? offeredDimensions(context.outputDimensionality, { adapter: ID, model, offered })
        : context.outputDimensionality;
      const own = { truncation: true, ...(wanted === undefined ? {} : { output_dimension: wanted }) };
      const dims = wanted ?? usual;
      return openOpenAiShaped(ctx, context, {
        vendor,
        model,
        dims,
        maxInputTokens,
        maxItemsPerRequest: MAX_ITEMS_PER_REQUEST,
        maxTokensPerRequest,
        body: (kind) => ({ input_type: kind, ...own }),
        asksBase64: true,
        identity: { inputTypes: ["query", "document"] },
        batch: ({ http, endpoint }) =>
          createBatchJobs({
            adapter: ID,
            http,
            endpoint,
            dims,
            maxRequests: MAX_BATCH_REQUESTS,
            maxFileBytes: MAX_BATCH_BYTES,
            line: (text, id) => ({ custom_id: id, body: { input: [text] } }),
            creation: {
              endpoint: "/v1/embeddings",
              completion_window: "12h",
              request_params: { model, input_type: "document", ...own },
            },
          }),
      });
    },
  };
}

/** A model as the vendor describes it (docs.voyageai.com/docs/embeddings). */
interface VoyageModel {
  /** Undefined: learnt from the first answer. */
  dims?: number;
  /** Lengths that `output_dimension` offers; undefined: there is no choice. */
  offered?: readonly number[];
  maxInputTokens: number;
  /** All texts together; the vendor gives these figures by size of the model, and they change more often than the rest. */
  maxTokensPerRequest: number;
}

const DEFAULT_MODEL = "voyage-4-large";

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
function modelOf(model: string): VoyageModel {
  return (Object.hasOwn(models, model) ? models[model] : undefined) ?? { maxInputTokens: 32_000, maxTokensPerRequest: large };
}
