import { expect, test } from "vitest";
import { thinkingStyleOf, toThinkingConfig } from "./thinking.ts";

test.each([
  ["gemini-1.5-pro", undefined, "none"],
  ["gemini-2.0-flash", undefined, "none"],
  ["gemini-2.5-pro", undefined, "budget"],
  ["gemini-2.5-flash-lite", undefined, "budget"],
  ["gemini-3-pro-preview", undefined, "level"],
  ["gemini-flash-latest", undefined, "level"],
  ["gemini-flash-latest", false, "none"],
  ["gemma-3-4b-it", undefined, "none"],
  ["somebody-else", true, "level"],
] as const)("%s, said to reason: %s, thinks by %s", (model, reasoning, style) => {
  expect(thinkingStyleOf(model, reasoning)).toBe(style);
});

const level = (thinkingLevel: string) => ({ includeThoughts: true, thinkingLevel });
const budget = (thinkingBudget: number) => ({ includeThoughts: true, thinkingBudget });

test.each([
  ["gemini-3.5-flash", undefined, undefined, undefined],
  ["gemini-3.5-flash", "off", undefined, { thinkingLevel: "minimal" }],
  ["gemini-3.5-flash", "minimal", undefined, level("minimal")],
  ["gemini-3.5-flash", "xhigh", undefined, level("high")],
  ["gemini-3.5-flash", "high", "low", level("low")],
  ["gemini-3.5-flash", "high", "none", { thinkingLevel: "minimal" }],
  ["gemini-3-pro-preview", "minimal", undefined, level("low")],
  ["gemini-3-pro-preview", "off", undefined, { thinkingLevel: "low" }],
  ["gemini-2.5-flash", "off", undefined, { thinkingBudget: 0 }],
  ["gemini-2.5-flash", "high", undefined, budget(24_576)],
  ["gemini-2.5-pro", "off", undefined, { thinkingBudget: 128 }],
  ["gemini-2.0-flash", "high", undefined, undefined],
])("%s at %s, effort %s: %j", (model, thinking, effort, expected) => {
  expect(toThinkingConfig(model, { style: thinkingStyleOf(model, undefined), level: thinking, effort })).toEqual(expected);
});

test("an effort that is not known is refused by name", () => {
  const ask = () => toThinkingConfig("gemini-3.5-flash", { style: "level", level: undefined, effort: "huge" });
  expect(ask).toThrow(/"huge" is not known; expected one of none/);
});
