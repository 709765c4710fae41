import { expect, test } from "vitest";
import { createBadFrames } from "./bad-frames.ts";

test("the twentieth within a minute is one too many; those that are a minute old count no more", () => {
  const time = { now: 0 };
  const isTooBad = createBadFrames({ max: 20, windowMs: 60_000 }, () => time.now);
  const told = (count: number) => Array.from({ length: count }, isTooBad);
  expect(told(19)).toEqual(Array(19).fill(false));
  time.now = 60_000;
  expect(told(19)).toEqual(Array(19).fill(false));
  time.now = 119_999;
  expect(told(1)).toEqual([true]);
});
