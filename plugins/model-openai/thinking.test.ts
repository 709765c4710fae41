import { expect, test } from "vitest";
import { factsOf, readModels } from "./models.ts";
import { effortOf } from "./thinking.ts";

test.each([
  ["gpt-5.4-mini", ["none", "low", "low", "medium", "high", "xhigh"]],
  ["gpt-5.1", ["none", "low", "low", "medium", "high", "high"]],
  ["gpt-5-mini", ["minimal", "minimal", "low", "medium", "high", "high"]],
  ["gpt-5-pro", ["high", "high", "high", "high", "high", "high"]],
  ["gpt-5.2-codex", ["low", "low", "low", "medium", "high", "xhigh"]],
  ["o3", ["low", "low", "low", "medium", "high", "high"]],
  ["ft:gpt-5:acme::1", ["minimal", "minimal", "low", "medium", "high", "high"]],
  ["gpt-6-sol", ["none", "low", "low", "medium", "high", "xhigh"]],
  ["gpt-6-astra", ["low", "low", "low", "medium", "high", "xhigh"]],
  ["somebody-else", [undefined, "minimal", "low", "medium", "high", "xhigh"]],
])("thinking levels of %s become efforts that it takes", (model, efforts) => {
  expect(["off", "minimal", "low", "medium", "high", "xhigh"].map((level) => effortOf(model, level))).toEqual(efforts);
  expect(effortOf(model, undefined)).toBeUndefined();
});

test.each([
  ["gpt-5.4", 1_050_000, true],
  ["gpt-5.4-2026-03-05", 1_050_000, true],
  ["gpt-5.4-mini", 400_000, true],
  ["gpt-5", 400_000, true],
  ["gpt-5-chat-latest", 128_000, false],
  ["gpt-5.6-luna", undefined, true],
  ["gpt-4o-mini", 128_000, false],
  ["ft:gpt-4.1:acme::1", 1_047_576, false],
  ["o4-mini", 200_000, true],
  ["somebody-else", undefined, undefined],
])("%s has a window of %s and reasons: %s", (id, contextWindow, reasoning) => {
  expect([factsOf(id).contextWindow, factsOf(id).reasoning]).toEqual([contextWindow, reasoning]);
});

test("the first GPT-4o writes shorter answers than its successors", () => {
  expect(["gpt-4o-2024-05-13", "gpt-4o"].map((id) => factsOf(id).maxTokens)).toEqual([4_096, 16_384]);
});

test("what is no list of models is said to be none", () => {
  expect(() => readModels({ models: [] })).toThrow(expect.objectContaining({ name: "ZodError" }));
});
