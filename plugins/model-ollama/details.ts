import { type Clock, ModelError, z } from "svc/sdk";
import { documentLimits, type ProviderSettings, refusedAnswer, type VendorFetch } from "svc/sdk/internal";

const FRESH_MS = 600_000;
/** A server that did not answer is not asked again at once. */
const FAILED_FRESH_MS = 30_000;
const TIMEOUT_MS = 3_000;
const MAX_MODELS = 256;
/** Questions at a time. */
const PARALLEL = 4;

/** Facts about a model, as the server tells them (`POST /api/show`). */
export interface Details {
  /** As `completion`, `tools`, `thinking`, `vision`, `embedding`; absent: the server is too old to say. */
  capabilities?: readonly string[];
  /** Tokens the model was made for. */
  contextLength?: number;
  /** Window that the model's own file sets. */
  numCtx?: number;
}

const showSchema = z.looseObject({
  capabilities: z.array(z.string()).optional(),
  model_info: z.looseObject({ "general.architecture": z.string().optional() }).optional(),
  parameters: z.string().optional(),
});

/** @throws {ZodError} when the answer is none */
export function readDetails(body: unknown): Details {
  const { capabilities, model_info: info = {}, parameters = "" } = showSchema.parse(body);
  const length = info[`${info["general.architecture"]}.context_length`];
  const numCtx = Number(/^num_ctx\s+(\d{1,9})\s*$/m.exec(parameters)?.[1]);
  return {
    ...(capabilities === undefined ? {} : { capabilities }),
    ...(typeof length === "number" && length > 0 ? { contextLength: length } : {}),
    ...(numCtx > 0 ? { numCtx } : {}),
  };
}

/** Details of the models of one server, each asked for once in ten minutes. */
export interface AllDetails {
  /** Waits for the server. @throws {ModelError} when it does not know the model; resolves to undefined when it does not say */
  of(model: string): Promise<Details | undefined>;
  /** Details that are known now; the rest is asked for in the background. */
  known(model: string): Details | undefined;
  /** Of several models, a few at a time; undefined for those that cannot be had. */
  ofAll(models: readonly string[]): Promise<Array<Details | undefined>>;
}

interface Entry {
  until: number;
  pending: Promise<Details | undefined>;
  latest: Details | undefined;
}

export function createDetails(
  { baseUrl, id }: Pick<ProviderSettings, "baseUrl" | "id">,
  deps: { fetch: VendorFetch; clock: Clock; headers: Readonly<Record<string, string>> },
): AllDetails {
  const entries = new Map<string, Entry>();

  async function ask(model: string): Promise<Details> {
    const response = await deps.fetch(
      `${baseUrl}/api/show`,
      {
        method: "POST",
        headers: { ...deps.headers, "content-type": "application/json" },
        body: JSON.stringify({ model }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      },
      documentLimits,
    );
    if (!response.ok) throw await refusedAnswer(response);
    return readDetails(await response.json());
  }

  function entryOf(model: string): Entry {
    const old = entries.get(model);
    if (old && deps.clock.now() < old.until) return old;
    const entry: Entry = { until: Number.POSITIVE_INFINITY, pending: Promise.resolve(undefined), latest: old?.latest };
    entry.pending = ask(model).then(
      (details) => {
        entry.until = deps.clock.now() + FRESH_MS;
        entry.latest = details;
        return details;
      },
      (error: unknown) => {
        entry.until = deps.clock.now() + FAILED_FRESH_MS;
        if (isUnknownModel(error)) throw new ModelError("model_not_found", `provider "${id}": it has no model "${model}"`, { status: 404 });
        return entry.latest;
      },
    );
    entry.pending.catch(() => undefined);
    entries.delete(model);
    entries.set(model, entry);
    for (const oldest of entries.keys()) {
      if (entries.size <= MAX_MODELS) break;
      entries.delete(oldest);
    }
    return entry;
  }

  return {
    of: (model) => entryOf(model).pending,
    known: (model) => entryOf(model).latest,
    async ofAll(models) {
      const found: Array<Details | undefined> = Array(models.length).fill(undefined);
      let next = 0;
      const work = async () => {
        while (next < models.length) {
          const at = next++;
          found[at] = await entryOf(models[at] as string).pending.catch(() => undefined);
        }
      };
      await Promise.all(Array.from({ length: PARALLEL }, work));
      return found;
    },
  };
}

/** 404 with the server's own words: a server that is too old for the question answers with a page. */
function isUnknownModel(error: unknown): boolean {
  const { statusCode, responseBody } = error as { statusCode?: number; responseBody?: string };
  return statusCode === 404 && /"error"\s*:\s*"[^"]*not found/.test(responseBody ?? "");
}
