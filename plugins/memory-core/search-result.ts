import type { MemoryHit, MemorySearchResult } from "svc/sdk";
import type { IndexHit } from "./engine/search.ts";
import type { AgentMemorySettings } from "./settings.ts";

/** The fixed part of a keyword-only answer. */
export function keywordResult(settings: AgentMemorySettings, results: MemoryHit[]): MemorySearchResult {
  return { results, provider: "none", model: "fts-only", fallback: null, citations: settings.citations, mode: "fts-only" };
}

/** The answer when memory cannot be searched: an agent goes on without it and can say why. */
export function unavailableResult(settings: AgentMemorySettings, { error, action }: { error: string; action: string }): MemorySearchResult {
  return {
    ...keywordResult(settings, []),
    disabled: true,
    unavailable: true,
    error,
    warning: "Memory search is not available; the answer is given without it.",
    action,
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
