import { expect, test } from "vitest";
import { stemOf } from "./stem.ts";

test.each([
  [["retries", "retried", "retry", "retrying"], "retr"],
  [["cookie", "cookies"], "cook"],
  [["connect", "connects", "connected", "connecting"], "connect"],
  [["dropped", "dropping", "drops"], "drop"],
  [["caches", "cached", "cache", "caching"], "cach"],
  [["addresses", "address"], "address"],
  [["status"], "status"],
])("%j begin with %s", (words, stem) => {
  for (const word of words) {
    expect(stemOf(word)).toBe(stem);
    expect(word.startsWith(stem)).toBe(true);
  }
});

test.each(["use", "cars", "e404", "straße", "天气", "", "ed", "ing"])("%j has none", (word) => {
  expect(stemOf(word)).toBeUndefined();
});

test("a word always begins with its stem", () => {
  for (const word of [
    "running",
    "passes",
    "bees",
    "seeing",
    "agreed",
    "bring",
    "string",
    "needed",
    "yes",
    "tying",
    "ladies",
    "fixes",
    "buzzed",
  ]) {
    const stem = stemOf(word);
    if (stem !== undefined) expect(word.startsWith(stem)).toBe(true);
  }
});
