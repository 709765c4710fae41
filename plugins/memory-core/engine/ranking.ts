/** Maps an SQLite `bm25()` rank (negative, lower is better) to a score in (0, 1]. */
export function scoreOfRank(rank: number): number {
  if (!Number.isFinite(rank)) return 0.001;
  return rank < 0 ? -rank / (1 - rank) : 1 / (1 + rank);
}

/** A chunk found by one of the two steps. */
export interface RankedRow {
  rowid: number;
  score: number;
  /** Found by the conjunction: every word of the question is in it. */
  exact: boolean;
}

export interface PlacedRow extends RankedRow {
  path: string;
  startLine: number;
}

/** Union by chunk: the better score counts, and exact stays exact. */
export function mergeRows(...legs: ReadonlyArray<readonly RankedRow[]>): RankedRow[] {
  const merged = new Map<number, RankedRow>();
  for (const row of legs.flat()) {
    const known = merged.get(row.rowid);
    merged.set(row.rowid, known ? { ...row, score: Math.max(known.score, row.score), exact: known.exact || row.exact } : row);
  }
  return [...merged.values()];
}

/** Best first: score, then exact before loose, then path and line, so that the same question has the same answer. */
export function compareRows(a: PlacedRow, b: PlacedRow): number {
  return b.score - a.score || Number(b.exact) - Number(a.exact) || compareText(a.path, b.path) || a.startLine - b.startLine;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export interface Threshold {
  maxResults: number;
  minScore: number;
  /** The caller named the score, so it holds as it is. */
  explicit: boolean;
}

/**
 * What is shown of sorted rows, keyword mode: those at or above `minScore`; free places go to exact hits below it, because a
 * small store scores every hit near zero; with nothing so far the loose hits are shown.
 */
export function applyThreshold<T extends RankedRow>(rows: readonly T[], { maxResults, minScore, explicit }: Threshold): T[] {
  const strict = rows.filter((row) => row.score >= minScore);
  if (explicit) return strict.slice(0, maxResults);
  const shown = rows.filter((row) => row.score >= minScore || row.exact);
  return (shown.length > 0 ? shown : rows).slice(0, maxResults);
}

/** How many rows each step may bring. */
export function candidateCount(maxResults: number, multiplier: number): number {
  return Math.min(200, Math.max(1, Math.floor(maxResults * multiplier)));
}
