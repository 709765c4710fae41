import { type MemorySearchOptions, type MemorySearchResult, messageOf, type PluginContext } from "svc/sdk";
import type { AgentMemory } from "./agent-memory.ts";
import { fitInjected, showsCitations, withCitations } from "./citations.ts";
import type { IndexHit } from "./engine/search-types.ts";
import type { AgentProvider } from "./providers/agent-provider.ts";
import { keepHits, searchResult, unavailableResult, withNotes } from "./search-result.ts";
import { visibleSources } from "./sessions/visibility.ts";
import type { AgentMemorySettings } from "./settings.ts";
import type { SearchRequest } from "./worker-protocol.ts";

export type SearchHost = Pick<PluginContext, "logger" | "isHookUsed" | "runHook">;

export interface AgentSearch {
  query: string;
  options: MemorySearchOptions;
  /** Start by `performance.now()`: the time limit covers all of it. */
  startedAt: number;
}

/** Searches the memory of one agent, hooks and decoration included. Rejects only for an abort. */
export async function searchAgent(host: SearchHost, parts: SearchParts, search: AgentSearch): Promise<MemorySearchResult> {
  const { agent, provider } = parts;
  const { settings } = agent;
  const view = provider.view();
  if (view.state === "unavailable") return unavailableResult({ settings, view }, { error: view.error ?? "there is no embedding provider" });
  try {
    return await ask(host, parts, search);
  } catch (error) {
    if (search.options.signal?.aborted) throw error;
    const message = messageOf(error);
    host.logger.warn(`memory search of agent "${settings.agentId}" failed: ${message}`);
    return unavailableResult({ settings, view: provider.view() }, { error: message });
  }
}

interface SearchParts {
  agent: AgentMemory;
  provider: AgentProvider;
}

async function ask(
  host: SearchHost,
  { agent, provider }: SearchParts,
  { query, options, startedAt }: AgentSearch,
): Promise<MemorySearchResult> {
  const { settings } = agent;
  const { agentId, limits } = settings;
  const by = () => ({ settings, view: provider.view() });
  const { corpus, sessionKey, signal } = options;
  const { sources, warning } = visibleSources({ agentId, sources: settings.index.sources, corpus, sessionKey });
  if (sources.length === 0) return { ...searchResult(by(), []), ...(warning === undefined ? {} : { warning }) };
  const event = await beforeSearch(host, { agentId, query, limit: clampResults(options.maxResults ?? settings.query.maxResults) });
  if (event.query.trim() === "") return searchResult(by(), []);
  const reply = await agent.index().search(
    {
      ...requestOf(settings, options),
      query: event.query,
      sources,
      maxResults: clampResults(event.limit),
      timeoutMs: Math.max(1, Math.round(limits.timeoutMs - (performance.now() - startedAt))),
      syncAfter: agent.syncAfter(sessionKey),
    },
    { signal },
  );
  host.logger.debug("memory searched", () => {
    const ms = Math.round(performance.now() - startedAt);
    return { agentId, mode: reply.mode, queryChars: event.query.length, sources: sources.join(" "), hits: reply.hits.length, ms };
  });
  const hits = await afterSearch(host, { agentId, query: event.query, hits: reply.hits });
  const cited = showsCitations(options.citations ?? settings.citations, sessionKey) ? withCitations(hits) : hits;
  return withNotes(searchResult(by(), fitInjected(cited, limits.maxInjectedChars), reply), by(), reply);
}

type FixedPart = Omit<SearchRequest, "query" | "sources" | "maxResults" | "timeoutMs" | "syncAfter">;

function requestOf({ query, limits }: AgentMemorySettings, { minScore }: MemorySearchOptions): FixedPart {
  const { hybrid, mmr, temporalDecay, candidateMultiplier } = query;
  const score = minScore !== undefined && Number.isFinite(minScore) ? minScore : query.minScore;
  return {
    minScore: Math.min(1, Math.max(0, score)),
    explicit: minScore !== undefined,
    candidateMultiplier,
    maxSnippetChars: limits.maxSnippetChars,
    hybrid,
    mmr,
    temporalDecay,
  };
}

/** Lets plugins change a query before it is asked. */
export async function beforeSearch(
  host: SearchHost,
  event: { agentId: string; query: string; limit: number },
): Promise<{ query: string; limit: number }> {
  if (!host.isHookUsed("memory.query")) return event;
  return host.runHook("memory.query", event, { agentId: event.agentId });
}

/** Lets plugins change hits before they are returned. */
export async function afterSearch(host: SearchHost, event: { agentId: string; query: string; hits: IndexHit[] }): Promise<IndexHit[]> {
  if (!host.isHookUsed("memory.results")) return event.hits;
  const changed = await host.runHook("memory.results", event, { agentId: event.agentId });
  return keepHits(changed.hits);
}

export function clampResults(count: number): number {
  return Number.isFinite(count) ? Math.min(200, Math.max(1, Math.floor(count))) : 6;
}
