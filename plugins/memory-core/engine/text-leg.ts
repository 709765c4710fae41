import type { MemorySource, Tokenizer } from "../index-settings.ts";
import type { Database } from "./database.ts";
import { runIdle, runSifted, runTerms, type TextScope } from "./keyword-leg.ts";
import { type KeywordPlan, planKeywords } from "./keyword-query.ts";
import { prepared } from "./prepared.ts";
import { expandKeywords } from "./query-terms.ts";
import { mergeRows, type RankedRow } from "./ranking.ts";
import { RERANKED, rerank } from "./rerank.ts";
import { IDLE_SHARE, siftTerms } from "./telling-terms.ts";
import { openVocabulary } from "./vocabulary.ts";

export interface TextLegScope {
  db: Database;
  tokenizer: Tokenizer;
  /** Chunks in the index. */
  chunks: number;
  /** Called with what the first step found, when a second one follows. */
  found(rows: RankedRow[]): void;
  /** True when nobody waits any more. */
  isLate(): boolean;
}

export interface TextQuestion {
  query: string;
  sources: readonly MemorySource[];
  /** Rows each step may bring. */
  candidates: number;
  maxResults: number;
}

/** Below this many chunks the second step costs nothing, so all of it is done. */
const SIFT_FROM_CHUNKS = 500;
/** Chunks that have all words of a question are all ranked up to this number, in a few milliseconds, whatever the words weigh. */
const RANKED_WHOLE = 10_000;
const allSources: readonly MemorySource[] = ["memory", "sessions"];

/** The keyword leg: all words first, then any keyword when that gives too few. */
export function findByWords(scope: TextLegScope, question: TextQuestion): { rows: RankedRow[]; isCut: boolean } {
  const { candidates, maxResults } = question;
  let isCut = false;
  const within: TextScope = {
    db: scope.db,
    limit: Math.max(candidates, RERANKED),
    sources: narrowing(scope.db, question.sources),
    isLate: scope.isLate,
    chunks: scope.chunks,
    cut: () => {
      isCut = true;
    },
  };
  const vocabulary = openVocabulary(scope.db);
  const plan = planKeywords(question.query, scope.tokenizer, (text, words) =>
    expandKeywords(text, words, { vocabulary, chunks: scope.chunks }),
  );
  const ranked = (rows: RankedRow[]) => {
    const best = rows.slice(0, within.limit);
    return (plan.groups.length > 0 ? rerank(scope.db, plan.groups, { rows: best, chunks: scope.chunks }) : best).slice(0, candidates);
  };
  const strict = plan.strict ? (areIdle(plan, scope.chunks) ? runIdle : runTerms)(within, plan.strict) : [];
  if (!plan.loose || strict.length >= candidates) return { rows: ranked(strict), isCut };
  const sifted = scope.chunks >= SIFT_FROM_CHUNKS ? siftTerms({ ...scope, vocabulary }, plan.loose) : undefined;
  // The disjunction of words that are everywhere tells nothing, provided that there is something to show.
  if (sifted?.isAllCommon && strict.length >= maxResults) return { rows: ranked(strict), isCut };
  if (scope.isLate()) return { rows: ranked(strict), isCut: true };
  scope.found(strict.slice(0, candidates));
  const loose = sifted ? runSifted(within, sifted, maxResults) : runTerms(within, plan.loose);
  return { rows: ranked(bestFirst(mergeRows(strict, loose))), isCut };
}

/** Tells whether each keyword is in too many chunks to weigh anything. */
function areIdle({ groups }: KeywordPlan, chunks: number): boolean {
  return groups.length > 0 && groups.every(({ passages }) => passages > Math.max(RANKED_WHOLE, chunks * IDLE_SHARE));
}

function bestFirst(rows: RankedRow[]): RankedRow[] {
  return rows.sort((a, b) => b.score - a.score || Number(b.exact) - Number(a.exact) || a.rowid - b.rowid);
}

/** The sources to look into; undefined when the index holds no others, so that no row need be looked at for it. */
function narrowing(db: Database, sources: readonly MemorySource[]): readonly MemorySource[] | undefined {
  const others = allSources.filter((source) => !sources.includes(source));
  const has = prepared(db, "SELECT 1 FROM chunks WHERE source = ? LIMIT 1");
  return others.some((source) => has.get(source) !== undefined) ? sources : undefined;
}
