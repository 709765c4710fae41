import { expect, test } from "vitest";
import { exceedsJsonShape } from "./json-shape.ts";

const lists = (depth: number) => JSON.parse("[".repeat(depth) + "]".repeat(depth));
const objects = (depth: number) => JSON.parse('{"a":'.repeat(depth) + "1" + "}".repeat(depth));
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));

test.each<[string, () => unknown, boolean]>([
  ["64 lists in each other", () => lists(64), false],
  ["65 lists", () => lists(65), true],
  ["64 objects", () => objects(64), false],
  ["65 objects", () => objects(65), true],
  ["100,000 lists", () => lists(100_000), true],
  ["10,000 keys", () => keys(10_000), false],
  ["10,001 keys", () => keys(10_001), true],
  ["10,001 keys in several objects", () => [keys(5_000), { inner: keys(5_000) }], true],
  ["a long list of numbers", () => Array.from({ length: 100_000 }, () => 1), false],
  ["keys of the language's own objects", () => JSON.parse('{"__proto__":{"constructor":1}}'), false],
  ["a text", () => "x", false],
  ["null", () => null, false],
])("%s: too much is %s", (_, make, exceeds) => {
  expect(exceedsJsonShape(make())).toBe(exceeds);
});

test("the number of keys may be another", () => {
  expect(exceedsJsonShape(keys(3), 2)).toBe(true);
  expect(exceedsJsonShape(keys(20_000), Number.POSITIVE_INFINITY)).toBe(false);
});
