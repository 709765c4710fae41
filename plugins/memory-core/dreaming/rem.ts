import { daysSince } from "./days.ts";
import { meanScore, type RecallEntry, signalCount } from "./recall-entry.ts";
import { groupSimilar } from "./similarity.ts";

export const REM = { lookbackDays: 7, themes: 10, strength: 0.75, truths: 3, confidence: 0.45, similarity: 0.88 } as const;
/** Candidates that are compared for sameness. */
const MAX_COMPARED = 100;

/** A subject that many entries share. */
export interface Theme {
  tag: string;
  /** Entries that have it. */
  count: number;
  /** 0 to 1. */
  strength: number;
}

/** A statement that may hold for longer. */
export interface Truth {
  entry: RecallEntry;
  confidence: number;
}

/** REM phase: subjects and candidate truths of the last seven days. Pure. */
export function remStage(entries: readonly RecallEntry[], now: number): { themes: Theme[]; truths: Truth[] } {
  const recent = entries.filter((entry) => entry.promotedAt === undefined && daysSince(entry.lastRecalledAt, now) <= REM.lookbackDays);
  return { themes: themesOf(recent), truths: truthsOf(recent) };
}

/** Strength of a subject among so many entries: `min(1, 2 count / entries)`. */
export function themeStrength(count: number, entries: number): number {
  return Math.min(1, (2 * count) / Math.max(1, entries));
}

function themesOf(entries: readonly RecallEntry[]): Theme[] {
  const counts = new Map<string, number>();
  for (const { conceptTags } of entries) for (const tag of new Set(conceptTags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return (
    [...counts]
      // One entry alone makes no pattern, however few entries there are.
      .filter(([, count]) => count >= 2)
      .map(([tag, count]) => ({ tag, count, strength: themeStrength(count, entries.length) }))
      .filter(({ strength }) => strength >= REM.strength)
      .sort((a, b) => b.strength - a.strength || b.count - a.count || a.tag.localeCompare(b.tag))
      .slice(0, REM.themes)
  );
}

/** Confidence in a statement: `0.45 mean + 0.25 min(1, ln(1+recalls)/ln 7) + 0.2 min(1, days/3) + 0.1 min(1, tags/6)`. Pure. */
export function truthConfidence(entry: RecallEntry): number {
  const recalls = Math.min(1, Math.log1p(entry.recallCount) / Math.log(7));
  const days = Math.min(1, new Set(entry.recallDays).size / 3);
  const tags = Math.min(1, entry.conceptTags.length / 6);
  return 0.45 * meanScore(entry) + 0.25 * recalls + 0.2 * days + 0.1 * tags;
}

function truthsOf(entries: readonly RecallEntry[]): Truth[] {
  const ranked = entries
    .map((entry) => ({ entry, confidence: truthConfidence(entry) }))
    .filter(({ confidence }) => confidence >= REM.confidence)
    .sort((a, b) => b.confidence - a.confidence || signalCount(b.entry) - signalCount(a.entry) || a.entry.key.localeCompare(b.entry.key))
    .slice(0, MAX_COMPARED);
  const groups = groupSimilar(ranked, { textOf: ({ entry }) => entry.snippet, threshold: REM.similarity, limit: REM.truths });
  return groups.map(([first]) => first as Truth);
}
