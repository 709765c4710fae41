import {
  createTextEmbedder,
  createVendorHttp,
  type EmbeddingAdapter,
  type EmbeddingContext,
  localLimits,
  type OpenedEmbedding,
  offeredDimensions,
  type RemoteSource,
  type RemoteVendor,
  resolveRemote,
  withoutVendor,
} from "svc/sdk";
import { DEFAULT_MODEL, modelOf } from "./models.ts";
import { createRoutes, faultOf, type KnownRoutes } from "./routes.ts";

const ID = "ollama";
/** The server names no limit; a request stays small enough to be answered while others wait. */
const MAX_ITEMS_PER_REQUEST = 128;

const vendor: RemoteVendor = {
  adapter: ID,
  vendor: "ollama",
  baseUrl: "http://127.0.0.1:11434",
  keyEnv: ["OLLAMA_API_KEY"],
  isKeyOptional: true,
  // `/v1` is where the server speaks the protocol of another vendor.
  cleanBaseUrl: (baseUrl) => baseUrl.replace(/\/v1$/, ""),
};

/** The adapter for a model server; never found by itself, because nothing but its answer would show that it is there. */
export function createOllamaAdapter(ctx: RemoteSource): EmbeddingAdapter {
  const known: KnownRoutes = new Map();
  return {
    id: ID,
    transport: "remote",
    defaultModel: DEFAULT_MODEL,
    create: async (context) => open(ctx, context, known),
  };
}

function open(ctx: RemoteSource, context: EmbeddingContext, known: KnownRoutes): OpenedEmbedding {
  const endpoint = resolveRemote(ctx, context, vendor);
  const model = withoutVendor(context.model ?? DEFAULT_MODEL, [ID]);
  const { isKnown, row } = modelOf(model);
  const offered = row.offered ?? (isKnown && row.dims !== undefined ? [row.dims] : undefined);
  const wanted = offered ? offeredDimensions(context.outputDimensionality, { adapter: ID, model, offered }) : context.outputDimensionality;
  const dimensions = offered && !row.offered ? undefined : wanted;
  const dims = wanted ?? row.dims;
  const http = createVendorHttp({
    adapter: ID,
    request: ctx.request,
    secrets: endpoint.secrets,
    signals: [context.signal, ctx.signal],
    faultOf,
  });
  const { prefix } = row;
  return {
    provider: {
      id: ID,
      model,
      ...(dims === undefined ? {} : { dims }),
      normalized: true,
      loadsModel: true,
      maxInputTokens: row.maxInputTokens - prefix.document.length,
      maxItemsPerRequest: MAX_ITEMS_PER_REQUEST,
      ...createTextEmbedder({
        adapter: ID,
        dims,
        maxItemsPerRequest: MAX_ITEMS_PER_REQUEST,
        limits: localLimits,
        ask: createRoutes({ http, endpoint, model, dimensions, prefix, known }),
      }),
      close: async () => http.close(),
    },
    identity: { adapter: ID, model, dims: dims ?? null, prefix, ...endpoint.identity },
  };
}
