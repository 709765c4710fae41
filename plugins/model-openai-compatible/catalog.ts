import { type Clock, type ModelInfo, z } from "svc/sdk";
import type { Connection } from "./connection.ts";
import type { ProviderSettings } from "./settings.ts";

const FRESH_MS = 600_000;
/** A server that did not answer is not asked again at once. */
const FAILED_FRESH_MS = 30_000;
const TIMEOUT_MS = 3_000;
const MAX_MODELS = 1_000;

const listSchema = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });

/** The server's own list of models: fetched when asked for, kept for ten minutes, empty when it cannot be had. */
export function createCatalog(settings: ProviderSettings, deps: { connection: Connection; clock: Clock }): () => Promise<ModelInfo[]> {
  let cached: { models: Promise<ModelInfo[]>; until: number } | undefined;

  async function load(entry: { until: number }): Promise<ModelInfo[]> {
    try {
      const models = await fetchList(settings, deps.connection);
      entry.until = deps.clock.now() + FRESH_MS;
      return models;
    } catch {
      // Asked for lists and hints only; a chat request tells what is wrong.
      entry.until = deps.clock.now() + FAILED_FRESH_MS;
      return [];
    }
  }

  return () => {
    if (cached && deps.clock.now() < cached.until) return cached.models;
    const entry = { until: Number.POSITIVE_INFINITY, models: Promise.resolve<ModelInfo[]>([]) };
    entry.models = load(entry);
    cached = entry;
    return entry.models;
  };
}

async function fetchList(settings: ProviderSettings, connection: Connection): Promise<ModelInfo[]> {
  const authorization = settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await connection.fetch(`${settings.baseUrl}/models`, { headers: { ...authorization, ...settings.headers }, signal });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const list = listSchema.parse(await response.json());
  return list.data.slice(0, MAX_MODELS).map(({ id }) => ({ id }));
}
