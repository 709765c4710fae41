import {
  createBatchJobs,
  type EmbeddingAdapter,
  type EmbeddingContext,
  offeredDimensions,
  openOpenAiShaped,
  type RemoteSource,
  type RemoteVendor,
  type TextKind,
  withoutVendor,
} from "svc/sdk";

const ID = "openai";
const MAX_ITEMS_PER_REQUEST = 2_048;
const MAX_TOKENS_PER_REQUEST = 300_000;
/** Maximum number of requests in one batch job; a file may have 200 MB. */
const MAX_BATCH_REQUESTS = 50_000;
const MAX_BATCH_BYTES = 200_000_000;

const vendor: RemoteVendor = {
  adapter: ID,
  vendor: "openai",
  baseUrl: "https://api.openai.com/v1",
  keyEnv: ["OPENAI_API_KEY"],
  takesUnnamedRemote: true,
};

/** The adapter for the vendor and for every server with its embeddings protocol. */
export function createOpenAiAdapter(ctx: RemoteSource): EmbeddingAdapter {
  return {
    id: ID,
    transport: "remote",
    defaultModel: DEFAULT_MODEL,
    autoSelectPriority: 20,
    async create(context) {
      const model = withoutVendor(context.model ?? DEFAULT_MODEL, [ID]);
      const known = knownModel(model);
      const dimensions = wantedDimensions(model, context);
      const own = dimensions === undefined ? {} : { dimensions };
      return openOpenAiShaped(ctx, context, {
        vendor,
        model,
        dims: dimensions ?? known?.dims,
        maxInputTokens: known?.maxInputTokens,
        maxItemsPerRequest: MAX_ITEMS_PER_REQUEST,
        maxTokensPerRequest: MAX_TOKENS_PER_REQUEST,
        body: (kind) => ({ ...own, ...inputType(context, kind) }),
        identity: { inputTypes: context.inputTypes },
        asksBase64: true,
        batch: ({ http, endpoint }) =>
          createBatchJobs({
            adapter: ID,
            http,
            endpoint,
            dims: dimensions ?? known?.dims,
            maxRequests: MAX_BATCH_REQUESTS,
            maxFileBytes: MAX_BATCH_BYTES,
            line: (text, id) => ({
              custom_id: id,
              method: "POST",
              url: "/v1/embeddings",
              body: { model, input: text, ...own, ...inputType(context, "document") },
            }),
            creation: { endpoint: "/v1/embeddings", completion_window: "24h" },
          }),
      });
    },
  };
}

/** The vendor itself knows no such field; servers with its protocol and a model of another kind may want one. */
function inputType({ inputTypes }: EmbeddingContext, kind: TextKind): { input_type?: string } {
  const type = inputTypes?.[kind];
  return type === undefined ? {} : { input_type: type };
}

/** Value of `dimensions`; sent only to models known to accept it, because others refuse the whole request. */
function wantedDimensions(model: string, { outputDimensionality, logger }: EmbeddingContext): number | undefined {
  const known = knownModel(model);
  if (known) {
    const offered = known.isShortenable ? { from: 1, to: known.dims } : [known.dims];
    const wanted = offeredDimensions(outputDimensionality, { adapter: ID, model, offered });
    return known.isShortenable ? wanted : undefined;
  }
  if (model.startsWith("text-embedding-3-")) return outputDimensionality;
  if (outputDimensionality !== undefined)
    logger.warn(`outputDimensionality is not sent: the model "${model}" is not known to offer a choice`);
  return undefined;
}

/** A model as the vendor describes it (platform.openai.com/docs/guides/embeddings). */
interface OpenAiModel {
  dims: number;
  /** `dimensions` shortens the vectors. */
  isShortenable: boolean;
  maxInputTokens: number;
}

const DEFAULT_MODEL = "text-embedding-3-small";

const models: Readonly<Record<string, OpenAiModel>> = {
  "text-embedding-3-small": { dims: 1_536, isShortenable: true, maxInputTokens: 8_192 },
  "text-embedding-3-large": { dims: 3_072, isShortenable: true, maxInputTokens: 8_192 },
  "text-embedding-ada-002": { dims: 1_536, isShortenable: false, maxInputTokens: 8_191 },
};

/** Undefined for a model of another server that speaks the same protocol. */
function knownModel(model: string): OpenAiModel | undefined {
  return Object.hasOwn(models, model) ? models[model] : undefined;
}
