import { describe, expect, test } from "vitest";
import {
  applyThreshold,
  candidateCount,
  compareRows,
  joinLegs,
  mergeRows,
  normaliseWeights,
  type ScoredRow,
  type SearchMode,
  scoreOfRank,
} from "./ranking.ts";

test.each([
  [-1, 0.5],
  [-4, 0.8],
  [-0.000001, 0.000000999999],
  [0, 1],
  [1, 0.5],
  [3, 0.25],
  [Number.NaN, 0.001],
  [Number.NEGATIVE_INFINITY, 0.001],
  [Number.POSITIVE_INFINITY, 0.001],
])("rank %f has score %f", (rank, score) => {
  expect(scoreOfRank(rank)).toBeCloseTo(score, 9);
});

test.each([
  [6, 4, 24],
  [200, 20, 200],
  [1, 1, 1],
  [0, 4, 1],
])("%i results times %i are %i candidates", (max, multiplier, candidates) => {
  expect(candidateCount(max, multiplier)).toBe(candidates);
});

test("a chunk of both steps keeps the better score and stays exact", () => {
  const merged = mergeRows(
    [{ rowid: 1, score: 0.4, exact: true }],
    [
      { rowid: 1, score: 0.6, exact: false },
      { rowid: 2, score: 0.5, exact: false },
    ],
  );
  expect(merged).toEqual([
    { rowid: 1, score: 0.6, exact: true },
    { rowid: 2, score: 0.5, exact: false },
  ]);
});

test("order is score, then exact before loose, then path, then line", () => {
  const row = (rowid: number, score: number, exact: boolean, path: string, startLine: number) => ({ rowid, score, exact, path, startLine });
  const rows = [
    row(1, 0.5, false, "a", 1),
    row(2, 0.5, true, "b", 9),
    row(3, 0.5, true, "b", 2),
    row(4, 0.9, false, "z", 1),
    row(5, 0.5, true, "a", 5),
  ];
  expect(rows.sort(compareRows).map((r) => r.rowid)).toEqual([4, 5, 3, 2, 1]);
});

describe("legs", () => {
  const text = [
    { rowid: 1, score: 0.8, exact: true },
    { rowid: 2, score: 0.8, exact: false },
  ];
  const vector = [
    { rowid: 2, score: 0.62 },
    { rowid: 3, score: 0.6 },
  ];
  const weights = { vectorWeight: 0.7, textWeight: 0.3 };
  const scores = (mode: SearchMode, from = text) =>
    joinLegs(from, mode === "fts-only" ? [] : vector, { mode, weights }).map(({ rowid, score }) => [rowid, Math.round(score * 1e3) / 1e3]);

  test("together give the weighted sum, a missing one counts nothing", () => {
    expect(scores("hybrid")).toEqual([
      [1, 0.24],
      [2, 0.674],
      [3, 0.42],
    ]);
  });
  test("of vectors alone count whole", () =>
    expect(scores("vector", [])).toEqual([
      [2, 0.62],
      [3, 0.6],
    ]));
  test("of words alone count whole", () =>
    expect(scores("fts-only")).toEqual([
      [1, 0.8],
      [2, 0.8],
    ]));
  test("keep what is exact", () => {
    expect(joinLegs(text, [{ rowid: 1, score: 0 }], { mode: "hybrid", weights })[0]).toEqual({
      rowid: 1,
      exact: true,
      textScore: 0.8,
      vectorScore: 0,
      score: 0.24,
    });
  });
});

test.each([
  [0.7, 0.3, 0.7, 0.3],
  [1, 1, 0.5, 0.5],
  [5, 1, 0.5, 0.5],
  [-1, 0.4, 0, 1],
  [0, 0, 0.7, 0.3],
])("weights %f and %f are %f and %f", (vectorWeight, textWeight, vector, text) => {
  expect(normaliseWeights({ vectorWeight, textWeight })).toEqual({ vectorWeight: vector, textWeight: text });
});

describe("threshold", () => {
  const rows = [
    { rowid: 1, score: 0.8, exact: false, textScore: 0.8 },
    { rowid: 2, score: 0.3, exact: false, textScore: 0.3 },
    { rowid: 4, score: 0.2, exact: false, vectorScore: 0.3 },
    { rowid: 3, score: 0.000001, exact: true, textScore: 0.000001 },
  ];
  const show = (mode: SearchMode, over: object = {}, from: ScoredRow[] = rows) =>
    applyThreshold(from, { maxResults: 6, minScore: 0.35, explicit: false, ...over }, mode).map((r) => r.rowid);

  test("words: an exact hit below it is shown after the strict ones", () => expect(show("fts-only")).toEqual([1, 3]));
  test("words: with nothing else the loose hits are shown", () => expect(show("fts-only", {}, rows.slice(1, 2))).toEqual([2]));
  test("both: hits of words fill free places, hits of meaning do not", () => expect(show("hybrid")).toEqual([1, 2, 3]));
  test("both: with nothing strict the hits of words are shown", () => expect(show("hybrid", {}, rows.slice(1))).toEqual([2, 3]));
  test("vectors: nothing below it is shown", () => expect(show("vector")).toEqual([1]));
  test.each(["fts-only", "hybrid", "vector"] as const)("%s: a score the caller named holds as given", (mode) => {
    expect(show(mode, { explicit: true })).toEqual([1]);
    expect(show(mode, { explicit: true, minScore: 0 })).toEqual([1, 2, 4, 3]);
    expect(show(mode, { maxResults: 1 })).toEqual([1]);
  });
});
