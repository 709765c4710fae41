import { expect, test } from "vitest";
import { createGapDetector } from "./gap-detector.ts";

const periodMs = 15_000;

test.each([
  ["a tick in time", { wall: 15_000, monotonic: 15_000 }, undefined],
  ["30 s too late", { wall: 45_000, monotonic: 45_000 }, undefined],
  ["more than 30 s too late by both clocks, as after SIGSTOP", { wall: 75_000, monotonic: 75_000 }, 60_000],
  ["8 h of suspend, in which the monotonic clock stood still", { wall: 28_815_000, monotonic: 15_000 }, 28_800_000],
  ["a wall clock set back by an hour", { wall: -3_600_000, monotonic: 15_000 }, undefined],
  ["a wall clock set back while the process stood still", { wall: -3_600_000, monotonic: 75_000 }, 60_000],
])("%s", (_, at, gapMs) => {
  let now = { wall: 0, monotonic: 0 };
  const tick = createGapDetector({ now: () => now.wall, monotonic: () => now.monotonic }, periodMs);
  now = at;
  expect(tick()).toBe(gapMs);
});

test("each tick is measured from the one before", () => {
  let at = 0;
  const tick = createGapDetector({ now: () => at, monotonic: () => at }, periodMs);
  for (at = periodMs; at < 20 * periodMs; at += periodMs) expect(tick()).toBeUndefined();
});
