import type { MemorySource, Tokenizer } from "../index-settings.ts";
import type { Database } from "./database.ts";
import { isAllCommon, runTerms, type TextScope } from "./keyword-leg.ts";
import { planKeywords } from "./keyword-query.ts";
import { mergeRows, type RankedRow } from "./ranking.ts";

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

/** Below this many chunks the second step costs nothing, so it is never spared. */
const SPARE_FROM_CHUNKS = 500;
const allSources: readonly MemorySource[] = ["memory", "sessions"];

/** The keyword leg: all words first, then any keyword when that gives too few. */
export function findByWords(scope: TextLegScope, question: TextQuestion): { rows: RankedRow[]; isCut: boolean } {
  const { candidates } = question;
  const within: TextScope = { db: scope.db, limit: candidates, sources: narrowing(scope.db, question.sources) };
  const plan = planKeywords(question.query, scope.tokenizer);
  const strict = plan.strict ? runTerms(within, plan.strict) : [];
  const isDone = !plan.loose || strict.length >= candidates;
  if (!plan.loose || isDone) return { rows: strict, isCut: false };
  const mayBeSpared = scope.chunks >= SPARE_FROM_CHUNKS && strict.length >= question.maxResults;
  // The disjunction of words that are everywhere is slow and tells nothing, provided that there is something to show.
  if (mayBeSpared && isAllCommon(scope.db, plan.loose, scope.chunks)) return { rows: strict, isCut: false };
  if (scope.isLate()) return { rows: strict, isCut: true };
  scope.found(strict);
  return { rows: mergeRows(strict, runTerms(within, plan.loose)), isCut: false };
}

/** The sources to look into; undefined when the index holds no others, so that no row need be looked at for it. */
function narrowing(db: Database, sources: readonly MemorySource[]): readonly MemorySource[] | undefined {
  const others = allSources.filter((source) => !sources.includes(source));
  const has = db.prepare("SELECT 1 FROM chunks WHERE source = ? LIMIT 1");
  return others.some((source) => has.get(source) !== undefined) ? sources : undefined;
}
