import type { MemorySource } from "../index-settings.ts";
import type { Threshold } from "./ranking.ts";

/** One search of an index. */
export interface SearchParams extends Threshold {
  query: string;
  sources: MemorySource[];
  candidateMultiplier: number;
  maxSnippetChars: number;
  hybrid: { enabled: boolean; vectorWeight: number; textWeight: number };
  mmr: { enabled: boolean; lambda: number };
  temporalDecay: { enabled: boolean; halfLifeDays: number };
}

/** A hit without decoration. */
export interface IndexHit {
  path: string;
  startLine: number;
  endLine: number;
  score: number;
  vectorScore?: number;
  textScore?: number;
  snippet: string;
  source: MemorySource;
}
