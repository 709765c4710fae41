import { hasCjk } from "./cjk.ts";

const asciiWords = /[a-z0-9_]+/g;

/** Words of a snippet, and of scripts without spaces each character and each pair that stands together. */
export function diversityTokens(text: string): Set<string> {
  const lower = text.toLowerCase();
  const tokens = new Set<string>(lower.match(asciiWords) ?? []);
  let previous = "";
  for (const character of lower) {
    const isWide = hasCjk(character);
    if (isWide) {
      tokens.add(character);
      if (previous !== "") tokens.add(previous + character);
    }
    previous = isWide ? character : "";
  }
  return tokens;
}

/** Jaccard similarity; two empty sets are equal, one empty set is like nothing. */
export function similarityOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 && b.size === 0) return 1;
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  let common = 0;
  for (const token of small) if (large.has(token)) common++;
  return common / (a.size + b.size - common);
}

interface Waiting<T> {
  row: T;
  relevance: number;
  tokens: ReadonlySet<string>;
  /** Similarity to the most similar row taken so far. */
  nearest: number;
}

export interface DiversityOptions<T> {
  /** 1: order by score alone; 0: only what is unlike the rest. Anything that is no number: 0.7. */
  lambda: number;
  textOf(row: T): string;
  /** True once the rows taken so far are all that will be shown; the others follow in their old order. */
  isEnough(taken: readonly T[]): boolean;
}

/**
 * Maximal marginal relevance: puts rows (best first) into an order in which each next one is relevant and unlike those before it. Scores stay.
 */
export function diversify<T extends { score: number }>(rows: readonly T[], { lambda, textOf, isEnough }: DiversityOptions<T>): T[] {
  const weight = Number.isFinite(lambda) ? Math.min(1, Math.max(0, lambda)) : 0.7;
  if (weight === 1 || rows.length < 2) return [...rows];
  const waiting = weigh(rows, textOf);
  const taken: T[] = [];
  while (waiting.length > 0 && !isEnough(taken)) {
    const best = waiting.reduce((top, one) => (marginalValue(one, weight) > marginalValue(top, weight) ? one : top));
    waiting.splice(waiting.indexOf(best), 1);
    taken.push(best.row);
    for (const one of waiting) one.nearest = Math.max(one.nearest, similarityOf(one.tokens, best.tokens));
  }
  return [...taken, ...waiting.map(({ row }) => row)];
}

function marginalValue({ relevance, nearest }: Waiting<unknown>, weight: number): number {
  return weight * relevance - (1 - weight) * nearest;
}

function weigh<T extends { score: number }>(rows: readonly T[], textOf: (row: T) => string): Array<Waiting<T>> {
  const scores = rows.map((row) => row.score);
  const min = Math.min(...scores);
  const range = Math.max(...scores) - min;
  return rows.map((row) => ({
    row,
    relevance: range === 0 ? 1 : (row.score - min) / range,
    tokens: diversityTokens(textOf(row)),
    nearest: 0,
  }));
}
