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

/** Takes time without end for a text of many `a`. */
const busy = (n: number) => `(?:a|a)*b${n}`;
const hostile = "a".repeat(60);

test.each([
  ["Cook, lunch?", ["^cook\\b"], true],
  ["what does the cook say", ["^cook\\b"], false],
  ["hey there", ["^cook\\b", "(?:hey|hi)\\s"], true],
  ["hey there", [], false],
  [`${"x".repeat(507)} cook`, ["cook"], true],
  [`${"x".repeat(508)} cook`, ["cook"], false],
  ["(", ["("], false],
])("in %j of %j something is found: %s", (text, sources, expected) => {
  expect(patterns.matches(text, sources, "#kitchen")).toBe(expected);
  expect(warnings).toEqual([]);
});

test("a pattern that a text keeps busy is left out for a minute, and the others are not", async () => {
  const sources = [busy(1), "cook"];
  expect(patterns.matches(hostile, sources, "#kitchen")).toBe(false);
  expect(patterns.matches("cook, ab1", sources, "#kitchen")).toBe(true);
  expect(patterns.matches("ab1", sources, "#kitchen")).toBe(false);
  expect(warnings).toEqual([expect.stringContaining(JSON.stringify(busy(1)))]);

  await clock.advance(60_000);
  expect(patterns.matches("ab1", sources, "#kitchen")).toBe(true);
});

test("it is left out in the conversation of that text only, and the log names it once", () => {
  for (const conversation of ["#kitchen", "#cellar"]) expect(patterns.matches(hostile, [busy(1)], conversation)).toBe(false);
  expect(patterns.matches("ab1", [busy(1)], "#kitchen")).toBe(false);
  expect(patterns.matches("ab1", [busy(1)], "#lab")).toBe(true);
  expect(warnings).toHaveLength(1);
});

test("all patterns share the time for a text: when one has used it up, none of the rest runs", () => {
  const sources = Array.from({ length: 100 }, (_, i) => busy(i));
  expect(patterns.matches(hostile, sources, "#kitchen")).toBe(false);
  expect(warnings).toHaveLength(1);
  expect(patterns.matches("ab99", sources, "#kitchen")).toBe(true);
});
