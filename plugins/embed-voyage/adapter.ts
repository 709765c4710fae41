import {
  createBatchJobs,
  type EmbeddingAdapter,
  offeredDimensions,
  openOpenAiShaped,
  type RemoteSource,
  type RemoteVendor,
  withoutVendor,
} from "svc/sdk";
import { DEFAULT_MODEL, modelOf } from "./models.ts";

const ID = "voyage";
const MAX_ITEMS_PER_REQUEST = 1_000;
/** Of one batch job; the limits of the protocol it shares with its inventor. */
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
