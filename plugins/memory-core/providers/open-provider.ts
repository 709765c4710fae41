import { createHash } from "node:crypto";
import {
  type EmbeddingAdapter,
  type EmbeddingBatch,
  type EmbeddingContext,
  EmbeddingError,
  type EmbeddingProvider,
  type OpenedEmbedding,
  type PluginContext,
} from "svc/sdk";
import type { ProviderFacts } from "../index-settings.ts";
import { limitedCall } from "./limited-call.ts";
import type { ProviderSettings } from "./provider-settings.ts";
import { resolveRemote } from "./remote-secrets.ts";

export type ProviderHost = Pick<PluginContext, "contributions" | "secret" | "snapshot" | "logger" | "clock" | "timers" | "signal">;

/** A provider of an adapter, held by whoever opened it. */
export interface OpenedProvider {
  /** As it was registered; another object after a reload of its plugin. */
  adapter: EmbeddingAdapter;
  provider: EmbeddingProvider;
  batch: EmbeddingBatch | undefined;
  facts: ProviderFacts;
  /** Calls under way end; idempotent, 5 s at most, never rejects. */
  close(): Promise<void>;
}

/** Input for opening a provider. */
export interface OpenQuestion {
  agentId: string;
  settings: ProviderSettings;
  auto: boolean;
  /** Adapter it stands in for: nothing of the primary's goes to it, neither address, key nor model. */
  standsInFor?: string;
  /** Replaces what the settings say. */
  over?: { model?: string; outputDimensionality?: number } | undefined;
}

const OPEN_MS = 30_000;
const CLOSE_MS = 5_000;

/** @throws {EmbeddingError} as the adapter says; `timeout` after 30 s @throws {SvcError} `secret-unavailable` */
export async function openProvider(host: ProviderHost, adapter: EmbeddingAdapter, question: OpenQuestion): Promise<OpenedProvider> {
  const ended = new AbortController();
  const context = contextOf(host, question, ended.signal);
  const what = `embedding adapter "${adapter.id}"`;
  let creating: Promise<OpenedEmbedding> | undefined;
  const create = async () => {
    creating = adapter.create(context);
    return creating;
  };
  try {
    const opened = await limitedCall(create, { timers: host.timers, limitMs: OPEN_MS, signal: host.signal, what });
    return hold(host, { adapter, opened, question, ended });
  } catch (error) {
    ended.abort(new DOMException("the provider was not opened", "AbortError"));
    void closeLate(creating);
    throw error;
  }
}

/** One that an adapter opens when nobody waits any more has nobody else to close it. */
async function closeLate(creating: Promise<OpenedEmbedding> | undefined): Promise<void> {
  try {
    await (await creating)?.provider?.close?.();
  } catch {
    // that it was not opened is known
  }
}

/** Context that an adapter gets with a question. */
export function contextOf(
  host: ProviderHost,
  { agentId, settings, auto, standsInFor, over }: OpenQuestion,
  signal: AbortSignal,
): EmbeddingContext {
  const isPrimary = standsInFor === undefined;
  const model = over?.model ?? (isPrimary ? settings.model : undefined);
  const outputDimensionality = over?.outputDimensionality ?? (isPrimary ? settings.outputDimensionality : undefined);
  const inputTypes = isPrimary ? settings.inputTypes : undefined;
  const remote = isPrimary ? resolveRemote(settings.remote, host.secret) : undefined;
  const { modelPath, modelCacheDir, sha256 } = settings.local;
  const local = {
    ...(modelPath === undefined ? {} : { modelPath }),
    ...(modelCacheDir === undefined ? {} : { modelCacheDir }),
    ...(sha256 === undefined ? {} : { sha256 }),
  };
  return {
    agentId,
    auto,
    ...(model === undefined ? {} : { model }),
    ...(outputDimensionality === undefined ? {} : { outputDimensionality }),
    ...(inputTypes ? { inputTypes } : {}),
    ...(remote ? { remote } : {}),
    ...(Object.keys(local).length > 0 ? { local } : {}),
    config: host.snapshot(),
    logger: host.logger,
    clock: host.clock,
    signal,
  };
}

interface Holding {
  adapter: EmbeddingAdapter;
  opened: OpenedEmbedding;
  question: OpenQuestion;
  ended: AbortController;
}

function hold(host: ProviderHost, { adapter, opened, question, ended }: Holding): OpenedProvider {
  const { provider, batch } = opened;
  let closing: Promise<void> | undefined;
  return {
    adapter,
    provider,
    batch,
    facts: factsOf(adapter, opened, question),
    close() {
      ended.abort(new DOMException("the provider is of no use any more", "AbortError"));
      closing ??= limitedCall(async () => provider.close?.(), {
        timers: host.timers,
        limitMs: CLOSE_MS,
        signal: new AbortController().signal,
        what: `closing "${adapter.id}"`,
      }).catch((error: unknown) => host.logger.warn(`embedding adapter "${adapter.id}" did not close its provider: ${String(error)}`));
      return closing;
    },
  };
}

/** @throws {EmbeddingError} `bad-response` for a provider without a model */
function factsOf(adapter: EmbeddingAdapter, { provider, identity, batch }: OpenedEmbedding, question: OpenQuestion): ProviderFacts {
  const { id, transport } = adapter;
  if (typeof provider?.model !== "string") throw new EmbeddingError("bad-response", `${id}: the adapter opened no provider`);
  const { model, dims, maxInputTokens, maxItemsPerRequest, maxTokensPerRequest } = provider;
  const { standsInFor } = question;
  return {
    id,
    model,
    providerKey: createHash("sha256").update(canonicalJson(identity)).digest("hex"),
    pace: transport === "local" || provider.loadsModel === true ? "local" : "remote",
    ...(dims === undefined ? {} : { dims }),
    ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
    ...(maxItemsPerRequest === undefined ? {} : { maxItemsPerRequest }),
    ...(maxTokensPerRequest === undefined ? {} : { maxTokensPerRequest }),
    multimodal: typeof provider.embedBatchInputs === "function" && (adapter.supportsMultimodal?.(model) ?? true),
    // `remote.batch` belongs to the primary, as all of `remote`.
    batch: standsInFor === undefined && batch !== undefined,
    ...(standsInFor === undefined ? {} : { fallbackFor: standsInFor }),
  };
}

/** JSON whose keys are in order at every depth. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
