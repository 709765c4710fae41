import { expect, test } from "vitest";
import { DAY, noon, testEntry } from "../../../test/fixtures/dreams.ts";
import { consolidation, deepScore, rankDeep, SWEEP_THRESHOLDS } from "./deep.ts";
import { countHits, type PhaseSignals, phaseBoost } from "./phase-signals.ts";

const now = noon("2026-04-10");
const days = (...names: number[]) => names.map((day) => `2026-04-${String(day).padStart(2, "0")}`);
const queries = (count: number) => Array.from({ length: count }, (_, i) => `query-${i}`);
const partsOf = (over: Parameters<typeof testEntry>[0], phases: PhaseSignals = new Map()) =>
  deepScore(testEntry(over), phases, now).components;

test("relevance is the mean score of all evidence, frequency its logarithm up to ten", () => {
  expect(partsOf({ recallCount: 2, dailyCount: 1, groundedCount: 1, totalScore: 2 })).toMatchObject({ relevance: 0.5 });
  expect(partsOf({ recallCount: 10 }).frequency).toBeCloseTo(1, 6);
  expect(partsOf({ recallCount: 3 }).frequency).toBeCloseTo(Math.log(4) / Math.log(11), 6);
  expect(partsOf({ recallCount: 1_000, totalScore: 9_999 })).toMatchObject({ relevance: 1, frequency: 1 });
});

test("diversity counts different queries or days, whichever is more, up to five", () => {
  expect(partsOf({ queryHashes: queries(4), recallDays: days(1, 2) }).diversity).toBeCloseTo(0.8, 6);
  expect(partsOf({ queryHashes: queries(1), recallDays: days(1, 2, 3) }).diversity).toBeCloseTo(0.6, 6);
  expect(partsOf({ queryHashes: queries(9) }).diversity).toBe(1);
});

test("recency halves every fourteen days", () => {
  const at = (age: number) => partsOf({ lastRecalledAt: new Date(now - age * DAY).toISOString() }).recency;
  expect([at(0), at(14), at(28)].map((value) => value.toFixed(6))).toEqual(["1.000000", "0.500000", "0.250000"]);
});

test("consolidation grows with days and their span; three staged statements are enough", () => {
  const of = (recallDays: string[], groundedCount = 0) => consolidation(testEntry({ recallDays, groundedCount }));
  const table: Array<[string[], number, number]> = [
    [[], 0, 0],
    [days(1), 0, 0.2],
    [days(1, 2), 0, 0.55 * (Math.log(2) / Math.log(5)) + 0.45 / 7],
    [days(1, 3, 8), 0, 0.55 * (Math.log(3) / Math.log(5)) + 0.45],
    [days(1, 2, 3, 4, 8), 0, 1],
    [[], 1, 1 / 3],
    [days(1), 3, 1],
  ];
  for (const [recallDays, grounded, value] of table) expect(of(recallDays, grounded), recallDays.join()).toBeCloseTo(value, 6);
});

test("richness is the share of six tags", () => {
  expect(partsOf({ conceptTags: ["a", "b", "c"] }).richness).toBe(0.5);
});

test("phases add a boost that is bounded and halves every fourteen days", () => {
  const signals: PhaseSignals = new Map();
  for (let i = 0; i < 6; i += 1) countHits(signals, "light", { keys: ["k"], at: now });
  expect(phaseBoost(signals.get("k"), now)).toBeCloseTo(0.05, 6);
  for (let i = 0; i < 50; i += 1) countHits(signals, "rem", { keys: ["k"], at: now });
  expect(phaseBoost(signals.get("k"), now)).toBeCloseTo(0.13, 6);
  expect(phaseBoost(signals.get("k"), now + 14 * DAY)).toBeCloseTo(0.065, 6);
  expect(phaseBoost(undefined, now)).toBe(0);
});

test("the score is the weighted sum and never more than one", () => {
  const full = { recallCount: 10, totalScore: 10, queryHashes: queries(5), recallDays: days(1, 2, 3, 4, 10), conceptTags: queries(6) };
  expect(deepScore(testEntry(full), new Map(), now).score).toBeCloseTo(1, 6);
  const half = { ...full, totalScore: 5, conceptTags: [] };
  expect(deepScore(testEntry(half), new Map(), now).score).toBeCloseTo(1 - 0.15 - 0.06, 6);
});

test("each threshold of the sweep stands against an entry one below it, and says why", () => {
  const good = testEntry({ recallCount: 10, totalScore: 9, queryHashes: queries(5), recallDays: days(1, 4, 9), conceptTags: queries(6) });
  const blocked = (entry: typeof good) =>
    rankDeep([entry], { phases: new Map(), now, thresholds: SWEEP_THRESHOLDS })[0]?.blockedBy.join("; ");
  expect(blocked(good)).toBe("");
  expect(blocked({ ...good, totalScore: 1 })).toContain("is below 0.8");
  expect(blocked({ ...good, recallCount: 2, totalScore: 1.8 })).toContain("2 signals, 3 are needed");
  expect(blocked({ ...good, queryHashes: queries(2), recallDays: days(1, 2) })).toContain("2 different queries or days, 3 are needed");
  expect(blocked({ ...good, lastRecalledAt: new Date(now - 31 * DAY).toISOString() })).toContain(
    "last recalled 31 days ago, at most 30 are allowed",
  );
  expect(blocked({ ...good, isUntrusted: true })).toContain("only a person moves it");
  expect(rankDeep([{ ...good, promotedAt: good.lastRecalledAt }], { phases: new Map(), now, thresholds: SWEEP_THRESHOLDS })).toEqual([]);
});
