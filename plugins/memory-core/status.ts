import { type MemoryStatus, messageOf, type SvcError } from "svc/sdk";
import type { AgentMemory } from "./agent-memory.ts";
import { explainSkip } from "./engine/skip-reasons.ts";
import type { AgentProvider } from "./providers/agent-provider.ts";
import type { ProviderView } from "./providers/provider-choice.ts";
import type { AgentMemorySettings } from "./settings.ts";
import type { StatusReply } from "./worker-protocol.ts";

export interface StatusQuestion {
  files: boolean;
  deep: boolean;
  /** Reason why the agent has no memory by its configuration. */
  refusal: SvcError | undefined;
}

/** State of one agent's memory. Never throws: what is wrong stands in `lastError`. */
export async function statusOf(agent: AgentMemory, provider: AgentProvider, question: StatusQuestion): Promise<MemoryStatus> {
  const { settings } = agent;
  if (question.refusal) return describe(settings, { reply: emptyReply, view: provider.view(), failure: question.refusal.message });
  const probe = question.deep ? await provider.probe() : undefined;
  const ask = async () => ({ reply: await agent.index().status({ files: question.files }) });
  const known = (failure: string) => ({ reply: { ...emptyReply, ...agent.state() }, failure });
  const { isDown, lastError = "the index does not answer" } = agent.state() ?? {};
  const read: Omit<Read, "view"> = isDown ? known(lastError) : await ask().catch((error: unknown) => known(messageOf(error)));
  return { ...describe(settings, { ...read, view: provider.view() }), ...(probe ? { probe } : {}) };
}

const emptyReply: StatusReply = {
  files: 0,
  chunks: 0,
  dirty: true,
  syncing: false,
  watching: false,
  sourceCounts: [],
  vector: { available: false, backend: "in-process" },
  cacheEntries: 0,
  batch: { failures: 0, limit: 2 },
};

interface Read {
  reply: StatusReply;
  view: ProviderView;
  failure?: string;
}

function describe(settings: AgentMemorySettings, { reply, view, failure }: Read): MemoryStatus {
  const { watching: _, vectors: _held, cacheEntries, lastError, isDown: _down, leftOut, ...figures } = reply;
  const error = failure ?? lastError;
  const { index } = settings;
  const providerError = view.outage ?? view.error;
  return {
    agentId: settings.agentId,
    backend: "builtin",
    workspace: index.workspace,
    ...figures,
    dbPath: index.dbPath,
    provider: view.provider,
    model: view.model,
    requestedProvider: settings.provider.requested,
    sources: [...index.sources],
    fts: { enabled: settings.enabled, available: failure === undefined, ...(failure === undefined ? {} : { error: failure }) },
    vector: { enabled: index.vector.enabled, ...reply.vector },
    cache: { enabled: index.cache.enabled, entries: cacheEntries, maxEntries: index.cache.maxEntries },
    batch: { enabled: index.batch.enabled, ...reply.batch },
    ...(view.fallback ? { fallback: view.fallback } : {}),
    ...(providerError === undefined ? {} : { providerError }),
    ...(view.skipped ? { skipped: view.skipped } : {}),
    ...(leftOut ? { leftOut: withReasons(leftOut) } : {}),
    custom: { searchMode: searchModeOf(settings, reply, view) },
    ...(error === undefined ? {} : { lastError: error }),
  };
}

function withReasons({ documents, total }: NonNullable<StatusReply["leftOut"]>): NonNullable<MemoryStatus["leftOut"]> {
  return { documents: documents.map(({ path, code }) => ({ path, reason: explainSkip(code) })), total };
}

/** Mode of the next search: by meaning only where the index holds vectors of the model that would embed the query. */
function searchModeOf({ query }: AgentMemorySettings, { chunks, vectors }: StatusReply, view: ProviderView): string {
  const canEmbed = view.state === "provider" && view.outage === undefined;
  const fits = chunks === 0 || (vectors?.provider === view.provider && vectors.model === view.model);
  if (!canEmbed || !fits) return "fts-only";
  return query.hybrid.enabled ? "hybrid" : "vector";
}
