import {
  createVendorHttp,
  type EmbeddingAdapter,
  type EmbeddingContext,
  type EmbeddingFault,
  type OpenedEmbedding,
  type RemoteSource,
  resolveRemote,
} from "svc/sdk";
import { geminiAddresses } from "./addresses.ts";
import { createGeminiBatch } from "./batch.ts";
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
  const http = createVendorHttp({
    adapter: ADAPTER,
    request: source.request,
    secrets: endpoint.secrets,
    signals: [context.signal, source.signal],
    faultOf,
  });
  const { headers } = endpoint;
  const addresses = geminiAddresses(endpoint.baseUrl);
  return {
    provider: createGeminiProvider(choice, { http, headers, base: addresses.base }),
    identity: { adapter: ADAPTER, ...endpoint.identity, model: choice.model, dimensions: choice.sentDims ?? null, task: choice.task },
    batch: createGeminiBatch(choice, { http, headers, addresses, secrets: endpoint.secrets }),
  };
}

interface Detail {
  "@type"?: unknown;
  reason?: unknown;
  violations?: unknown;
}

/**
 * Classifies refusals where this vendor differs from the others: a wrong key is a 400, and every 429 mentions quota and billing, also the one that is over
 * in a minute. Undefined: what the status means everywhere. Pure.
 */
export function faultOf(status: number, body: string): EmbeddingFault | undefined {
  const details = detailsOf(body);
  if (status === 400 && details.some(({ reason }) => reason === "API_KEY_INVALID" || reason === "API_KEY_EXPIRED")) return "auth";
  if (status !== 429) return undefined;
  const quotas = details.flatMap(({ violations }) => (Array.isArray(violations) ? violations : []));
  if (quotas.some((quota) => /PerDay/i.test(String((quota as { quotaId?: unknown } | null)?.quotaId)))) return "quota";
  const isBrief = quotas.length > 0 || details.some((detail) => String(detail["@type"]).endsWith("RetryInfo"));
  return isBrief ? "rate-limit" : undefined;
}

function detailsOf(body: string): Detail[] {
  try {
    const { error } = JSON.parse(body) as { error?: { details?: unknown } };
    const details = error?.details;
    return Array.isArray(details) ? details.filter((detail) => typeof detail === "object" && detail !== null) : [];
  } catch {
    return [];
  }
}
