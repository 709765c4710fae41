import type { MessageBlock, MessageRow, RunRequest } from "svc/sdk";
import { callsOf, textOf } from "./transcript.ts";

type GivenTurn = NonNullable<RunRequest["history"]>[number];

/** One thing a caller can have seen of a session. */
interface Seen {
  role: GivenTurn["role"];
  texts: string[];
  callIds: string[];
}

/**
 * The turns of `given` that the session does not hold yet. A caller without a memory of its own sends the whole conversation each time;
 * it never saw the agent's own tool calls, so stored rows are compared as the caller saw them, in order.
 */
export function missingTurns(given: readonly GivenTurn[], rows: readonly MessageRow[]): GivenTurn[] {
  const seen = seenBy(rows);
  let at = 0;
  for (const [i, turn] of given.entries()) {
    const found = seen.findIndex((s, j) => j >= at && isSame(turn, s));
    if (found < 0) return given.slice(i);
    at = found + 1;
  }
  return [];
}

function seenBy(rows: readonly MessageRow[]): Seen[] {
  const out: Seen[] = [];
  for (const [i, row] of rows.entries()) {
    const text = textOf(row.content);
    if (row.role !== "assistant") {
      out.push({ role: row.role, texts: [text], callIds: row.toolCallId === undefined ? [] : [row.toolCallId] });
      continue;
    }
    const before = answerBefore(rows, i);
    out.push({ role: "assistant", texts: before === "" ? [text] : [text, before + text], callIds: callsOf(row.content).map((c) => c.id) });
  }
  return out;
}

/** What the same run had said before row `i`: a caller gets all of it as one answer. */
function answerBefore(rows: readonly MessageRow[], i: number): string {
  const runId = rows[i]?.runId;
  if (runId === undefined) return "";
  return rows
    .slice(0, i)
    .filter((r) => r.runId === runId && r.role === "assistant")
    .map((r) => textOf(r.content))
    .join("");
}

function isSame(turn: GivenTurn, seen: Seen): boolean {
  if (turn.role !== seen.role) return false;
  if (turn.role === "toolResult") return turn.toolCallId !== undefined && seen.callIds.includes(turn.toolCallId);
  const calls = callsOf(turn.content);
  if (calls.length > 0) return calls.every((c) => seen.callIds.includes(c.id));
  const text = squeezed(textOf(turn.content));
  return text === "" ? hasImage(turn.content) && seen.texts.some((t) => squeezed(t) === "") : seen.texts.some((t) => squeezed(t) === text);
}

function hasImage(content: readonly MessageBlock[]): boolean {
  return content.some((b) => b.type === "image");
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, "");
}
