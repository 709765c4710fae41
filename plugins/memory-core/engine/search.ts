import type { Tokenizer } from "../index-settings.ts";
import type { Database } from "./database.ts";
import { isAllCommon, runTerms } from "./keyword-leg.ts";
import { MAX_QUERY_CHARS, planKeywords } from "./keyword-query.ts";
import { extractKeywords } from "./keywords.ts";
import { applyThreshold, candidateCount, compareRows, mergeRows, type PlacedRow, type RankedRow, type Threshold } from "./ranking.ts";
import { snippetOf } from "./snippet.ts";

export interface SearchParams extends Threshold {
  query: string;
  candidateMultiplier: number;
  maxSnippetChars: number;
}

/** A hit without decoration. */
export interface IndexHit {
  path: string;
  startLine: number;
  endLine: number;
  score: number;
  textScore: number;
  snippet: string;
  source: "memory" | "sessions";
}

export interface SearchScope {
  db: Database;
  tokenizer: Tokenizer;
  /** Chunks in the index. */
  chunks: number;
  /** Called with what the first step found, when a second one follows. */
  interim(hits: IndexHit[]): void;
  /** True when nobody waits any more. */
  isLate(): boolean;
}

/** Below this many chunks the second step costs nothing, so it is never spared. */
const SPARE_FROM_CHUNKS = 500;

/** Keyword search: all words first, then any keyword when that gives too few. */
export function searchIndex(scope: SearchScope, params: SearchParams): { hits: IndexHit[]; partial: boolean } {
  const candidates = candidateCount(params.maxResults, params.candidateMultiplier);
  const plan = planKeywords(params.query, scope.tokenizer);
  const strict = plan.strict ? runTerms(scope.db, plan.strict, candidates) : [];
  const enough = strict.length >= candidates;
  if (!plan.loose || enough || isSpared(scope, { loose: plan.loose, strict, params })) {
    return { hits: present(scope, params, strict), partial: false };
  }
  const first = present(scope, params, strict);
  if (scope.isLate()) return { hits: first, partial: true };
  scope.interim(first);
  const loose = runTerms(scope.db, plan.loose, candidates);
  return { hits: present(scope, params, mergeRows(strict, loose)), partial: false };
}

/** The disjunction of words that are everywhere is slow and tells nothing, provided that there is something to show. */
function isSpared(
  scope: SearchScope,
  { loose, strict, params }: { loose: NonNullable<ReturnType<typeof planKeywords>["loose"]>; strict: RankedRow[]; params: SearchParams },
): boolean {
  if (scope.chunks < SPARE_FROM_CHUNKS || strict.length < params.maxResults) return false;
  return isAllCommon(scope.db, loose, scope.chunks);
}

/** Orders, applies the threshold, and only then reads texts. */
function present(scope: SearchScope, params: SearchParams, rows: RankedRow[]): IndexHit[] {
  const place = scope.db.prepare("SELECT path, start_line AS startLine FROM chunks WHERE rowid = ?");
  const placed = rows.flatMap((row): PlacedRow[] => {
    const at = place.get(row.rowid) as { path: string; startLine: number } | undefined;
    return at ? [{ ...row, ...at }] : [];
  });
  const shown = applyThreshold(placed.sort(compareRows), params);
  const text = scope.db.prepare("SELECT end_line AS endLine, source, text FROM chunks WHERE rowid = ?");
  const terms = extractKeywords(params.query.slice(0, MAX_QUERY_CHARS), scope.tokenizer);
  return shown.map((row) => {
    const chunk = text.get(row.rowid) as { endLine: number; source: IndexHit["source"]; text: string };
    const snippet = snippetOf(chunk.text, terms, params.maxSnippetChars);
    const { path, startLine, score } = row;
    return { path, startLine, endLine: chunk.endLine, score, textScore: score, snippet, source: chunk.source };
  });
}
