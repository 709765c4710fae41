import { type Clock, isModelError, type ModelInfo, type ModelProbe, z } from "svc/sdk";
import { documentLimits } from "./answer-limits.ts";
import { toModelError } from "./faults.ts";
import type { ProviderSettings } from "./settings.ts";
import type { VendorFetch } from "./vendor-fetch.ts";

const FRESH_MS = 600_000;
/** A server that did not answer is not asked again at once. */
const FAILED_FRESH_MS = 30_000;
const TIMEOUT_MS = 3_000;
const MAX_MODELS = 1_000;

const listSchema = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });

/** The server's own list of models. */
export interface ServerCatalog {
  /** Fetched when asked for, kept for ten minutes, empty when it cannot be had. */
  models(): Promise<ModelInfo[]>;
  /** Asks for the list now, to see whether the server answers and takes the key. */
  probe(signal: AbortSignal): Promise<ModelProbe>;
}

export function createCatalog(settings: ProviderSettings, deps: { fetch: VendorFetch; clock: Clock }): ServerCatalog {
  let cached: { models: Promise<ModelInfo[]>; until: number } | undefined;

  async function load(entry: { until: number }): Promise<ModelInfo[]> {
    try {
      const models = await fetchList(settings, deps.fetch, AbortSignal.timeout(TIMEOUT_MS));
      entry.until = deps.clock.now() + FRESH_MS;
      return models;
    } catch {
      // Asked for lists and hints only; a chat request and a probe tell what is wrong.
      entry.until = deps.clock.now() + FAILED_FRESH_MS;
      return [];
    }
  }

  return {
    models() {
      if (cached && deps.clock.now() < cached.until) return cached.models;
      const entry = { until: Number.POSITIVE_INFINITY, models: Promise.resolve<ModelInfo[]>([]) };
      entry.models = load(entry);
      cached = entry;
      return entry.models;
    },
    async probe(signal) {
      try {
        const models = await fetchList(settings, deps.fetch, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
        cached = { models: Promise.resolve(models), until: deps.clock.now() + FRESH_MS };
        return { ok: true };
      } catch (error) {
        return judge(error, settings);
      }
    },
  };
}

/** A server that refuses the list for any other reason than the key is there, and may answer questions nevertheless. */
function judge(error: unknown, { id, baseUrl, apiKey }: ProviderSettings): ModelProbe {
  if (error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError")) {
    return { ok: false, fault: "timeout", reason: `${baseUrl} does not answer within ${TIMEOUT_MS / 1_000} s` };
  }
  if (isModelError(error)) return { ok: false, fault: error.fault, reason: `${baseUrl}: ${error.message}` };
  const { fault, status, message } = toModelError(error, { provider: id, secrets: apiKey === undefined ? [] : [apiKey], now: 0 });
  if (fault === "auth") return { ok: false, fault, reason: `${baseUrl} rejected the key (${status})` };
  if (status !== undefined) return status >= 500 ? { ok: false, fault, reason: `${baseUrl} fails (${status})` } : { ok: true };
  // The answer was no list: this server keeps none.
  if (error instanceof SyntaxError || error instanceof z.ZodError) return { ok: true };
  return { ok: false, fault, reason: `${baseUrl} does not answer (${message.split(": ").at(-1)})` };
}

async function fetchList(settings: ProviderSettings, fetch: VendorFetch, signal: AbortSignal): Promise<ModelInfo[]> {
  const authorization = settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` };
  const headers = { ...authorization, ...settings.headers };
  const response = await fetch(`${settings.baseUrl}/models`, { headers, signal }, documentLimits);
  if (!response.ok) {
    await response.body?.cancel();
    throw Object.assign(new Error("refused"), { statusCode: response.status });
  }
  const list = listSchema.parse(await response.json());
  return list.data.slice(0, MAX_MODELS).map(({ id }) => ({ id }));
}
