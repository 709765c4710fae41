import type { ModelDelta } from "svc/sdk";
import { expect, test } from "vitest";
import { readTurn } from "./turn.ts";

const read = (stream: () => AsyncIterable<ModelDelta>) =>
  readTurn(stream, { signal: new AbortController().signal, idleMs: 60_000, onText: () => undefined });

test.each([
  ['{"path": "a", }', /at position 14\b.*send them again/],
  ['{"path":', /at position 8\b/],
  ["[1]", /expected an object/],
])("arguments %j are kept as they came, with what is wrong and where", async (args, problem) => {
  const { toolCalls } = await read(async function* () {
    yield { type: "toolCall", id: "1", name: "tool", argsDelta: args };
    yield { type: "finish", reason: "tool_calls" };
  });
  expect(toolCalls).toEqual([{ id: "1", name: "tool", args, broken: expect.stringMatching(problem) }]);
});

const piece = "x".repeat(65_536);

test.each<[string, (i: number) => ModelDelta]>([
  ["text", () => ({ type: "text", delta: piece })],
  ["arguments of a call", () => ({ type: "toolCall", id: "1", name: "tool", argsDelta: piece })],
  ["calls", (i) => ({ type: "toolCall", id: String(i), name: "tool", argsDelta: "" })],
  ["names of calls", (i) => ({ type: "toolCall", id: `${i}${piece}`, name: piece, argsDelta: "" })],
])("a model whose answer has no end of %s is stopped, and its stream is closed", async (_name, next) => {
  let isClosed = false;
  async function* endless(): AsyncIterable<ModelDelta> {
    try {
      for (let i = 0; i < 1_000_000; i++) yield next(i);
    } finally {
      isClosed = true;
    }
  }

  await expect(read(endless)).rejects.toMatchObject({ name: "ModelError", fault: "network" });
  expect(isClosed).toBe(true);
});
