import { expect, test } from "vitest";
import { createPace, progressLine } from "./progress-bar.ts";

test.each([
  [{ phase: "scan", done: 0, total: 0 }, {}, "main [----------------------------]   0 % reading folders"],
  [{ phase: "write", done: 50, total: 100 }, {}, "main [##############--------------]  50 % indexing 50/100"],
  [{ phase: "embed", done: 25, total: 100 }, { perSecond: 3.21 }, "main [#######---------------------]  25 % embedding 25/100, 3.2/s"],
  [
    { phase: "embed", done: 25, total: 100 },
    { perSecond: 321.4, waitedS: 1.9 },
    "main [#######---------------------]  25 % embedding 25/100, 321/s",
  ],
  [{ phase: "embed", done: 0, total: 9 }, { waitedS: 59 }, "main [----------------------------]   0 % embedding 0/9, waiting for 59 s"],
  [{ phase: "embed", done: 0, total: 9 }, { waitedS: 119 }, "main [----------------------------]   0 % embedding 0/9, waiting for 1 min"],
  [
    { phase: "embed", done: 0, total: 9 },
    { waitedS: 7_300 },
    "main [----------------------------]   0 % embedding 0/9, waiting for 2 h 1 min",
  ],
  [{ phase: "swap", done: 0, total: 0 }, {}, "main [----------------------------]   0 % putting the new index in place"],
  [{ phase: "done", done: 7, total: 7 }, { perSecond: 7 }, "main [############################] 100 % done"],
] as const)("progress %j at pace %j is drawn", (progress, pace, line) => {
  expect(progressLine("main", progress, pace)).toBe(line);
});

test("the pace counts from the beginning of a count, over phases that take turns; a place that is kept is waited at", () => {
  let nowMs = 0;
  const { step, pace } = createPace(() => nowMs);
  expect(pace()).toEqual({});
  step({ phase: "embed", done: 10, total: 100 });
  expect(pace()).toEqual({ waitedS: 0 });
  nowMs = 2_000;
  step({ phase: "write", done: 50, total: 100 });
  expect(pace()).toEqual({ waitedS: 0, perSecond: 20 });
  nowMs = 9_000;
  step({ phase: "embed", done: 50, total: 100 });
  expect(pace()).toEqual({ waitedS: 7, perSecond: 20 });
  step({ phase: "embed", done: 1, total: 100 });
  expect(pace()).toEqual({ waitedS: 0 });
  step({ phase: "embed", done: 1, total: 7 });
  expect(pace()).toEqual({ waitedS: 0 });
});
