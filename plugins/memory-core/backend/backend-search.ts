import type { MemoryBackend, MemoryBackendFacts, MemoryHit, MemorySearchOptions, MemorySearchResult } from "svc/sdk";
import { afterSearch, beforeSearch, clampResults, type SearchHost } from "../agent-search.ts";
import { fitInjected, showsCitations, withCitations } from "../citations.ts";
import { visibleSources } from "../sessions/visibility.ts";
import type { AgentMemorySettings } from "../settings.ts";

/** A search of one agent by a backend. */
export interface BackendQuestion {
  backend: MemoryBackend;
  settings: AgentMemorySettings;
  query: string;
  options: MemorySearchOptions;
  /** Aborts when the backend has had its time. */
  signal: AbortSignal;
}

/** Facts of a backend with the limits of the agent where it has none. */
export interface KnownFacts {
  mode: MemorySearchResult["mode"];
  model: string;
  sources: ReadonlyArray<MemoryHit["source"]>;
  limits: { maxResults: number; maxInjectedChars: number | undefined; timeoutMs: number };
}

export function factsOf(backend: MemoryBackend, { agentId, query, limits }: AgentMemorySettings): KnownFacts {
  const facts: MemoryBackendFacts = backend.facts?.(agentId) ?? {};
  return {
    mode: facts.mode ?? "fts-only",
    model: facts.model ?? backend.id,
    sources: facts.sources ?? ["memory"],
    limits: {
      maxResults: facts.limits?.maxResults ?? query.maxResults,
      maxInjectedChars: facts.limits?.maxInjectedChars ?? limits.maxInjectedChars,
      timeoutMs: facts.limits?.timeoutMs ?? limits.timeoutMs,
    },
  };
}

/** The fixed part of an answer by a backend. */
export function backendResult(backend: MemoryBackend, settings: AgentMemorySettings, results: MemoryHit[]): MemorySearchResult {
  const { model, mode } = factsOf(backend, settings);
  return { results, provider: backend.id, model, fallback: null, citations: settings.citations, mode };
}

/** Asks a backend, hooks and citations included. Rejects when it does. */
export async function searchByBackend(host: SearchHost, question: BackendQuestion): Promise<MemorySearchResult> {
  const { backend, settings, options, signal } = question;
  const { agentId } = settings;
  const { corpus, sessionKey, maxResults, minScore } = options;
  const facts = factsOf(backend, settings);
  const { sources, warning } = visibleSources({ agentId, sources: facts.sources, corpus, sessionKey });
  const empty = backendResult(backend, settings, []);
  if (sources.length === 0) return { ...empty, ...(warning === undefined ? {} : { warning }) };
  const limit = clampResults(maxResults ?? facts.limits.maxResults);
  const event = await beforeSearch(host, { agentId, query: question.query, limit });
  if (event.query.trim() === "") return empty;
  const found = await backend.search(agentId, event.query, {
    maxResults: clampResults(event.limit),
    ...(minScore !== undefined && Number.isFinite(minScore) ? { minScore } : {}),
    sources,
    signal,
  });
  const hits = await afterSearch(host, { agentId, query: event.query, hits: found });
  const cited = showsCitations(options.citations ?? settings.citations, sessionKey) ? withCitations(hits) : hits;
  return backendResult(backend, settings, fitInjected(cited, facts.limits.maxInjectedChars));
}
