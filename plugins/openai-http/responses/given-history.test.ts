import type { RunRequest } from "svc/sdk";
import { expect, test } from "vitest";
import { GivenHistories, isLong } from "./given-history.ts";

type Turns = NonNullable<RunRequest["history"]>;
const turns = (chars: number): Turns => [{ role: "user", content: [{ type: "text", text: "x".repeat(chars) }] }];
const MIB = 1024 * 1024;

const result: Turns[number] = { role: "toolResult", content: [{ type: "text", text: "" }], toolCallId: "c".repeat(4_096), toolName: "f" };

test("a history is long by its texts, pictures, arguments, ids and names together", () => {
  const call = (args: unknown): Turns => [{ role: "assistant", content: [{ type: "toolCall", id: "c", name: "f", arguments: args }] }];
  const picture: Turns = [{ role: "user", content: [{ type: "image", mimeType: "image/png", data: "A".repeat(8_193) }] }];
  const histories = [turns(8_192), turns(8_193), picture, call({ a: "x".repeat(8_193) }), call(undefined), [], [result], [result, result]];
  expect(histories.map(isLong)).toEqual([false, true, true, true, false, false, false, true]);
});

test("histories are kept up to 16 MiB, and as long as their responses; the oldest go first", () => {
  const kept = new GivenHistories(1_000);
  for (const [i, key] of ["a", "b", "c", "d"].entries()) kept.keep(key, turns(4 * MIB - 300), i);
  kept.keep("a", turns(4 * MIB - 300), 4);
  expect(kept.of("b", 4)).toBeDefined();
  kept.keep("e", turns(1), 5);
  expect(["a", "b", "c", "d", "e"].filter((key) => kept.of(key, 5))).toEqual(["a", "c", "d", "e"]);

  expect(["a", "c", "d", "e"].filter((key) => kept.of(key, 1_004))).toEqual(["e"]);
});

test("500 histories are kept, of each the newest 400 turns", () => {
  const kept = new GivenHistories(1_000);
  const numbered = Array.from({ length: 401 }, (_, i): Turns[number] => ({ role: "user", content: [{ type: "text", text: String(i) }] }));
  kept.keep("long", numbered, 0);
  expect(kept.of("long", 0)).toEqual(numbered.slice(1));

  for (let i = 0; i < 500; i++) kept.keep(String(i), turns(1), 0);
  expect(["long", "0", "499"].filter((key) => kept.of(key, 0))).toEqual(["0", "499"]);
});

test("turns without text count as well: their ids, and what each takes beside its content", () => {
  const kept = new GivenHistories(1_000);
  const keys = Array.from({ length: 200 }, (_, i) => String(i));
  const call: Turns[number] = {
    role: "assistant",
    content: [{ type: "toolCall", id: "c".repeat(4_096), name: "f", arguments: undefined }],
  };
  const keptOf = (history: Turns) => {
    for (const key of keys) kept.keep(key, history, 0);
    return keys.filter((key) => kept.of(key, 0)).length;
  };

  expect(keptOf(Array(400).fill(result))).toBe(9);
  expect(keptOf(Array(400).fill(call))).toBe(9);
  expect(keptOf([{ role: "user", content: Array(400 * 14).fill({ type: "file", mimeType: "", data: "" }) }])).toBe(9);
  expect(keptOf(Array(400).fill({ role: "toolResult", content: [{ type: "text", text: "" }] }))).toBe(139);
});
