import { describe, expect, test } from "vitest";
import { applyThreshold, candidateCount, compareRows, mergeRows, scoreOfRank } from "./ranking.ts";

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

describe("threshold", () => {
  const rows = [
    { rowid: 1, score: 0.8, exact: false },
    { rowid: 2, score: 0.3, exact: false },
    { rowid: 3, score: 0.000001, exact: true },
  ];
  const show = (over: object, from = rows) =>
    applyThreshold(from, { maxResults: 6, minScore: 0.35, explicit: false, ...over }).map((r) => r.rowid);

  test("an exact hit below it is shown after the strict ones", () => expect(show({})).toEqual([1, 3]));
  test("with nothing else the loose hits are shown", () => expect(show({}, rows.slice(1, 2))).toEqual([2]));
  test("a score the caller named holds as given", () => expect(show({ explicit: true })).toEqual([1]));
  test("a named score of zero shows everything", () => expect(show({ explicit: true, minScore: 0 })).toEqual([1, 2, 3]));
  test("never more than asked for", () => expect(show({ maxResults: 1 })).toEqual([1]));
});
