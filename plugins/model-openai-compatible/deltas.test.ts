import type { ModelDelta } from "svc/sdk";
import { expect, test } from "vitest";
import { type StreamPart, toDeltas } from "./deltas.ts";

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
