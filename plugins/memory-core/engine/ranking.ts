/** Maps an SQLite `bm25()` rank (negative, lower is better) to a score in (0, 1]. */
export function scoreOfRank(rank: number): number {
  if (!Number.isFinite(rank)) return 0.001;
  return rank < 0 ? -rank / (1 - rank) : 1 / (1 + rank);
}

/** The rank, as a positive number, that has this score. */
export function rankOfScore(score: number): number {
  return score >= 1 ? 1e6 : score / (1 - score);
}

/** A chunk found by one of the two steps of the keyword leg. */
export interface RankedRow {
  rowid: number;
  score: number;
  /** Found by the conjunction: every word of the question is in it. */
  exact: boolean;
}

/** A chunk with the scores of the legs that found it, and what they amount to. */
export interface ScoredRow extends RankedRow {
  textScore?: number;
  vectorScore?: number;
}

export interface PlacedRow extends ScoredRow {
  path: string;
  startLine: number;
}

/** Union by chunk of the two steps: the better score counts, and exact stays exact. */
export function mergeRows(...legs: ReadonlyArray<readonly RankedRow[]>): RankedRow[] {
  const merged = new Map<number, RankedRow>();
  for (const row of legs.flat()) {
    const known = merged.get(row.rowid);
    merged.set(row.rowid, known ? { ...row, score: Math.max(known.score, row.score), exact: known.exact || row.exact } : row);
  }
  return [...merged.values()];
}

/** Legs that took part. */
export type SearchMode = "hybrid" | "vector" | "fts-only";

export interface Weights {
  vectorWeight: number;
  textWeight: number;
}

const defaultWeights: Weights = { vectorWeight: 0.7, textWeight: 0.3 };

/** Each weight within [0, 1], both together 1. */
export function normaliseWeights(weights: Weights): Weights {
  const vectorWeight = Math.min(1, Math.max(0, weights.vectorWeight));
  const textWeight = Math.min(1, Math.max(0, weights.textWeight));
  const sum = vectorWeight + textWeight;
  return sum > 0 ? { vectorWeight: vectorWeight / sum, textWeight: textWeight / sum } : defaultWeights;
}

/** Union of both legs by chunk: the weighted sum of their scores, where a leg that did not find it counts 0. A leg alone counts whole. */
export function joinLegs(
  text: readonly RankedRow[],
  vector: ReadonlyArray<{ rowid: number; score: number }>,
  { mode, weights }: { mode: SearchMode; weights: Weights },
): ScoredRow[] {
  const rows = new Map<number, Omit<ScoredRow, "score">>();
  for (const { rowid, score, exact } of text) rows.set(rowid, { rowid, exact, textScore: score });
  for (const { rowid, score } of vector) rows.set(rowid, { rowid, exact: false, ...rows.get(rowid), vectorScore: score });
  const { vectorWeight, textWeight } = normaliseWeights(weights);
  const scoreOf = ({ textScore = 0, vectorScore = 0 }: Omit<ScoredRow, "score">) =>
    mode === "hybrid" ? vectorWeight * vectorScore + textWeight * textScore : mode === "vector" ? vectorScore : textScore;
  return [...rows.values()].map((row) => ({ ...row, score: scoreOf(row) }));
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
 * Selects the rows to return: those at or above `minScore`, and in free places keyword hits below it, because a small store scores every hit near
 * zero. Words alone: those that are exact, or with nothing so far the loose ones. Vectors alone: none, since everything is near to something.
 */
export function applyThreshold<T extends ScoredRow>(
  rows: readonly T[],
  { maxResults, minScore, explicit }: Threshold,
  mode: SearchMode,
): T[] {
  const strict = rows.filter((row) => row.score >= minScore);
  if (explicit || mode === "vector") return strict.slice(0, maxResults);
  const below = rows.filter((row) => row.score < minScore && row.textScore !== undefined);
  if (mode === "hybrid") return [...strict, ...below].slice(0, maxResults);
  const shown = [...strict, ...below.filter((row) => row.exact)];
  return (shown.length > 0 ? shown : below).slice(0, maxResults);
}

/** Maximum number of rows of each leg. */
export function candidateCount(maxResults: number, multiplier: number): number {
  return Math.min(200, Math.max(1, Math.floor(maxResults * multiplier)));
}
