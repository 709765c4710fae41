import type { Database } from "./database.ts";
import { type FoldedText, foldedText, headingRanges, placesOf, type WordPlace } from "./passage-words.ts";
import { prepared } from "./prepared.ts";
import type { TermGroup } from "./query-terms.ts";
import { type RankedRow, rankOfScore } from "./ranking.ts";

/** Rows of the first ranking that are read and ranked again, at least. */
export const RERANKED = 60;

/** Saturation and normalisation by length, as in BM25. */
const K1 = 1.8;
const B = 0.5;
/** Counts of a word in a heading of the passage, in the heading path above it, in the path of the file; in the text it counts 1. */
const IN_HEADING = 2;
const IN_TRAIL = 2;
const IN_PATH = 1;
/** Shares that two words of the question add that stand side by side in the passage as they do in it, and two with one between them; by the weight of the more common one. */
const NEXT_TO = 1;
const NEARLY_NEXT_TO = 0.6;
/** Characters between the beginnings of neighbours, those within which nearness halves, and beyond which it counts nothing. */
const NEIGHBOUR_CHARS = 12;
const HALVING_CHARS = 12;
const MAX_NEAR_CHARS = 200;
/** Weight of the first ranking beside the second. */
const FIRST_SHARE = 0.5;
/** Share that remains of a passage next to a better one of its file: most of it was shown. */
const BESIDE_BETTER = 0.93;
const LEAST_WEIGHT = 1e-6;

/** A passage with the words of the question, group by group. */
interface Weighed {
  row: RankedRow;
  path: string;
  /** How often it has them, weighed by where and in which form. */
  counts: number[];
  places: WordPlace[][];
  length: number;
}

/**
 * Ranks rows again by all that their texts, headings and paths say: BM25 over fields in which the forms of a word count as one word, with nearness of the words.
 * @param rows best first
 * @returns the same rows best first, with scores of the same scale
 */
export function rerank(
  db: Database,
  groups: readonly TermGroup[],
  { rows, chunks }: { rows: readonly RankedRow[]; chunks: number },
): RankedRow[] {
  const read = prepared(db, "SELECT path, trail, text FROM chunks WHERE rowid = ?");
  const found = rows.flatMap((row): Weighed[] => {
    const passage = read.get(row.rowid) as PassageText | undefined;
    return passage ? [weigh(row, passage, groups)] : []; // gone since it was found
  });
  const weights = groups.map((group) => weightOf(group, chunks));
  const meanLength = found.reduce((sum, { length }) => sum + length, 0) / found.length;
  const ranked = found.map((one) => {
    const second = wordsOf(one, { weights, meanLength }) + nearness(one, weights);
    return { ...one, rank: (second + FIRST_SHARE * rankOfScore(one.row.score)) / (1 + FIRST_SHARE) };
  });
  return demoteNeighbours(ranked.sort(compareRanked))
    .sort(compareRanked)
    .map(({ row, rank }) => ({ ...row, score: rank / (1 + rank) }));
}

interface PassageText {
  path: string;
  trail: string;
  text: string;
}

function weigh(row: RankedRow, { path, trail, text }: PassageText, groups: readonly TermGroup[]): Weighed {
  const body = foldedText(text);
  const above = foldedText(trail);
  const file = foldedText(path);
  const headings = headingRanges(body.folded);
  const best = (words: FoldedText, group: TermGroup) => Math.max(0, ...placesOf(words, group).map(({ weight }) => weight));
  const places = groups.map((group) => placesOf(body, group));
  const counts = groups.map((group, number) => {
    const inText = (places[number] ?? []).reduce((sum, { at, weight }) => sum + weight * (isWithin(at, headings) ? IN_HEADING : 1), 0);
    return inText + IN_TRAIL * best(above, group) + IN_PATH * best(file, group);
  });
  return { row, path, counts, places, length: text.length };
}

function isWithin(at: number, ranges: ReadonlyArray<readonly [number, number]>): boolean {
  return ranges.some(([start, end]) => at >= start && at < end);
}

/** How rare a word is. As in FTS5, words in more than half of the passages weigh next to nothing. */
function weightOf({ passages }: TermGroup, chunks: number): number {
  return Math.max(LEAST_WEIGHT, Math.log((Math.max(chunks, passages) - passages + 0.5) / (passages + 0.5)));
}

function wordsOf({ counts, length }: Weighed, { weights, meanLength }: { weights: readonly number[]; meanLength: number }): number {
  const norm = K1 * (1 - B + (B * length) / meanLength);
  return counts.reduce((sum, count, group) => sum + ((weights[group] ?? 0) * count * (K1 + 1)) / (count + norm), 0);
}

function nearness({ places }: Weighed, weights: readonly number[]): number {
  let sum = 0;
  for (const [steps, share] of [
    [1, NEXT_TO],
    [2, NEARLY_NEXT_TO],
  ] as const) {
    for (let group = steps; group < places.length; group++) {
      const weight = Math.min(weights[group - steps] ?? 0, weights[group] ?? 0);
      sum += share * weight * closeness(gapBetween(places[group - steps] ?? [], places[group] ?? []));
    }
  }
  return sum;
}

function closeness(gap: number): number {
  return gap > MAX_NEAR_CHARS ? 0 : 1 / (1 + Math.max(0, gap - NEIGHBOUR_CHARS) / HALVING_CHARS);
}

function gapBetween(some: readonly WordPlace[], others: readonly WordPlace[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const one of some) for (const other of others) if (one.at !== other.at) least = Math.min(least, Math.abs(other.at - one.at));
  return least;
}

type Ranked = Weighed & { rank: number };

/** Passages of a file stand in the index one after the other and share lines. @param ranked best first */
function demoteNeighbours(ranked: readonly Ranked[]): Ranked[] {
  const better = new Map<number, string>();
  return ranked.map((one) => {
    const { rowid } = one.row;
    const isBeside = [rowid - 1, rowid + 1].some((other) => better.get(other) === one.path);
    better.set(rowid, one.path);
    return isBeside ? { ...one, rank: one.rank * BESIDE_BETTER } : one;
  });
}

function compareRanked(a: Ranked, b: Ranked): number {
  return b.rank - a.rank || a.row.rowid - b.row.rowid;
}
