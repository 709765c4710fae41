import type { MessageBlock, MessageRow } from "svc/sdk";
import { expect, test } from "vitest";
import { interruptedResults } from "./open-calls.ts";

const of = (runId: string, seq: number, more: Partial<MessageRow>): MessageRow => ({
  ...{ id: `m${seq}`, sessionId: "s", seq, ts: seq, runId, role: "user", content: [] },
  ...more,
});
const calls = (...ids: string[]): { role: "assistant"; content: MessageBlock[] } => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: `tool_${id}`, arguments: {} })),
});
const result = (toolCallId: string) => ({ role: "toolResult" as const, toolCallId });
const open = (rows: MessageRow[]) =>
  interruptedResults({ runId: "r", sessionId: "s" }, rows, 9).map(({ toolCallId, toolName }) => [toolCallId, toolName]);

test("calls of a run's last answer that have no result get one", () => {
  expect(open([of("r", 1, {}), of("r", 2, calls("a", "b", "c")), of("r", 3, result("a")), of("r", 4, result("b"))])).toEqual([
    ["c", "tool_c"],
  ]);
});

test("results of other runs, and of earlier calls with the same id, answer nothing", () => {
  const rows = [of("r", 1, calls("a")), of("r", 2, result("a")), of("r", 3, calls("a")), of("other", 4, result("a"))];
  expect(open(rows)).toEqual([["a", "tool_a"]]);
});

test("a run whose calls all have their results, and one that called nothing, are left as they are", () => {
  expect(open([of("r", 1, calls("a")), of("r", 2, result("a"))])).toEqual([]);
  expect(open([of("r", 1, {}), of("other", 2, calls("a"))])).toEqual([]);
});
