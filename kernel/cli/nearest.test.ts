import { expect, it } from "vitest";
import { distance } from "./nearest.ts";

it.each([
  ["", "", 0],
  ["abc", "abc", 0],
  ["abc", "ab", 1],
  ["abc", "abxc", 1],
  ["status", "stauts", 1],
  ["abc", "xyz", 3],
])("%s and %s are %i edits apart", (a, b, edits) => {
  expect(distance(a, b)).toBe(edits);
  expect(distance(b, a)).toBe(edits);
});
