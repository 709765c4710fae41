import type { MemorySource } from "../index-settings.ts";
import type { Database } from "./database.ts";
import { anyOf, likePattern, type TermQuery } from "./keyword-query.ts";
import { prepared } from "./prepared.ts";
import { mergeRows, type RankedRow, scoreOfRank } from "./ranking.ts";
import type { SiftedTerms } from "./telling-terms.ts";

/**
 * Matching chunks that are ranked in one statement, newest first, so that the time left is looked at in between: `bm25` needs about 1.3 µs for each of them,
 * and in each statement counts anew how many chunks have each term.
 */
const SLICE = 60_000;
/** Maximum number of tokens between words that stand together: what FTS5 takes when it is not told. */
const NEAR_TOKENS = 10;
/** Maximum number of chunks to rank that match only common terms, when others have rarer ones: they come last anyway. */
const MAX_RANKED_COMMON = 2_000;

/** Rows a step searches, and how many it may return. */
export interface TextScope {
  db: Database;
  limit: number;
  /** Only passages of these; undefined when there are no others. */
  sources: readonly MemorySource[] | undefined;
  /** True when nobody waits any more; then `cut` is called if older chunks were not ranked. */
  isLate?(): boolean;
  cut?(): void;
  /** Chunks in the index; undefined: unknown. */
  chunks?: number | undefined;
}

/** Rows for one step of a keyword search, best first, at most `limit`. */
export function runTerms(scope: TextScope, query: TermQuery): RankedRow[] {
  return query.mode === "all" ? allTerms(scope, query) : anyTerm(scope, query);
}

/**
 * Rows for a conjunction of words that are each in more than half of the chunks. `bm25` gives such words no weight, so what tells the rows apart is whether the words
 * stand together; only where few do, all rows are ranked.
 */
export function runIdle(scope: TextScope, query: TermQuery): RankedRow[] {
  if (query.like.length > 0 || query.quoted.length < 2) return allTerms(scope, query);
  const near = rankRows(scope, `NEAR(${query.quoted.join(" ")}, ${NEAR_TOKENS})`);
  return near.length < scope.limit ? allTerms(scope, query) : near.map((row) => ({ ...row, exact: true }));
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
  const rest = telling.length === 0 ? rankRows(scope, anyOf(common)) : rankNewest(scope, anyOf(common));
  return bestOf(mergeRows(rows, rest), scope.limit);
}

function allTerms(scope: TextScope, { match, like }: TermQuery): RankedRow[] {
  const { db, limit, sources } = scope;
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
  if (patterns.length === 0) return rankRows(scope, match).map((row) => ({ ...row, exact: true }));
  const joined = `JOIN chunks c ON c.rowid = chunks_fts.rowid WHERE chunks_fts MATCH ? AND ${contains}${allowed}`;
  const sql = `SELECT chunks_fts.rowid AS rowid, chunks_fts.rank AS rank FROM chunks_fts ${joined} ORDER BY chunks_fts.rank LIMIT ?`;
  const rows = db.prepare(sql).all(match, ...patterns, ...named, limit) as Ranked[];
  return rows.map((row) => ({ ...toRow(row), exact: true }));
}

/** The best of all matching rows, slice by slice, which is quicker than to let FTS5 sort and can be stopped. Most questions need one. */
function rankRows(scope: TextScope, match: string): RankedRow[] {
  const { db, limit, sources, chunks = Number.MAX_SAFE_INTEGER } = scope;
  const matching = `FROM chunks_fts WHERE chunks_fts MATCH ? AND rowid <= ?${onlyOf(sources)} ORDER BY rowid DESC`;
  const best = prepared(db, `SELECT rowid, rank FROM (SELECT rowid, rank ${matching} LIMIT ${SLICE}) ORDER BY rank, rowid LIMIT ?`);
  const below = prepared(db, `SELECT rowid ${matching} LIMIT 1 OFFSET ${SLICE}`).pluck();
  const named = sources ?? [];
  let rows: Ranked[] = [];
  for (let newest: number | undefined = Number.MAX_SAFE_INTEGER; newest !== undefined; ) {
    const slice = best.all(match, newest, ...named, limit) as Ranked[];
    rows = rows.length === 0 ? slice : [...rows, ...slice].sort((a, b) => a.rank - b.rank || a.rowid - b.rowid).slice(0, limit);
    newest = slice.length < limit || chunks <= SLICE ? undefined : (below.get(match, newest, ...named) as number | undefined);
    if (newest !== undefined && scope.isLate?.()) {
      scope.cut?.();
      break;
    }
  }
  return rows.map(toRow);
}

/** The best of the newest matching rows. */
function rankNewest({ db, limit, sources }: TextScope, match: string): RankedRow[] {
  const newest = `SELECT rowid, rank FROM chunks_fts WHERE chunks_fts MATCH ?${onlyOf(sources)} ORDER BY rowid DESC LIMIT ${MAX_RANKED_COMMON}`;
  const best = prepared(db, `SELECT rowid, rank FROM (${newest}) ORDER BY rank, rowid LIMIT ?`);
  return (best.all(match, ...(sources ?? []), limit) as Ranked[]).map(toRow);
}

interface Ranked {
  rowid: number;
  rank: number;
}

function toRow({ rowid, rank }: Ranked): RankedRow {
  return { rowid, score: scoreOfRank(rank), exact: false };
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
