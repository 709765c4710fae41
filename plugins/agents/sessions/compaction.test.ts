import type { MessageBlock, MessageRow } from "svc/sdk";
import { expect, test } from "vitest";
import { planOf } from "../runs/compact-run.ts";
import { cutOf, sinceCompaction } from "./compaction.ts";
import { serialise } from "./serialise.ts";
import { partsOf } from "./summarise.ts";

let seq = 0;
function row(role: MessageRow["role"], text: string, more: Partial<MessageRow> = {}): MessageRow {
  seq += 1;
  return { id: `m${seq}`, seq, sessionId: "s", ts: seq, role, content: [{ type: "text", text }], ...more };
}
const calling = (id: string): MessageRow => {
  const call: MessageBlock = { type: "toolCall", id, name: "find", arguments: { q: id } };
  return { ...row("assistant", "Looking."), content: [{ type: "text", text: "Looking." }, call] };
};
const result = (id: string, text = "hit") => row("toolResult", text, { toolCallId: id, toolName: "find" });

/** A letter per row: `u`ser, `a`nswer, `c`all `r`esult of the same number. */
function rowsOf(shape: string): MessageRow[] {
  return shape.split(" ").map((word) => {
    const id = word.slice(1);
    if (word.startsWith("c")) return calling(id);
    if (word.startsWith("r")) return result(id);
    return row(word.startsWith("u") ? "user" : "assistant", word);
  });
}

test.each([
  ["at a message of a person", "u a u a u", 3, 2],
  ["at an answer", "u a a a a", 2, 3],
  ["behind results whose calls go", "u c1 r1 a u", 3, 3],
  ["before the calls of a batch that is too large", "u a c1 r1 c2 r2", 1, 4],
  ["not between a call and its result, also when a message came in between", "u a c1 u r1 a", 3, 5],
  ["where a call has no result", "u c1 a u a", 3, 2],
  ["nowhere when all of it stays", "u a u", 9, undefined],
  ["nowhere in one turn of one batch", "c1 r1", 1, undefined],
])("a conversation is cut %s", (_name, shape, keep, at) => {
  expect(cutOf(rowsOf(shape), keep, () => 1)).toBe(at);
});

test("the question of the turn at work stays, and results but the newest three are cleared", async () => {
  const rows = rowsOf("u1 a1 u2 c1 r1 c2 r2 c3 r3 c4 r4 c5 r5");
  const plan = await planOf({ rows, summary: undefined, compactedAt: 0 }, { keep: 80, stays: (one) => one === rows[2] });

  expect(plan?.older.map(({ seq: at }) => at)).toEqual([rows[0], rows[1], rows[3], rows[4]].map((one) => one?.seq));
  const compaction = row("assistant", "Sum.", { kind: "compaction", details: plan?.details });
  const read = sinceCompaction([...rows, compaction, row("user", "next")]);
  expect(read.summary).toBe("Sum.");
  const texts = read.rows.map(({ content }) => (content[0]?.type === "text" ? content[0].text : ""));
  expect(texts).toEqual(["u2", "Looking.", "[cleared]", "Looking.", "hit", "Looking.", "hit", "Looking.", "hit", "next"]);
});

test("a transcript for its summary names who said what, and cuts long results", async () => {
  const rows = [row("user", "Rain?"), calling("c1"), result("c1", "x".repeat(9_000)), row("assistant", "No.")];
  const [asked, called, found, said] = await serialise(rows);
  expect([asked, called, said]).toEqual([
    "[User]: Rain?",
    '[Assistant]: Looking.\n\n[Assistant tool calls]: find({"q":"c1"})',
    "[Assistant]: No.",
  ]);
  expect(found?.length).toBeLessThan(2_100);
});

test("what is too long for one request is summed up in parts, of which the newest eight count", async () => {
  const items = Array.from({ length: 20 }, (_, i) => `${i} ${"x".repeat(298)}`);
  expect((await partsOf(items, 250)).map((part) => part.length)).toEqual(Array.from({ length: 8 }, () => 2));
  expect((await partsOf(items, 250)).at(-1)?.at(-1)).toBe(items.at(-1));
  expect(await partsOf(items.slice(0, 2), 1_000)).toHaveLength(1);
});

test.each([
  ["its plan", (rows: MessageRow[]) => planOf({ rows, summary: undefined, compactedAt: 0 }, { keep: 1_000, stays: () => false })],
  ["its text", (rows: MessageRow[]) => serialise(rows)],
  [
    "its parts",
    (rows: MessageRow[]) =>
      partsOf(
        rows.map((_, i) => `${i} ${"x".repeat(10_000)}`),
        50_000,
      ),
  ],
])("a long transcript leaves room for other work: %s", async (_name, work) => {
  const rows = Array.from({ length: 100 }, (_, i) => row(i % 2 === 0 ? "user" : "assistant", "x".repeat(10_000)));
  let isOver = false;
  let turns = 0;
  const count = () => {
    if (isOver) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  await work(rows);
  isOver = true;
  expect(turns).toBeGreaterThan(3);
});
