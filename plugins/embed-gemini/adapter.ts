import {
  createVendorHttp,
  type EmbeddingAdapter,
  type EmbeddingContext,
  type OpenedEmbedding,
  type RemoteSource,
  resolveRemote,
} from "svc/sdk";
import { geminiAddresses } from "./addresses.ts";
import { createGeminiBatch } from "./batch.ts";
import { faultOf } from "./faults.ts";
import { chooseModel, modelName } from "./model-choice.ts";
import { DEFAULT_MODEL, geminiModel } from "./models.ts";
import { ADAPTER, createGeminiProvider } from "./provider.ts";

const vendor = {
  adapter: ADAPTER,
  vendor: "google",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  keyEnv: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  authHeaders: (key: string) => ({ "x-goog-api-key": key }),
  cleanBaseUrl: (baseUrl: string) => geminiAddresses(baseUrl).base,
} as const;

/** The adapter `gemini`. */
export function createGeminiAdapter(source: RemoteSource): EmbeddingAdapter {
  return {
    id: ADAPTER,
    vendor: vendor.vendor,
    transport: "remote",
    defaultModel: DEFAULT_MODEL,
    autoSelectPriority: 30,
    supportsMultimodal: (model) => geminiModel(modelName(model))?.multimodal ?? false,
    create: async (context) => open(source, context),
  };
}

function open(source: RemoteSource, context: EmbeddingContext): OpenedEmbedding {
  const endpoint = resolveRemote(source, context, vendor);
  const { choice, warning } = chooseModel(context.model, context.outputDimensionality);
  if (warning) context.logger.warn(warning, { agentId: context.agentId });
  const http = createVendorHttp({ adapter: ADAPTER, secrets: endpoint.secrets, signals: [context.signal, source.signal], faultOf });
  const { headers } = endpoint;
  const addresses = geminiAddresses(endpoint.baseUrl);
  return {
    provider: createGeminiProvider(choice, { http, headers, base: addresses.base }),
    identity: { adapter: ADAPTER, ...endpoint.identity, model: choice.model, dimensions: choice.sentDims ?? null, task: choice.task },
    batch: createGeminiBatch(choice, { http, headers, addresses, secrets: endpoint.secrets }),
  };
}
