import { isRecord } from "svc/sdk";
import { daysSince } from "./days.ts";

/** How often the phases have picked an entry. */
export interface PhaseHits {
  lightHits: number;
  remHits: number;
  lastLightAt?: string;
  lastRemAt?: string;
}

/** Hits by the key of the entry. */
export type PhaseSignals = Map<string, PhaseHits>;

const HALF_LIFE_DAYS = 14;
const LIGHT_WEIGHT = 0.05;
const REM_WEIGHT = 0.08;

/** Hits of one phase of a sweep. */
export interface NewHits {
  keys: readonly string[];
  at: number;
  /** Day of `at` is that of this moment: what was counted today is not counted again, so a sweep that was cut off and repeated changes nothing. */
  isToday?(moment: string): boolean;
}

/** Counts one hit of a phase for each entry. */
export function countHits(signals: PhaseSignals, phase: "light" | "rem", { keys, at, isToday }: NewHits): void {
  const moment = new Date(at).toISOString();
  for (const key of keys) {
    const before = signals.get(key) ?? { lightHits: 0, remHits: 0 };
    const last = phase === "light" ? before.lastLightAt : before.lastRemAt;
    if (last !== undefined && isToday?.(last)) continue;
    const hit =
      phase === "light" ? { lightHits: before.lightHits + 1, lastLightAt: moment } : { remHits: before.remHits + 1, lastRemAt: moment };
    signals.set(key, { ...before, ...hit });
  }
}

/** Addition to the deep score of an entry that the phases have picked: `0.05 ln(1+light)/ln 7 + 0.08 ln(1+rem)/ln 7`, each halved every 14 days. Pure. */
export function phaseBoost(hits: PhaseHits | undefined, now: number): number {
  if (!hits) return 0;
  const part = (count: number, at: string | undefined, weight: number) =>
    weight * clamp(Math.log1p(count) / Math.log(7)) * decay(daysSince(at, now));
  return part(hits.lightHits, hits.lastLightAt, LIGHT_WEIGHT) + part(hits.remHits, hits.lastRemAt, REM_WEIGHT);
}

/** Share of a value that is left after so many days. */
export function decay(days: number, halfLifeDays = HALF_LIFE_DAYS): number {
  return Number.isFinite(days) ? Math.exp((-Math.LN2 / halfLifeDays) * days) : 0;
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/** Stored hits; undefined for what is none. */
export function toPhaseHits(value: unknown): PhaseHits | undefined {
  if (!isRecord(value)) return undefined;
  const { lightHits, remHits, lastLightAt, lastRemAt } = value;
  const areCounts = [lightHits, remHits].every((count) => Number.isSafeInteger(count) && Number(count) >= 0);
  const areMoments = [lastLightAt, lastRemAt].every(
    (at) => at === undefined || (typeof at === "string" && Number.isFinite(Date.parse(at))),
  );
  return areCounts && areMoments ? (value as unknown as PhaseHits) : undefined;
}
