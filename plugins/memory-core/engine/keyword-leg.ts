import type { MemorySource } from "../index-settings.ts";
import type { Database } from "./database.ts";
import { likePattern, type TermQuery } from "./keyword-query.ts";
import { type RankedRow, scoreOfRank } from "./ranking.ts";

/** A word in more than this share of the chunks tells nothing apart. */
const COMMON_SHARE = 0.2;

/** Where a step looks, and how many rows it may bring. */
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

/** True when each word of the query is in more than a fifth of the chunks. */
export function isAllCommon(db: Database, query: TermQuery, chunks: number): boolean {
  if (query.like.length > 0 || query.quoted.length === 0) return false;
  const limit = Math.floor(chunks * COMMON_SHARE) + 1;
  const count = db.prepare("SELECT count(*) FROM (SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? LIMIT ?)").pluck();
  return query.quoted.every((word) => Number(count.get(word, limit)) >= limit);
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
  const joined = `JOIN chunks c ON c.rowid = chunks_fts.rowid WHERE chunks_fts MATCH ? AND ${contains}${allowed}`;
  const where = patterns.length > 0 ? joined : `WHERE chunks_fts MATCH ?${onlyOf(sources)}`;
  const sql = `SELECT chunks_fts.rowid AS rowid, chunks_fts.rank AS rank FROM chunks_fts ${where} ORDER BY chunks_fts.rank LIMIT ?`;
  const rows = db.prepare(sql).all(match, ...patterns, ...named, limit) as Array<{ rowid: number; rank: number }>;
  return rows.map(({ rowid, rank }) => ({ rowid, score: scoreOfRank(rank), exact: true }));
}

/** Words by `bm25`, other terms by the share of them a chunk has; a chunk found both ways gains by both. */
function anyTerm(scope: TextScope, query: TermQuery): RankedRow[] {
  const { db, limit, sources } = scope;
  const scores = new Map<number, number>();
  const add = (rowid: number, score: number) => scores.set(rowid, 1 - (1 - (scores.get(rowid) ?? 0)) * (1 - score));
  if (query.match !== undefined) {
    const ranked = db.prepare(`SELECT rowid, rank FROM chunks_fts WHERE chunks_fts MATCH ?${onlyOf(sources)} ORDER BY rank LIMIT ?`);
    const rows = ranked.all(query.match, ...(sources ?? []), limit) as Array<{ rowid: number; rank: number }>;
    for (const row of rows) add(row.rowid, scoreOfRank(row.rank));
  }
  for (const row of likeShare(scope, query.like)) add(row.rowid, row.share);
  return [...scores]
    .map(([rowid, score]) => ({ rowid, score, exact: false }))
    .sort((a, b) => b.score - a.score || a.rowid - b.rowid)
    .slice(0, limit);
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
