import type { MemoryHit, MemorySearchResult } from "svc/sdk";
import type { IndexHit } from "./engine/search-types.ts";
import type { ProviderView } from "./providers/provider-choice.ts";
import type { AgentMemorySettings } from "./settings.ts";
import type { SearchReply } from "./worker-protocol.ts";

/** Provider and mode of a search. */
export interface SearchedWith {
  settings: AgentMemorySettings;
  view: ProviderView;
}

const STATUS_ACTION = "see: svc memory status --deep";

/** The fixed part of an answer. A provider that was replaced while it was made is still the one that made it. */
export function searchResult(
  { settings, view }: SearchedWith,
  results: MemoryHit[],
  { mode, embedder = view }: Pick<SearchReply, "mode" | "embedder"> = { mode: "fts-only" },
): MemorySearchResult {
  const { provider, model } = embedder;
  const fallback = provider === view.provider ? view.fallback : undefined;
  return { results, provider, model, fallback: fallback?.from ?? null, citations: settings.citations, mode };
}

/** The answer when memory cannot be searched: an agent goes on without it and can say why. */
export function unavailableResult(
  by: SearchedWith,
  { error, action = STATUS_ACTION }: { error: string; action?: string },
): MemorySearchResult {
  return { ...searchResult(by, []), disabled: true, unavailable: true, error, ...adviceOn(error, action) };
}

/** Adds what the reply tells about itself: cut off, or found with less than is configured. */
export function withNotes(result: MemorySearchResult, by: SearchedWith, { partial, degraded, outage }: SearchReply): MemorySearchResult {
  const cutOff = partial ? `the search was cut off after ${by.settings.limits.timeoutMs} ms; there may be more` : undefined;
  const warning = [cutOff, degraded].filter((note) => note !== undefined).join("; ");
  const noted = {
    ...result,
    ...(partial ? { partial: true } : {}),
    ...(degraded === undefined ? {} : { degraded: true }),
    ...(warning === "" ? {} : { warning }),
  };
  const trouble = outage ?? by.view.outage ?? by.view.error;
  const isBlind = degraded !== undefined && trouble !== undefined && result.results.length === 0;
  return isBlind ? { ...noted, unavailable: true, error: trouble, ...adviceOn(trouble, STATUS_ACTION) } : noted;
}

function adviceOn(error: string, action: string): { warning: string; action: string } {
  const isQuota = /insufficient_quota|quota|\b429\b/i.test(error);
  if (!isQuota) return { warning: "Memory search is not available; the answer is given without it.", action };
  return {
    warning: "Memory search is not available: the quota of the embedding provider is used up.",
    action: "top up the embedding provider, or set another memorySearch.provider",
  };
}

/** Hits as the hook `memory.results` may hand them back: what is no hit is left out. */
export function keepHits(values: readonly unknown[]): IndexHit[] {
  return values.filter(isHit);
}

function isHit(value: unknown): value is IndexHit {
  if (typeof value !== "object" || value === null) return false;
  const { path, startLine, endLine, score, snippet, source } = value as Partial<IndexHit>;
  const isPlace = typeof path === "string" && Number.isInteger(startLine) && Number.isInteger(endLine);
  return isPlace && Number.isFinite(score) && typeof snippet === "string" && (source === "memory" || source === "sessions");
}
