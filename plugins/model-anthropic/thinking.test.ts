import { expect, test } from "vitest";
import { type ThinkingRequest, thinkingStyleOf, toThinking } from "./thinking.ts";

test.each([
  ["claude-3-haiku-20240307", "none"],
  ["claude-3-5-sonnet-20241022", "none"],
  ["claude-3-7-sonnet-20250219", "budget"],
  ["claude-sonnet-4-20250514", "budget"],
  ["claude-opus-4-1", "budget"],
  ["claude-haiku-4-5-20251001", "budget"],
  ["claude-opus-4-6", "adaptive"],
  ["claude-sonnet-5", "adaptive"],
  ["claude-next", "adaptive"],
  ["glm-9", "none"],
])("%s thinks by %s", (model, style) => {
  expect(thinkingStyleOf(model, undefined)).toBe(style);
});

test("what the config says about a model holds", () => {
  expect(thinkingStyleOf("claude-opus-4-6", false)).toBe("none");
  expect(thinkingStyleOf("glm-9", true)).toBe("budget");
});

const request = (more: Partial<ThinkingRequest>): ThinkingRequest => ({
  ...{
    model: "claude-opus-5",
    style: "adaptive",
    level: undefined,
    effort: undefined,
    maxTokens: 4_000,
    limit: undefined,
    refusesBudget: false,
  },
  ...more,
});
const budget = { style: "budget" as const, model: "claude-haiku-4-5" };
const adaptive = (effort: string) => ({
  maxOutputTokens: 4_000,
  options: { thinking: { type: "adaptive", display: "summarized" }, effort },
});
const enabled = (budgetTokens: number, maxOutputTokens = 4_000) => ({
  maxOutputTokens,
  options: { thinking: { type: "enabled", budgetTokens } },
});
const plain = { maxOutputTokens: 4_000, options: {} };

test.each<[Partial<ThinkingRequest>, object]>([
  [{}, plain],
  [{ level: "off" }, { ...plain, options: { thinking: { type: "disabled" } } }],
  [{ level: "minimal" }, adaptive("low")],
  [{ level: "xhigh" }, adaptive("xhigh")],
  [{ level: "xhigh", model: "claude-opus-4-6" }, adaptive("max")],
  [{ level: "low", effort: "max" }, adaptive("max")],
  [
    { level: "low", effort: "none" },
    { ...plain, options: { thinking: { type: "disabled" } } },
  ],
  [{ style: "none", level: "high" }, plain],
  [{ limit: 3_000 }, { ...plain, maxOutputTokens: 3_000 }],
  [{ ...budget, level: "off" }, plain],
  [{ ...budget, level: "minimal" }, enabled(1_024)],
  [{ ...budget, level: "medium" }, enabled(8_192)],
  [{ ...budget, level: "xhigh" }, enabled(16_384)],
  [{ ...budget, level: "high", limit: 8_000 }, enabled(6_976, 1_024)],
  [
    { ...budget, level: "high", limit: 2_000 },
    { ...plain, maxOutputTokens: 2_000 },
  ],
  [{ ...budget, level: "high", refusesBudget: true }, plain],
])("%j", (more, expected) => {
  expect(toThinking(request(more))).toEqual(expected);
});

test("an effort that the vendor does not know is refused by name", () => {
  expect(() => toThinking(request({ effort: "huge" }))).toThrow(/"huge" is not known; expected one of none, minimal, low/);
});
