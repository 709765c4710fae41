import type { ModelMessage, ModelRequest } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { toHistory } from "./history.ts";
import { toChatRequest } from "./request.ts";
import type { LocalModelSettings } from "./settings.ts";

const said = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] });
const call = (id: string, meta?: { raw: string }) => ({
  type: "toolCall" as const,
  id,
  name: "look",
  args: { at: id },
  ...(meta ? { meta } : {}),
});
const result = (id: string, text: string, isError = false): ModelMessage => ({ role: "tool", toolCallId: id, name: "look", text, isError });

describe("the history", () => {
  test("an answer with calls, their results and what came after them is one item; each group of calls begins anew", () => {
    const messages: ModelMessage[] = [
      said("hi"),
      { role: "assistant", content: [{ type: "text", text: "wait" }, call("a", { raw: "as written" }), call("b")] },
      result("b", "two"),
      result("a", "no such door", true),
      { role: "assistant", content: [call("c"), { type: "text", text: "" }] },
      { role: "assistant", content: [{ type: "text", text: "done" }] },
    ];
    expect(toHistory({ system: "be brief", messages })).toEqual([
      { type: "system", text: "be brief" },
      { type: "user", text: "hi" },
      {
        type: "model",
        parts: [
          { type: "text", text: "wait" },
          { type: "call", name: "look", params: { at: "a" }, result: "Error: no such door", startsGroup: true, raw: "as written" },
          { type: "call", name: "look", params: { at: "b" }, result: "two", startsGroup: false },
          { type: "call", name: "look", params: { at: "c" }, result: "Error: there is no result.", startsGroup: true },
          { type: "text", text: "done" },
        ],
      },
    ]);
  });

  test("messages of a user in a row are one, and an empty system prompt is none", () => {
    expect(toHistory({ system: "", messages: [said("one"), said("two")] })).toEqual([{ type: "user", text: "one\n\ntwo" }]);
  });

  test("reasoning goes back to its own turn only, and never sealed", () => {
    const thinking = { type: "reasoning" as const, text: "hm" };
    const sealed = { type: "reasoning" as const, text: "", redacted: true as const };
    const messages: ModelMessage[] = [
      said("one"),
      { role: "assistant", content: [thinking] },
      said("two"),
      { role: "assistant", content: [thinking, sealed, call("a")] },
    ];
    const [, first, , second] = toHistory({ system: "", messages });
    expect(first).toEqual({ type: "model", parts: [] });
    expect(second).toMatchObject({ parts: [{ type: "thought", text: "hm" }, { type: "call" }] });
  });

  test("a picture is refused by its type", () => {
    const messages: ModelMessage[] = [{ role: "user", content: [{ type: "image", mimeType: "image/png", data: "" }] }];
    expect(() => toHistory({ system: "", messages })).toThrow(
      expect.objectContaining({ fault: "invalid_request", message: expect.stringContaining("image/png") }),
    );
  });
});

describe("the request", () => {
  const model = (more: Partial<LocalModelSettings> = {}) =>
    ({ maxTokens: 100, reasoning: false, params: { temperature: 0.2, topK: 40 }, ...more }) as LocalModelSettings;
  const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
    model: "tiny",
    system: "",
    messages: [said("hi")],
    tools: [],
    context: { agentId: "main", sessionKey: "s", runId: "r" },
    ...more,
  });
  const tools = [{ name: "look", description: "Looks.", inputSchema: { type: "object", properties: { at: { type: "string" } } } }];
  const schema = { type: "object", properties: { a: { type: "string" } } };

  test("sampling: the request over the config over 0.7, the answer within the model's own limit", () => {
    expect(toChatRequest(request(), model()).sampling).toEqual({ temperature: 0.2, topK: 40, maxTokens: 100 });
    expect(toChatRequest(request(), { ...model(), params: {} }).sampling).toEqual({ temperature: 0.7, maxTokens: 100 });
    const sampling = { maxTokens: 500, temperature: 0, topP: 0.9, seed: 7, stop: ["x"], frequencyPenalty: 0.5, presencePenalty: 0.1 };
    expect(toChatRequest(request({ sampling }), model()).sampling).toEqual({ ...sampling, topK: 40, maxTokens: 100 });
  });

  test("the thinking level is a limit for models that are declared to reason", () => {
    const limit = (more: Partial<ModelRequest>, reasoning = true) =>
      toChatRequest(request(more), model({ reasoning })).sampling.thoughtTokens;
    expect(limit({ thinking: "off" })).toBe(0);
    expect(limit({ thinking: "low" })).toBe(1_024);
    expect(limit({ thinking: "high" })).toBe(Number.POSITIVE_INFINITY);
    expect(limit({ thinking: "high", sampling: { reasoningEffort: "minimal" } })).toBe(256);
    expect(limit({ thinking: "off" }, false)).toBeUndefined();
  });

  test("tools become functions whose optional arguments may be null", () => {
    const { functions, parallelCalls, cacheKey } = toChatRequest(
      request({ tools, cacheKey: "k", sampling: { parallelToolCalls: false } }),
      model(),
    );
    const params = { type: "object", properties: { at: { oneOf: [{ type: "string" }, { type: "null" }] } } };
    expect({ functions, parallelCalls, cacheKey }).toEqual({
      functions: { look: { description: "Looks.", params } },
      parallelCalls: false,
      cacheKey: "k",
    });
    expect(toChatRequest(request({ tools, toolChoice: "none" }), model()).functions).toBeUndefined();
  });

  test("an answer is held to JSON or to a schema", () => {
    const json = (responseFormat: NonNullable<ModelRequest["sampling"]>["responseFormat"]) =>
      toChatRequest(request({ sampling: { responseFormat } as never }), model()).json;
    expect(json({ type: "text" })).toBeUndefined();
    expect(json({ type: "json_object" })).toBe(true);
    expect(json({ type: "json_schema", schema })).toEqual(schema);
  });

  test("what the runtime cannot do is refused by name", () => {
    const refused: Array<[Partial<ModelRequest>, string]> = [
      [{ tools, toolChoice: "required" }, "tool_choice"],
      [{ tools, toolChoice: { name: "look" } }, "tool_choice"],
      [{ tools, sampling: { responseFormat: { type: "json_object" } } }, "response_format"],
    ];
    for (const [more, word] of refused)
      expect(() => toChatRequest(request(more), model())).toThrow(
        expect.objectContaining({ fault: "invalid_request", message: expect.stringContaining(word) }),
      );
  });
});
