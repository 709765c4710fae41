import type { JsonObject, ModelDelta } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { toDeltas } from "./events.ts";

async function read(events: JsonObject[], options?: { ignoresCalls?: boolean }): Promise<ModelDelta[]> {
  const stream = async function* () {
    yield* events;
  };
  const deltas: ModelDelta[] = [];
  for await (const delta of toDeltas(stream(), options)) deltas.push(delta);
  return deltas;
}

const delta = (contentBlockIndex: number, value: object) => ({ contentBlockDelta: { contentBlockIndex, delta: value } });
const start = (contentBlockIndex: number, toolUseId: string) => ({
  contentBlockStart: { contentBlockIndex, start: { toolUse: { toolUseId, name: "find" } } },
});
const stop = (contentBlockIndex: number) => ({ contentBlockStop: { contentBlockIndex } });
const end = (stopReason: string) => ({ messageStop: { stopReason } });

test.each([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["content_filtered", "content_filter"],
  ["guardrail_intervened", "content_filter"],
  ["something_new", "other"],
  ["constructor", "other"],
])("the stop reason %s is %s", async (stopReason, reason) => {
  expect(await read([end(stopReason)])).toEqual([{ type: "finish", reason }]);
});

test.each([
  ["nothing", []],
  ["a text", [delta(0, { text: "a" })]],
  ["a call that the model spoiled", [end("malformed_tool_use")]],
  ["an answer that it spoiled", [end("malformed_model_output")]],
])("an end behind %s is a fault of the network", async (_what, events) => {
  await expect(read(events)).rejects.toMatchObject({ name: "ModelError", fault: "network" });
});

test("calls at the same time keep apart, and one without arguments has none", async () => {
  const events = [
    start(1, "a"),
    start(2, "b"),
    delta(2, { toolUse: { input: "{}" } }),
    delta(1, { toolUse: { input: "" } }),
    stop(1),
    stop(2),
  ];
  expect(await read([...events, end("tool_use")])).toEqual([
    { type: "toolCall", id: "a", name: "find", argsDelta: "" },
    { type: "toolCall", id: "b", name: "find", argsDelta: "" },
    { type: "toolCall", id: "b", name: "find", argsDelta: "{}" },
    { type: "toolCallEnd", id: "a" },
    { type: "toolCallEnd", id: "b" },
    { type: "finish", reason: "tool_calls" },
  ]);
});

test("reasoning keeps its signature, and what is sealed", async () => {
  const redactedContent = new Uint8Array([0, 255, 16]);
  const events = [
    delta(0, { reasoningContent: { text: "Hm." } }),
    delta(0, { reasoningContent: { signature: "sig+/==" } }),
    delta(1, { reasoningContent: { redactedContent } }),
  ];
  expect(await read([...events, end("end_turn")])).toEqual([
    { type: "reasoning", delta: "Hm.", id: "0" },
    { type: "reasoning", delta: "", id: "0", meta: { bedrock: { signature: "sig+/==" } } },
    { type: "reasoning", delta: "", id: "1", redacted: true, meta: { bedrock: { redacted: "AP8Q" } } },
    { type: "finish", reason: "stop" },
  ]);
});

test("calls that must not be are left out, with the reason for them", async () => {
  const events = [delta(0, { text: "a" }), start(1, "a"), delta(1, { toolUse: { input: "{}" } }), stop(1), end("tool_use")];
  expect(await read(events, { ignoresCalls: true })).toEqual([
    { type: "text", delta: "a" },
    { type: "finish", reason: "stop" },
  ]);
});

describe("usage", () => {
  test.each([
    [
      { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
      { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 },
    ],
    [
      { inputTokens: 1, outputTokens: 2, cacheReadInputTokens: 4, cacheWriteInputTokens: 8 },
      { input: 1, output: 2, cacheRead: 4, cacheWrite: 8, total: 15 },
    ],
    [
      { inputTokens: -1, outputTokens: "2", totalTokens: Number.NaN },
      { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    ],
    [undefined, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }],
  ])("%j is %j", async (usage, expected) => {
    expect(await read([end("end_turn"), { metadata: { usage } }])).toEqual([
      { type: "usage", usage: expected },
      { type: "finish", reason: "stop" },
    ]);
  });
});

test("events and members that nobody knows are passed over", async () => {
  const events = [
    { $unknown: ["novel", {}] },
    { messageStart: { role: "assistant" } },
    { contentBlockStart: { contentBlockIndex: 0, start: { image: {} } } },
    delta(0, { $unknown: ["novel", {}] }),
    delta(0, { toolUse: { input: "{}" } }),
    { contentBlockDelta: { contentBlockIndex: 0 } },
    stop(0),
  ];
  expect(await read([...events, end("end_turn")])).toEqual([{ type: "finish", reason: "stop" }]);
});
