import { expect, test } from "vitest";
import { createOutputBudget } from "./output-budget.ts";

test("a call may say eight kibibytes, then a note that there was more, then nothing", () => {
  const budget = createOutputBudget(() => 0);
  expect(budget.take("hello")).toBe("hello");
  expect(budget.take("x".repeat(9_000))).toMatch(/^x{8000,8192} … \(too much output: the rest is left out\)$/);
  expect(budget.take("more")).toBeUndefined();
  budget.renew();
  expect(budget.take("the next call")).toBe("the next call");
});

test("between calls the budget comes back every minute", () => {
  let now = 0;
  const budget = createOutputBudget(() => now);
  budget.take("x".repeat(9_000));
  now = 59_999;
  expect(budget.take("still")).toBeUndefined();
  now = 60_000;
  expect(budget.take("again")).toBe("again");
});

test("a megabyte within a second is a flood, in large texts as in empty ones", () => {
  let now = 0;
  const budget = createOutputBudget(() => now);
  expect(budget.isBearable(900_000)).toBe(true);
  expect(budget.isBearable(900_000)).toBe(false);
  now = 1_000;
  const empty = Array.from({ length: 20_000 }, () => budget.isBearable(0));
  expect([empty[0], empty.at(-1)]).toEqual([true, false]);
});
