import { expect, test } from "vitest";
import { DAY, noon, testEntry } from "../../../test/fixtures/dreams.ts";
import { lightStage } from "./light.ts";
import { remStage, themeStrength, truthConfidence } from "./rem.ts";

const now = noon("2026-04-10");
const ago = (days: number) => new Date(now - days * DAY).toISOString();

test("light stages what was touched in the last two days, last recalled first, and nothing that is promoted", () => {
  const entries = [
    testEntry({ key: "older", startLine: 1, snippet: "the plumber comes on Friday", lastRecalledAt: ago(1) }),
    testEntry({ key: "newest", startLine: 2, snippet: "the door code is 4711", lastRecalledAt: ago(0) }),
    testEntry({ key: "too old", startLine: 3, snippet: "a ferry leaves at nine", lastRecalledAt: ago(2.1) }),
    testEntry({ key: "promoted", startLine: 4, snippet: "green tea is preferred", lastRecalledAt: ago(0), promotedAt: ago(0) }),
  ];
  expect(lightStage(entries, now).map(({ entry }) => entry.key)).toEqual(["newest", "older"]);
});

test("light merges entries of one file that say nearly the same, and not those of two files", () => {
  const words = "one two three four five six seven eight nine ten";
  const same = testEntry({ key: "b", startLine: 2, snippet: `${words} again`, recallCount: 3, dailyCount: 1 });
  const entries = [
    testEntry({ key: "a", startLine: 1, snippet: words, recallCount: 2 }),
    same,
    testEntry({ key: "c", path: "memory/2026-04-08.md", snippet: words }),
  ];
  expect(lightStage(entries, now)).toMatchObject([
    { entry: { key: "b" }, merged: ["a"], recalls: 5 },
    { entry: { key: "c" }, merged: [] },
  ]);
});

test("light stages a hundred at most", () => {
  const entries = Array.from({ length: 130 }, (_, i) =>
    testEntry({ key: `k${i}`, startLine: i + 1, snippet: `word${i} other${i} third${i}` }),
  );
  expect(lightStage(entries, now)).toHaveLength(100);
});

test("a theme is a tag that three of eight entries share, and its strength is at most one", () => {
  expect([themeStrength(3, 8), themeStrength(2, 8), themeStrength(9, 9)]).toEqual([0.75, 0.5, 1]);
  const entries = Array.from({ length: 8 }, (_, i) =>
    testEntry({ key: `k${i}`, startLine: i + 1, conceptTags: [...(i < 3 ? ["boiler"] : []), ...(i < 2 ? ["ferry"] : [])] }),
  );
  expect(remStage(entries, now).themes).toEqual([{ tag: "boiler", count: 3, strength: 0.75 }]);
});

test("confidence in a truth follows its formula, and three above 0.45 are kept, each said once", () => {
  const entry = testEntry({
    recallCount: 6,
    totalScore: 4.8,
    recallDays: ["2026-04-08", "2026-04-09", "2026-04-10"],
    conceptTags: ["a", "b", "c"],
  });
  expect(truthConfidence(entry)).toBeCloseTo(0.45 * 0.8 + 0.25 + 0.2 + 0.05, 6);
  expect(truthConfidence(testEntry({ dailyCount: 1, totalScore: 0.6, recallDays: ["2026-04-10"] }))).toBeCloseTo(0.45 * 0.6 + 0.2 / 3, 6);
  const many = ["tea is green", "code is 4711", "ferry at nine", "cat is grey"].map((snippet, i) => ({ ...entry, key: `k${i}`, snippet }));
  const { truths } = remStage(
    [...many, { ...entry, key: "twin", snippet: "Tea is green." }, testEntry({ key: "weak", dailyCount: 1, totalScore: 0.6 })],
    now,
  );
  expect(truths.map(({ entry: { key } }) => key)).toEqual(["k0", "k1", "k2"]);
  expect(remStage([{ ...entry, lastRecalledAt: ago(7.1) }], now)).toEqual({ themes: [], truths: [] });
});
