import { expect, test } from "vitest";
import { dayOfPath, decayedScore, timeOf } from "./decay.ts";

test.each([
  ["memory/2026-04-01.md", "2026-04-01"],
  ["memory/2026-04-01-router.md", "2026-04-01"],
  ["memory/work/2026-04-01.md", "2026-04-01"],
  ["memory/2026-02-30.md", undefined],
  ["memory/2026-13-01.md", undefined],
  ["memory/2026-04-01x.md", undefined],
  ["memory/notes-2026-04-01.md", undefined],
  ["other/2026-04-01.md", undefined],
  ["../memory/2026-04-01.md", undefined],
])("the day of %s", (path, day) => {
  expect(dayOfPath(path)).toBe(day === undefined ? undefined : Date.parse(day));
});

test.each([
  ["MEMORY.md", undefined],
  ["memory.md", undefined],
  ["memory/people.md", undefined],
  ["memory/2026-02-30.md", undefined],
  ["memory/2026-04-01.md", Date.parse("2026-04-01")],
  ["../team/api.md", 77],
  ["sessions/s1", 77],
])("%s is from", (path, time) => {
  expect(timeOf(path, 77)).toBe(time);
});

test.each([
  [undefined, 0.8],
  [0, 0.8],
  [30, 0.4],
  [60, 0.2],
  [-5, 0.8],
])("a score of 0.8 after %s days", (days, score) => {
  const now = Date.parse("2026-04-01");
  const at = days === undefined ? undefined : now - days * 86_400_000;
  expect(decayedScore(0.8, { at, now, halfLifeDays: 30 })).toBeCloseTo(score, 9);
});

test("half a life is a whole number of days, at least one", () => {
  const now = 10 * 86_400_000;
  expect(decayedScore(1, { at: now - 86_400_000, now, halfLifeDays: 0.2 })).toBeCloseTo(0.5, 9);
  expect(decayedScore(1, { at: now - 2 * 86_400_000, now, halfLifeDays: 2.9 })).toBeCloseTo(0.5, 9);
});
