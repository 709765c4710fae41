import { daysBetween, daysSince } from "./days.ts";
import { decay, type PhaseSignals, phaseBoost } from "./phase-signals.ts";
import { meanScore, type RecallEntry, signalCount } from "./recall-entry.ts";

/** Parts of a deep score, each 0 to 1 before its weight; `phaseBoost` is added as it is. */
export interface DeepComponents {
  relevance: number;
  frequency: number;
  diversity: number;
  recency: number;
  consolidation: number;
  richness: number;
  phaseBoost: number;
}

export const DEEP_WEIGHTS = {
  relevance: 0.3,
  frequency: 0.24,
  diversity: 0.15,
  recency: 0.15,
  consolidation: 0.1,
  richness: 0.06,
} as const;

/** Conditions of a promotion. */
export interface Thresholds {
  minScore: number;
  /** Least evidence. */
  minRecallCount: number;
  /** Least number of different queries or days, whichever is more. */
  minUniqueQueries: number;
  maxAgeDays?: number;
  limit: number;
}

/** Thresholds of the sweep at night. */
export const SWEEP_THRESHOLDS: Thresholds = { minScore: 0.8, minRecallCount: 3, minUniqueQueries: 3, maxAgeDays: 30, limit: 10 };
/** Thresholds of `svc memory promote`. */
export const MANUAL_THRESHOLDS: Thresholds = { minScore: 0.75, minRecallCount: 3, minUniqueQueries: 2, limit: 10 };

/** An entry with its deep score and every reason why it would not be promoted. */
export interface Candidate {
  entry: RecallEntry;
  score: number;
  components: DeepComponents;
  /** Empty: it may be promoted. */
  blockedBy: string[];
}

/** Score of an entry for the long-term memory, and its parts. Pure. */
export function deepScore(entry: RecallEntry, phases: PhaseSignals, now: number): { score: number; components: DeepComponents } {
  const components: DeepComponents = {
    relevance: meanScore(entry),
    frequency: clamp(Math.log1p(signalCount(entry)) / Math.log(11)),
    diversity: clamp(variety(entry) / 5),
    recency: clamp(decay(daysSince(entry.lastRecalledAt, now))),
    consolidation: consolidation(entry),
    richness: clamp(entry.conceptTags.length / 6),
    phaseBoost: phaseBoost(phases.get(entry.key), now),
  };
  let score = components.phaseBoost;
  for (const [name, weight] of Object.entries(DEEP_WEIGHTS)) score += weight * components[name as keyof typeof DEEP_WEIGHTS];
  return { score: clamp(score), components };
}

/** Different queries or days, whichever is more. */
export function variety({ queryHashes, recallDays }: RecallEntry): number {
  return Math.max(new Set(queryHashes).size, new Set(recallDays).size);
}

/** How far the evidence is spread over days: none 0, one day 0.2, more by their number and span; staged statements count by thirds. Pure. */
export function consolidation({ recallDays, groundedCount }: RecallEntry): number {
  const days = [...new Set(recallDays)].sort();
  const span = days.length < 2 ? 0 : daysBetween(days[0] as string, days.at(-1) as string);
  const spread = 0.55 * clamp(Math.log(days.length) / Math.log(5)) + 0.45 * clamp(span / 7);
  const byDays = days.length === 0 ? 0 : days.length === 1 ? 0.2 : clamp(spread);
  return Math.max(byDays, clamp(groundedCount / 3));
}

export interface RankOptions {
  phases: PhaseSignals;
  now: number;
  thresholds: Thresholds;
  includePromoted?: boolean;
}

/** All entries, the best first, each with what stands against it. Pure. */
export function rankDeep(entries: readonly RecallEntry[], { phases, now, thresholds, includePromoted = false }: RankOptions): Candidate[] {
  return entries
    .filter((entry) => includePromoted || entry.promotedAt === undefined)
    .map((entry) => ({ entry, ...deepScore(entry, phases, now), blockedBy: [] as string[] }))
    .map((candidate) => ({ ...candidate, blockedBy: obstacles(candidate, thresholds, now) }))
    .sort((a, b) => b.score - a.score || b.entry.recallCount - a.entry.recallCount || a.entry.key.localeCompare(b.entry.key));
}

function obstacles(
  { entry, score }: Candidate,
  { minScore, minRecallCount, minUniqueQueries, maxAgeDays }: Thresholds,
  now: number,
): string[] {
  const count = signalCount(entry);
  const kinds = variety(entry);
  const age = daysSince(entry.lastRecalledAt, now);
  return [
    entry.promotedAt === undefined ? "" : `promoted already, at ${entry.promotedAt}`,
    entry.isUntrusted ? "comes from a group or from outside; only a person moves it into long-term memory" : "",
    score >= minScore ? "" : `score ${score.toFixed(3)} is below ${minScore}`,
    count >= minRecallCount ? "" : `${count} signals, ${minRecallCount} are needed`,
    kinds >= minUniqueQueries ? "" : `${kinds} different queries or days, ${minUniqueQueries} are needed`,
    maxAgeDays === undefined || age <= maxAgeDays ? "" : `last recalled ${Math.floor(age)} days ago, at most ${maxAgeDays} are allowed`,
  ].filter((reason) => reason !== "");
}

function clamp(value: number): number {
  return Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : 0;
}
