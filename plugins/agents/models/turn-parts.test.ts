import type { ModelDelta } from "svc/sdk";
import { expect, test } from "vitest";
import { readTurn } from "./turn.ts";

async function partsOf(...deltas: ModelDelta[]) {
  const seen: string[] = [];
  const turn = await readTurn(
    async function* () {
      yield* deltas;
    },
    { signal: new AbortController().signal, idleMs: 1_000, onText: () => undefined, onReasoning: (delta) => seen.push(delta) },
  );
  return { ...turn, seen };
}

test("an answer keeps the order in which the model wrote it, and the vendor's data of each part", async () => {
  const { parts, reasoning, seen } = await partsOf(
    { type: "reasoning", delta: "First ", id: "0" },
    { type: "reasoning", delta: "this.", id: "0" },
    { type: "reasoning", delta: "", id: "0", meta: { acme: { signature: "s" } } },
    { type: "reasoning", delta: "", id: "1", redacted: true, meta: { acme: { sealed: "x" } } },
    { type: "text", delta: "Let me " },
    { type: "text", delta: "look." },
    { type: "toolCall", id: "a", name: "find", argsDelta: "{}" },
    { type: "toolCallEnd", id: "a", meta: { acme: { signature: "t" } } },
    { type: "text", delta: "Wait." },
    { type: "toolCall", id: "b", name: "find", argsDelta: "{broken" },
    { type: "finish", reason: "tool_calls" },
  );

  expect(parts).toEqual([
    { type: "reasoning", text: "First this.", meta: { acme: { signature: "s" } } },
    { type: "reasoning", text: "", redacted: true, meta: { acme: { sealed: "x" } } },
    { type: "text", text: "Let me look." },
    { type: "toolCall", id: "a", name: "find", args: {}, meta: { acme: { signature: "t" } } },
    { type: "text", text: "Wait." },
    { type: "toolCall", id: "b", name: "find", args: {} },
  ]);
  expect([reasoning, seen]).toEqual(["First this.", ["First ", "this."]]);
});

test("data that comes in pieces is joined by name", async () => {
  const { parts } = await partsOf(
    { type: "reasoning", delta: "Hm.", id: "0", meta: { acme: { itemId: "rs_1" } } },
    { type: "reasoning", delta: "", id: "0", meta: { acme: { sealed: "x" }, other: 1 } },
  );
  expect(parts).toEqual([{ type: "reasoning", text: "Hm.", meta: { acme: { itemId: "rs_1", sealed: "x" }, other: 1 } }]);
});

test("data of a text belongs to the text, whether it comes with its words or behind them", async () => {
  const meta = { acme: { signature: "s" } };
  const { parts, text } = await partsOf(
    { type: "text", delta: "", meta: { acme: { signature: "of nothing" } } },
    { type: "text", delta: "Let me ", meta: { acme: { signature: "earlier" } } },
    { type: "text", delta: "look." },
    { type: "text", delta: "", meta },
    { type: "toolCall", id: "a", name: "find", argsDelta: "{}" },
    { type: "text", delta: "", meta },
  );
  expect(parts).toEqual([
    { type: "text", text: "Let me look.", meta },
    { type: "toolCall", id: "a", name: "find", args: {} },
  ]);
  expect(text).toBe("Let me look.");
});

test("the vendor's data counts as part of the answer", async () => {
  const meta = { acme: { sealed: "x".repeat(1024 * 1024) } };
  await expect(partsOf({ type: "reasoning", delta: "", id: "0", meta })).rejects.toMatchObject({ fault: "network" });
});
