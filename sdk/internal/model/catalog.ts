import { z } from "zod";
import { isModelError } from "../../define.ts";
import type { Clock } from "../../types/common.ts";
import type { ModelInfo, ModelProbe } from "../../types/model.ts";
import { documentLimits } from "./answer-limits.ts";
import { type FaultRules, toModelError } from "./faults.ts";
import type { ProviderSettings } from "./settings.ts";
import type { VendorFetch } from "./vendor-fetch.ts";

const FRESH_MS = 600_000;
/** A server that did not answer is not asked again at once. */
const FAILED_FRESH_MS = 30_000;
const TIMEOUT_MS = 3_000;
const MAX_MODELS = 1_000;

/** How a server is asked for its models. */
export interface ListRequest {
  /** Behind the provider's address, as `/models`. */
  path: string;
  headers: Readonly<Record<string, string>>;
  /** Default: an object whose `data` lists objects with an `id`. @throws {ZodError} when the answer is no list */
  read?(body: unknown): ModelInfo[];
}

const listSchema = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });

/** Headers of a vendor that takes its key as a bearer token. */
export function bearerHeaders({ apiKey, headers }: Pick<ProviderSettings, "apiKey" | "headers">): Record<string, string> {
  return { ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }), ...headers };
}

/** The server's own list of models. */
export interface ServerCatalog {
  /** Fetched when asked for, kept for ten minutes, empty when it cannot be had. */
  models(): Promise<ModelInfo[]>;
  /** Asks for the list now, to see whether the server answers and takes the key. */
  probe(signal: AbortSignal): Promise<ModelProbe>;
}

export function createCatalog(
  settings: ProviderSettings,
  deps: { fetch: VendorFetch; clock: Clock },
  { list, faults }: { list: ListRequest; faults?: FaultRules | undefined },
): ServerCatalog {
  let cached: { models: Promise<ModelInfo[]>; until: number } | undefined;

  async function load(entry: { until: number }): Promise<ModelInfo[]> {
    try {
      const models = await fetchList(settings, deps.fetch, { list, signal: AbortSignal.timeout(TIMEOUT_MS) });
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
        const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
        const models = await fetchList(settings, deps.fetch, { list, signal: limit });
        cached = { models: Promise.resolve(models), until: deps.clock.now() + FRESH_MS };
        return { ok: true };
      } catch (error) {
        return judge(error, settings, faults);
      }
    },
  };
}

/** A server that refuses the list for any other reason than the key is there, and may answer questions nevertheless. */
function judge(error: unknown, { id, baseUrl, apiKey }: ProviderSettings, rules: FaultRules | undefined): ModelProbe {
  if (error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError")) {
    return { ok: false, fault: "timeout", reason: `${baseUrl} does not answer within ${TIMEOUT_MS / 1_000} s` };
  }
  if (isModelError(error)) return { ok: false, fault: error.fault, reason: `${baseUrl}: ${error.message}` };
  const { fault, status, message } = toModelError(error, { provider: id, secrets: apiKey === undefined ? [] : [apiKey], now: 0, rules });
  if (fault === "auth") return { ok: false, fault, reason: `${baseUrl} rejected the key (${status})` };
  if (status !== undefined) return status >= 500 ? { ok: false, fault, reason: `${baseUrl} fails (${status})` } : { ok: true };
  // The answer was no list: this server keeps none.
  if (error instanceof SyntaxError || error instanceof z.ZodError) return { ok: true };
  return { ok: false, fault, reason: `${baseUrl} does not answer (${message.split(": ").at(-1)})` };
}

async function fetchList(
  { baseUrl }: ProviderSettings,
  fetch: VendorFetch,
  { list, signal }: { list: ListRequest; signal: AbortSignal },
): Promise<ModelInfo[]> {
  const response = await fetch(`${baseUrl}${list.path}`, { headers: { ...list.headers }, signal }, documentLimits);
  if (!response.ok) {
    const responseBody = await response.text().catch(() => "");
    throw Object.assign(new Error("refused"), { statusCode: response.status, responseBody });
  }
  const body: unknown = await response.json();
  const models = list.read ? list.read(body) : listSchema.parse(body).data.map(({ id }) => ({ id }));
  return models.slice(0, MAX_MODELS);
}
