import { describe, expect, test } from "vitest";
import { growth, LINEAR } from "../../../test/tools/growth.ts";
import type { Candidate } from "../models/choice.ts";
import { createWindows, windowIn } from "../models/windows.ts";
import { budgetOf } from "./budget.ts";
import type { PromptMessage } from "./replay-to-model.ts";
import { messageTokens, requestTokens, textTokens } from "./tokens.ts";

describe("an estimate of tokens", () => {
  test.each([
    ["English", "The quick brown fox. ".repeat(3), 21],
    ["Chinese, by bytes and not by characters", "记忆".repeat(100), 200],
    ["base64, of which a token holds little", "a1B2".repeat(130), 400],
    ["a long word without digits", "x".repeat(60), 20],
    ["nothing", "", 0],
  ])("of %s", (_name, text, tokens) => {
    expect(textTokens(text)).toBe(tokens);
  });

  test("of one word of many megabytes are counted, too", () => {
    expect(textTokens("x".repeat(9_000_000))).toBe(3_000_000);
    expect(textTokens("a1".repeat(4_500_000))).toBeGreaterThan(6_900_000);
  });

  test("of a picture does not depend on its bytes", () => {
    const picture = (data: string): PromptMessage => ({ role: "user", content: [{ type: "image", mimeType: "image/png", data }] });
    expect(messageTokens(picture("A".repeat(1_000_000)))).toBe(1_204);
    const images = [{ type: "image" as const, mimeType: "image/png", data: "AAAA" }];
    const result: PromptMessage = { role: "tool", toolCallId: "c", name: "n", text: "", images };
    expect(messageTokens(result)).toBe(1_204);
  });

  test("grows with the text, whatever it is", () => {
    const work = (n: number) => {
      const text = "a1".repeat(n) + "é ".repeat(n);
      return () => textTokens(text);
    };
    expect(growth(work, { from: 10_000, to: 640_000 })).toBeLessThan(LINEAR);
  });
});

describe("the size of a request", () => {
  const reader = { provider: "acme", model: "deep" };
  const answer = (usedTokens: number, by = reader): PromptMessage => ({
    role: "assistant",
    content: [{ type: "text", text: "x".repeat(300) }],
    writtenBy: by,
    usedTokens,
  });
  const question: PromptMessage = { role: "user", content: [{ type: "text", text: "x".repeat(297) }] };

  test("is the vendor's count of the newest answer and an estimate of what came since", async () => {
    expect(await requestTokens([question, answer(500), question], reader, 1_000)).toBe(500 + 103);
  });

  test.each([
    ["another model counted", [question, answer(500, { provider: "other", model: "deep" })]],
    ["the count is far too small to be true", [question, answer(17)]],
  ])("is an estimate where %s", async (_name, messages) => {
    expect(await requestTokens(messages, reader, 1_000)).toBe(1_000 + 103 + 104);
  });
});

test.each([
  [128_000, {}, 111_616],
  [32_000, {}, 24_000],
  [128_000, { answer: 64_000 }, 96_000],
])("a window of %i tokens keeps room for the answer", (window, more, limit) => {
  expect(budgetOf(window, { fixed: 1_000, ...more })).toEqual({ window, limit, room: limit - 1_000 });
});

test("a system prompt that fills the window leaves an eighth to the conversation", () => {
  expect(budgetOf(8_000, { fixed: 20_000 }).room).toBe(1_000);
});

test.each([
  ["prompt is too long: 210000 tokens > 200000 maximum", 200_000],
  ["This model's maximum context length is 8,192 tokens. However, you requested 9000", 8_192],
  ["the request exceeds the available context size (4096 tokens)", 4_096],
  ["The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576],
  ["input is too long", undefined],
])("a refusal names the window: %s", (refusal, window) => {
  expect(windowIn(refusal)).toBe(window);
});

test("a refusal without a number is taken to mean a little less than was sent", () => {
  const windows = createWindows();
  const candidate = { provider: { id: "acme" }, model: "deep" } as Candidate;
  windows.learn(candidate, "too long", 100_000);
  expect(windows.of(candidate)).toBe(80_000);
  windows.learn(candidate, "maximum context length is 60000", 100_000);
  expect(windows.of(candidate)).toBe(60_000);
});
