import { expect, test } from "vitest";
import { costOf, formatDollars, fromNanos, toNanos, withCost } from "./cost.ts";
import { addUsage } from "./turn.ts";

const usage = { input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0, reasoning: 50, total: 1_100 };

test.each([
  ["prompt and answer", {}, { input: 3, output: 15 }, 0.0045],
  ["the cache at its own price", { cacheRead: 1_000 }, { input: 3, output: 15, cacheRead: 0.3 }, 0.0048],
  ["the cache at the prompt's price", { cacheWrite: 1_000 }, { input: 3, output: 15 }, 0.0075],
  ["a model that costs nothing", {}, { input: 0, output: 0 }, 0],
  ["a price that is not known", {}, { input: 3 }, undefined],
  ["no prices", {}, undefined, undefined],
])("%s", (_name, more, price, dollars) => {
  const cost = costOf({ ...usage, ...more }, price);
  expect(cost === undefined ? cost : Number(cost.toFixed(9))).toBe(dollars);
});

test("costs add up, and what has none leaves the others as they are", () => {
  expect(addUsage({ ...usage, cost: 0.5 }, { ...usage, cost: 0.25 }).cost).toBe(0.75);
  expect(addUsage(usage, { ...usage, cost: 0.25 }).cost).toBe(0.25);
  expect(addUsage(usage, usage)).not.toHaveProperty("cost");
});

test("a cost goes with its usage only where it is known, and is counted in billionths", () => {
  expect(withCost(usage, { input: 2_000, output: 5_000 })).toEqual({ ...usage, cost: 2.5 });
  expect(withCost(usage, { input: 3 })).toBe(usage);
  expect([toNanos(0.1 + 0.2), fromNanos(toNanos(0.1 + 0.2))]).toEqual([300_000_000, 0.3]);
});

test("amounts are shown in dollars", () => {
  expect([0.00451, 0, 12.345].map(formatDollars)).toEqual(["$0.0045", "$0.0000", "$12.35"]);
});
