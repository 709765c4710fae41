import type { ModelRequest } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { modelRequest, searchTool, user } from "../../test/fixtures/model-provider.ts";
import { toVendorRequest } from "./request.ts";

const asked = (messages: ModelRequest["messages"], more: Partial<ModelRequest> = {}) =>
  toVendorRequest(modelRequest("claude-haiku-4-5", { tools: [searchTool], messages, ...more }), { models: [] });

test("texts of whitespace only are left out, and a message of a user that has no other says so", () => {
  const { prompt } = asked([
    user(" \n"),
    { role: "assistant", content: [{ type: "text", text: "\n\n" }] },
    {
      role: "user",
      content: [
        { type: "text", text: "\t" },
        { type: "text", text: " Well? " },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "text", text: "\n" },
        { type: "toolCall", id: "a", name: "memory_search", args: {} },
      ],
    },
    { role: "tool", toolCallId: "a", name: "memory_search", text: " " },
  ]);
  expect(prompt.slice(1).map(({ content }) => content)).toMatchObject([
    [{ text: "(empty)" }],
    [{ text: " Well? " }],
    [{ type: "tool-call" }],
    [{ type: "tool-result" }],
  ]);
});

describe("thinking by budget", () => {
  const call = { type: "toolCall" as const, id: "a", name: "memory_search", args: {} };
  const thought = { type: "reasoning" as const, text: "Hm.", meta: { anthropic: { signature: "s" } } };
  const result = { role: "tool" as const, toolCallId: "a", name: "memory_search", text: "found" };
  const answer = { role: "assistant" as const, content: [{ type: "text" as const, text: "There." }] };
  const unthought = { role: "assistant" as const, content: [call] };

  test.each<[string, ModelRequest["messages"], boolean]>([
    ["calls without it", [user("1"), unthought, result], false],
    ["such calls and a word of the user", [user("1"), unthought, result, user("Hurry.")], false],
    ["such calls that were answered", [user("1"), unthought, result, answer, user("2")], true],
    ["calls with it and a word of the user", [user("1"), { role: "assistant", content: [thought, call] }, result, user("Hurry.")], true],
  ])("behind %s", (_name, messages, isThinking) => {
    expect(asked(messages, { thinking: "low" }).providerOptions?.anthropic?.thinking !== undefined).toBe(isThinking);
  });
});
