import type { MemorySource } from "../index-settings.ts";
import type { Database } from "./database.ts";
import { anyOf, likePattern, type TermQuery } from "./keyword-query.ts";
import { mergeRows, type RankedRow, scoreOfRank } from "./ranking.ts";
import type { SiftedTerms } from "./telling-terms.ts";

/** Maximum number of matching chunks to rank; above it the newest are ranked, because `bm25` scores each of them separately. */
const MAX_RANKED = 20_000;
/** Maximum number of chunks to rank that match only common terms; they come last anyway. */
const MAX_RANKED_COMMON = 4_000;

/** Rows a step searches, and how many it may return. */
export interface TextScope {
  db: Database;
  limit: number;
  /** Only passages of these; undefined when there are no others. */
  sources: readonly MemorySource[] | undefined;
}

/** Rows for one step of a keyword search, best first, at most `limit`. */
export function runTerms(scope: TextScope, query: TermQuery): RankedRow[] {
  return query.mode === "all" ? allTerms(scope, query) : anyTerm(scope, query);
}

/**
 * The best rows of a disjunction, with the scores that ranking all its rows would give them: those that have a telling term, once by these terms alone and
 * once together with what else they have. Not ranked are chunks without a telling term, unless fewer than `wanted` are found.
 */
export function runSifted(scope: TextScope, { telling, weighing, idle }: SiftedTerms, wanted: number): RankedRow[] {
  const steps: RankedRow[][] = [];
  if (telling.length > 0) steps.push(rankRows(scope, anyOf(telling)));
  if (telling.length > 0 && weighing.length > 0) steps.push(rankRows(scope, `(${anyOf(telling)}) AND (${anyOf(weighing)})`));
  const rows = mergeRows(...steps);
  const common = weighing.length > 0 ? weighing : idle;
  if (rows.length >= wanted || common.length === 0) return bestOf(rows, scope.limit);
  return bestOf(mergeRows(rows, rankRows(scope, anyOf(common), MAX_RANKED_COMMON)), scope.limit);
}

function allTerms({ db, limit, sources }: TextScope, { match, like }: TermQuery): RankedRow[] {
  const patterns = like.map(likePattern);
  const contains = patterns.map(() => "c.text LIKE ? ESCAPE '\\'").join(" AND ");
  const allowed = sources ? ` AND ${among("c.source", sources)}` : "";
  const named = sources ?? [];
  if (match === undefined) {
    const sql = `SELECT c.rowid FROM chunks c WHERE ${contains}${allowed} ORDER BY c.path, c.start_line LIMIT ?`;
    const rowids = db
      .prepare(sql)
      .pluck()
      .all(...patterns, ...named, limit) as number[];
    return rowids.map((rowid) => ({ rowid, score: 1, exact: true }));
  }
  if (patterns.length === 0) return rankRows({ db, limit, sources }, match).map((row) => ({ ...row, exact: true }));
  const joined = `JOIN chunks c ON c.rowid = chunks_fts.rowid WHERE chunks_fts MATCH ? AND ${contains}${allowed}`;
  const sql = `SELECT chunks_fts.rowid AS rowid, chunks_fts.rank AS rank FROM chunks_fts ${joined} ORDER BY chunks_fts.rank LIMIT ?`;
  const rows = db.prepare(sql).all(match, ...patterns, ...named, limit) as Array<{ rowid: number; rank: number }>;
  return rows.map(({ rowid, rank }) => ({ rowid, score: scoreOfRank(rank), exact: true }));
}

/** The best of the newest `ranked` rows, which is quicker than to let FTS5 sort. */
function rankRows({ db, limit, sources }: TextScope, match: string, ranked = MAX_RANKED): RankedRow[] {
  const newest = `SELECT rowid, rank FROM chunks_fts WHERE chunks_fts MATCH ?${onlyOf(sources)} ORDER BY rowid DESC LIMIT ${ranked}`;
  const best = db.prepare(`SELECT rowid, rank FROM (${newest}) ORDER BY rank, rowid LIMIT ?`);
  const rows = best.all(match, ...(sources ?? []), limit) as Array<{ rowid: number; rank: number }>;
  return rows.map(({ rowid, rank }) => ({ rowid, score: scoreOfRank(rank), exact: false }));
}

/** Words by `bm25`, other terms by the share of them a chunk has; a chunk found both ways gains by both. */
function anyTerm(scope: TextScope, query: TermQuery): RankedRow[] {
  const scores = new Map<number, number>();
  const add = (rowid: number, score: number) => scores.set(rowid, 1 - (1 - (scores.get(rowid) ?? 0)) * (1 - score));
  if (query.match !== undefined) for (const row of rankRows(scope, query.match)) add(row.rowid, row.score);
  for (const row of likeShare(scope, query.like)) add(row.rowid, row.share);
  const rows = [...scores].map(([rowid, score]) => ({ rowid, score, exact: false }));
  return bestOf(rows, scope.limit);
}

function bestOf(rows: RankedRow[], limit: number): RankedRow[] {
  return rows.sort((a, b) => b.score - a.score || a.rowid - b.rowid).slice(0, limit);
}

/** Chunks with at least one term; longer terms weigh more, since two characters side by side say more than each alone. */
function likeShare({ db, limit, sources }: TextScope, terms: readonly string[]): Array<{ rowid: number; share: number }> {
  if (terms.length === 0) return [];
  const weights = terms.map((term) => [...term].length ** 2);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const found = weights.map((weight) => `(text LIKE ? ESCAPE '\\') * ${weight}`).join(" + ");
  const where = sources ? ` WHERE ${among("source", sources)}` : "";
  const sql = `SELECT rowid, found FROM (SELECT rowid, path, start_line, ${found} AS found FROM chunks${where})
    WHERE found > 0 ORDER BY found DESC, path, start_line LIMIT ?`;
  const rows = db.prepare(sql).all(...terms.map(likePattern), ...(sources ?? []), limit) as Array<{ rowid: number; found: number }>;
  return rows.map((row) => ({ rowid: row.rowid, share: row.found / total }));
}

/** The text table knows no sources. The plus keeps SQLite from asking it for each of these rows instead of for the words. */
function onlyOf(sources: readonly MemorySource[] | undefined): string {
  return sources ? ` AND +chunks_fts.rowid IN (SELECT rowid FROM chunks WHERE ${among("source", sources)})` : "";
}

function among(column: string, sources: readonly MemorySource[]): string {
  return `${column} IN (${sources.map(() => "?").join(", ")})`;
}
