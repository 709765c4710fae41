import type { ModelProvider } from "svc/sdk";
import { bearerHeaders, createVendorProvider, toDeltas, type VendorCall, type VendorProviderDeps } from "svc/sdk/internal";
import { addressOf } from "./address.ts";
import { type ChatModel, toRequestBody, toVendorRequest } from "./request.ts";
import type { ChatSettings } from "./vendors.ts";

/** Models kept ready: making one builds the schemas of its answers, which costs more than a short answer itself. */
const MAX_MODELS = 16;

/** A model provider for one server with the chat completions protocol. */
export function createProvider(given: ChatSettings, deps: VendorProviderDeps): ModelProvider {
  const { baseUrl, query, deployment } = addressOf(given);
  const defaultModel = given.defaultModel ?? deployment;
  const settings: ChatSettings = { ...given, baseUrl, ...(defaultModel === undefined ? {} : { defaultModel }) };
  const search = new URLSearchParams(query).toString();
  const provider = createVendorProvider(settings, deps, {
    load: () => load(settings, query, deps),
    list: { path: search === "" ? "/models" : `/models?${search}`, headers: headersOf(settings) },
  });
  return settings.vendor?.hasDeployments ? { ...provider, models: () => settings.models } : provider;
}

/** Headers of every request; one of the config wins over that of the key. */
function headersOf(settings: ChatSettings): Record<string, string> {
  const { apiKey, headers, vendor } = settings;
  if (vendor?.keyHeader === undefined) return bearerHeaders(settings);
  return { ...(apiKey === undefined ? {} : { [vendor.keyHeader]: apiKey }), ...headers };
}

async function load(
  settings: ChatSettings,
  queryParams: Readonly<Record<string, string>>,
  { fetch }: VendorProviderDeps,
): Promise<VendorCall> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const vendor = createOpenAICompatible({
    name: settings.id,
    baseURL: settings.baseUrl,
    headers: headersOf(settings),
    queryParams: { ...queryParams },
    includeUsage: true,
    supportsStructuredOutputs: true,
    fetch,
    transformRequestBody: (body) => toRequestBody(body, settings),
  });
  const models = new Map<string, ChatModel>();
  const modelOf = (name: string) => {
    const model = models.get(name) ?? vendor.chatModel(name);
    models.delete(name);
    models.set(name, model);
    for (const oldest of models.keys()) {
      if (models.size <= MAX_MODELS) break;
      models.delete(oldest);
    }
    return model;
  };
  return async function* call(req, signal) {
    const { stream } = await modelOf(req.model).doStream({ ...toVendorRequest(req, settings), abortSignal: signal });
    // A reader that leaves early cancels the stream, which closes the socket.
    yield* toDeltas(stream);
  };
}
