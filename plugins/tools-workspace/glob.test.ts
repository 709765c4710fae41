import { expect, test } from "vitest";
import { globMatcher, matchesName } from "./glob.ts";

test.each([
  ["*.md", "notes/a.md", true],
  ["*.md", "a.txt", false],
  ["notes/*.md", "notes/a.md", true],
  ["notes/*.md", "notes/b/a.md", false],
  ["notes/**/*.md", "notes/a.md", true],
  ["notes/**/*.md", "notes/b/c/a.md", true],
  ["**/b/*", "a/b/c", true],
  ["**/b/*", "a/c/b", false],
  ["a?c", "abc", true],
  ["a?c", "ac", false],
])("%s and %s: %s", (pattern, path, fits) => {
  expect(globMatcher(pattern)(path)).toBe(fits);
});

test("stars and near misses take no time worth mentioning", () => {
  expect(matchesName("a".repeat(5_000), "*a".repeat(200).concat("b"))).toBe(false);
});
