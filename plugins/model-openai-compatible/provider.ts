import type { Clock, Logger, ModelDelta, ModelProvider, ModelRequest } from "svc/sdk";
import { createCatalog } from "./catalog.ts";
import { toDeltas } from "./deltas.ts";
import { toModelError } from "./faults.ts";
import { type ChatModel, toCallOptions, toRequestBody } from "./request.ts";
import type { ProviderSettings } from "./settings.ts";
import type { VendorFetch } from "./vendor-fetch.ts";

/** Models kept ready: making one builds the schemas of its answers, which costs more than a short answer itself. */
const MAX_MODELS = 16;

interface ProviderDeps {
  fetch: VendorFetch;
  clock: Clock;
  logger: Logger;
}

/** A model provider for one server. The vendor package is loaded with the first turn. */
export function createProvider(settings: ProviderSettings, deps: ProviderDeps): ModelProvider {
  const catalog = createCatalog(settings, deps);
  const secrets = [settings.apiKey, ...Object.values(settings.headers)].filter(
    (value): value is string => value !== undefined && value.length >= 8,
  );
  let loading: Promise<(model: string) => ChatModel> | undefined;

  async function* stream(req: ModelRequest, signal: AbortSignal): AsyncIterable<ModelDelta> {
    try {
      loading ??= loadVendorPackage(settings, deps.fetch);
      const model = (await loading)(req.model);
      const { stream: parts } = await model.doStream({ ...toCallOptions(req, settings), abortSignal: signal });
      // A reader that leaves early cancels the stream, which closes the socket.
      yield* toDeltas(parts);
    } catch (error) {
      if (signal.aborted) throw new DOMException("the model request was aborted", "AbortError");
      const fault = toModelError(error, { provider: settings.id, secrets, now: deps.clock.now() });
      deps.logger.debug(fault.message, { provider: settings.id, fault: fault.fault, status: fault.status });
      throw fault;
    }
  }

  return {
    id: settings.id,
    name: settings.name,
    ...(settings.defaultModel === undefined ? {} : { defaultModel: settings.defaultModel }),
    firstAnswerMs: settings.firstAnswerMs,
    models: () => (settings.models.length > 0 || settings.unavailable !== undefined ? settings.models : catalog.models()),
    available: () => (settings.unavailable === undefined ? { ok: true } : { ok: false, reason: settings.unavailable }),
    probe: async ({ signal }) =>
      settings.unavailable === undefined ? catalog.probe(signal) : { ok: false, fault: "auth", reason: settings.unavailable },
    stream: (req, { signal }) => stream(req, signal),
  };
}

async function loadVendorPackage(settings: ProviderSettings, fetch: VendorFetch): Promise<(model: string) => ChatModel> {
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
  return (name) => {
    const model = models.get(name) ?? vendor.chatModel(name);
    models.delete(name);
    models.set(name, model);
    for (const oldest of models.keys()) {
      if (models.size <= MAX_MODELS) break;
      models.delete(oldest);
    }
    return model;
  };
}
