import type { LocalChatPiece, ModelDelta } from "svc/sdk";
import { expect, test } from "vitest";
import { toDeltas } from "./deltas.ts";

const usage = { prompt: 100, cached: 60, output: 20, thought: 0 };
const tools = [
  {
    name: "look",
    description: "",
    inputSchema: { type: "object", properties: { at: { type: "string" }, far: { type: "boolean" } }, required: ["at"] },
  },
];

async function deltasOf(pieces: LocalChatPiece[]): Promise<ModelDelta[]> {
  const deltas: ModelDelta[] = [];
  async function* source() {
    yield* pieces;
  }
  for await (const delta of toDeltas(source(), tools)) deltas.push(delta);
  return deltas;
}

test("text, reasoning, usage and the reason come as deltas", async () => {
  const pieces: LocalChatPiece[] = [
    { type: "thought", text: "hm" },
    { type: "text", text: "yes" },
    { type: "finish", reason: "length", calls: [], usage: { ...usage, thought: 5 } },
  ];
  expect(await deltasOf(pieces)).toEqual([
    { type: "reasoning", delta: "hm" },
    { type: "text", delta: "yes" },
    { type: "usage", usage: { input: 40, output: 20, cacheRead: 60, cacheWrite: 0, total: 120, reasoning: 5 } },
    { type: "finish", reason: "length" },
  ]);
});

test("a call begins when it is written, and its arguments come whole, without the nulls of what was left out", async () => {
  const pieces: LocalChatPiece[] = [
    { type: "call", index: 0, name: "look", text: '{"at":"door",' },
    { type: "call", index: 0, name: "look", text: '"far":null}' },
    { type: "finish", reason: "calls", calls: [{ name: "look", params: { at: "door", far: null }, raw: ["as written"] }], usage },
  ];
  const deltas = await deltasOf(pieces);
  const id = expect.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
  expect(deltas.slice(0, 3)).toEqual([
    { type: "toolCall", id, name: "look", argsDelta: "" },
    { type: "toolCall", id, name: "look", argsDelta: '{"at":"door"}' },
    { type: "toolCallEnd", id, meta: { raw: ["as written"] } },
  ]);
  expect(new Set(deltas.flatMap((delta) => ("id" in delta ? [delta.id] : []))).size).toBe(1);
  expect(deltas.at(-1)).toEqual({ type: "finish", reason: "tool_calls" });
});

test("a call that was cut off goes out as it was written, without an end", async () => {
  const deltas = await deltasOf([
    { type: "call", index: 0, name: "look", text: '{"at":"do' },
    { type: "finish", reason: "length", calls: [], usage },
  ]);
  expect(deltas.filter(({ type }) => type.startsWith("toolCall"))).toMatchObject([
    { argsDelta: "" },
    { type: "toolCall", argsDelta: '{"at":"do' },
  ]);
  expect(deltas.at(-1)).toEqual({ type: "finish", reason: "length" });
});
