import type { ModelProvider } from "svc/sdk";
import { bearerHeaders, createVendorProvider, toDeltas, type VendorCall, type VendorProviderDeps } from "svc/sdk/internal";
import { type ChatModel, toRequestBody, toVendorRequest } from "./request.ts";
import type { ChatSettings } from "./vendors.ts";

/** Models kept ready: making one builds the schemas of its answers, which costs more than a short answer itself. */
const MAX_MODELS = 16;

/** A model provider for one server with the chat completions protocol. */
export function createProvider(settings: ChatSettings, deps: VendorProviderDeps): ModelProvider {
  return createVendorProvider(settings, deps, {
    load: () => load(settings, deps),
    list: { path: "/models", headers: bearerHeaders(settings) },
  });
}

async function load(settings: ChatSettings, { fetch }: VendorProviderDeps): Promise<VendorCall> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const vendor = createOpenAICompatible({
    name: settings.id,
    baseURL: settings.baseUrl,
    ...(settings.apiKey === undefined ? {} : { apiKey: settings.apiKey }),
    headers: settings.headers,
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
