import { daysSince } from "./days.ts";
import { meanScore, type RecallEntry, signalCount } from "./recall-entry.ts";
import { groupSimilar } from "./similarity.ts";

export const LIGHT = { lookbackDays: 2, limit: 100, similarity: 0.9 } as const;
/** Entries that are compared; a sweep looks at the newest. */
const MAX_COMPARED = 300;

/** A statement that the light phase has picked, with those of its file that say the same. */
export interface Staged {
  entry: RecallEntry;
  /** Keys of the entries that were merged into it. */
  merged: string[];
  /** Mean score of the evidence. */
  confidence: number;
  /** Searches that found it or one of those merged into it. */
  recalls: number;
}

/** Light phase: what was touched in the last two days, last recalled first, at most 100. Pure. */
export function lightStage(entries: readonly RecallEntry[], now: number): Staged[] {
  const recent = entries
    .filter((entry) => entry.promotedAt === undefined && daysSince(entry.lastRecalledAt, now) <= LIGHT.lookbackDays)
    .sort((a, b) => b.lastRecalledAt.localeCompare(a.lastRecalledAt) || a.key.localeCompare(b.key))
    .slice(0, MAX_COMPARED);
  return groupSimilar(recent, {
    textOf: ({ snippet }) => snippet,
    threshold: LIGHT.similarity,
    limit: LIGHT.limit,
    isComparable: (a, b) => a.path === b.path,
  }).map(toStaged);
}

function toStaged(group: RecallEntry[]): Staged {
  const best = group.reduce((top, entry) => (signalCount(entry) > signalCount(top) ? entry : top));
  return {
    entry: best,
    merged: group.filter((entry) => entry !== best).map(({ key }) => key),
    confidence: meanScore(best),
    recalls: group.reduce((sum, { recallCount }) => sum + recallCount, 0),
  };
}
