import { type FakeClock, fakeClock } from "svc/sdk/testing";
import { beforeEach, expect, test } from "vitest";
import { MentionPatterns } from "./mention-patterns.ts";

let clock: FakeClock;
let warnings: string[];
let patterns: MentionPatterns;

beforeEach(() => {
  clock = fakeClock();
  warnings = [];
  const warn = (text: string, fields?: object) => void warnings.push(`${text}: ${JSON.stringify(fields)}`);
  patterns = new MentionPatterns({ clock, logger: { warn } as never });
});

test.each([
  ["Cook, lunch?", ["^cook\\b"], true],
  ["what does the cook say", ["^cook\\b"], false],
  ["hey there", ["^cook\\b", "(?:hey|hi)\\s"], true],
  ["hey there", [], false],
  [`${"x".repeat(5_000)} cook`, ["cook"], false],
  ["(", ["("], false],
])("in %j of %j something is found: %s", (text, sources, expected) => {
  expect(patterns.matches(text, sources)).toBe(expected);
  expect(warnings).toEqual([]);
});

test("a pattern that a text keeps busy is cut off and left out for a minute, and the others are not", async () => {
  const busy = "(?:a|a)*b";
  expect(patterns.matches("a".repeat(60), [busy, "cook"])).toBe(false);
  expect(patterns.matches("cook, ab", [busy, "cook"])).toBe(true);
  expect(patterns.matches("ab", [busy, "cook"])).toBe(false);
  expect(warnings).toEqual([expect.stringContaining(JSON.stringify(busy))]);

  await clock.advance(60_000);
  expect(patterns.matches("ab", [busy, "cook"])).toBe(true);
});
