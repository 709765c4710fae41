import { expect, test } from "vitest";
import type { ModelDelta } from "../../types/model.ts";
import { type DeltaRules, type FinishPart, type StreamPart, toDeltas } from "./stream-parts.ts";

async function usageOf(input: number, output: number, total: unknown): Promise<ModelDelta | undefined> {
  async function* parts(): AsyncIterable<StreamPart> {
    const inputTokens = { total: input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
    const outputTokens = { total: output, text: undefined, reasoning: undefined };
    const usage = { inputTokens, outputTokens, raw: { total_tokens: total } as never };
    yield { type: "finish", usage, finishReason: { unified: "stop", raw: "stop" } };
  }
  for await (const delta of toDeltas(parts())) if (delta.type === "usage") return delta;
  return undefined;
}

test.each([
  [3, 4, 9, { input: 3, output: 4, total: 9 }],
  [1e308, 4, 1e308, { input: 0, output: 4, total: 4 }],
  [-3, 4.7, "9", { input: 0, output: 4, total: 4 }],
  [Number.NaN, Number.POSITIVE_INFINITY, null, { input: 0, output: 0, total: 0 }],
])("counts of tokens that are none count nothing: %d, %d, %j", async (input, output, total, usage) => {
  expect(await usageOf(input, output, total)).toMatchObject({ usage });
});

const usage: FinishPart["usage"] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, reasoning: undefined },
};
const finish = (raw: string | undefined): StreamPart => ({ type: "finish", usage, finishReason: { unified: raw ?? "other", raw } });

async function deltasOf(parts: readonly StreamPart[], rules?: DeltaRules): Promise<ModelDelta[]> {
  const deltas: ModelDelta[] = [];
  async function* stream() {
    yield* parts;
  }
  for await (const delta of toDeltas(stream(), rules)) if (delta.type !== "usage") deltas.push(delta);
  return deltas;
}

test("reasoning keeps its blocks and the vendor's data, with and without text", async () => {
  const signature = { acme: { signature: "s" } };
  const sealed = { acme: { sealed: "x" } };
  const parts: StreamPart[] = [
    { type: "reasoning-start", id: "0" },
    { type: "reasoning-delta", id: "0", delta: "Hm." },
    { type: "reasoning-delta", id: "0", delta: "", providerMetadata: signature },
    { type: "reasoning-end", id: "0" },
    { type: "reasoning-start", id: "1", providerMetadata: sealed },
    { type: "reasoning-end", id: "1" },
    finish("stop"),
  ];
  expect(await deltasOf(parts, { isRedacted: (meta) => JSON.stringify(meta).includes("sealed") })).toEqual([
    { type: "reasoning", delta: "Hm.", id: "0" },
    { type: "reasoning", delta: "", id: "0", meta: signature },
    { type: "reasoning", delta: "", id: "1", redacted: true, meta: sealed },
    { type: "finish", reason: "stop" },
  ]);
});

test("data about a text is kept where it is the vendor's own, and passed over elsewhere", async () => {
  const providerMetadata = { acme: { signature: "s" } };
  const parts: StreamPart[] = [
    { type: "text-delta", id: "0", delta: "Hi", providerMetadata },
    { type: "text-delta", id: "0", delta: "", providerMetadata },
    { type: "text-delta", id: "0", delta: "" },
    finish("stop"),
  ];
  const end = { type: "finish", reason: "stop" };
  expect(await deltasOf(parts)).toEqual([{ type: "text", delta: "Hi" }, end]);
  expect(await deltasOf(parts, { keepsTextMeta: true })).toEqual([
    { type: "text", delta: "Hi", meta: providerMetadata },
    { type: "text", delta: "", meta: providerMetadata },
    end,
  ]);
});

test("a call ends once, with the vendor's data, whether it came in pieces, whole, or was cut off", async () => {
  const meta = { acme: { signature: "s" } };
  const parts: StreamPart[] = [
    { type: "tool-input-start", id: "a", toolName: "find" },
    { type: "tool-input-delta", id: "a", delta: "{}" },
    { type: "tool-input-end", id: "a" },
    { type: "tool-call", toolCallId: "a", toolName: "find", input: "{}", providerMetadata: meta },
    { type: "tool-call", toolCallId: "b", toolName: "find", input: '{"q":1}' },
    { type: "tool-input-start", id: "c", toolName: "find" },
    finish("length"),
  ];
  expect(await deltasOf(parts)).toEqual([
    { type: "toolCall", id: "a", name: "find", argsDelta: "" },
    { type: "toolCall", id: "a", name: "find", argsDelta: "{}" },
    { type: "toolCallEnd", id: "a", meta },
    { type: "toolCall", id: "b", name: "find", argsDelta: '{"q":1}' },
    { type: "toolCallEnd", id: "b" },
    { type: "toolCall", id: "c", name: "find", argsDelta: "" },
    { type: "toolCallEnd", id: "c" },
    { type: "finish", reason: "length" },
  ]);
});

test("an end without a reason is a broken connection where the vendor always gives one", async () => {
  await expect(deltasOf([finish(undefined)], { endsWithReason: true })).rejects.toMatchObject({ fault: "network" });
  await expect(deltasOf([])).rejects.toMatchObject({ fault: "network" });
  expect(await deltasOf([finish(undefined)])).toEqual([{ type: "finish", reason: "other" }]);
});
