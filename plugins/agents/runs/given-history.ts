import type { MessageBlock, MessageRow, RunRequest } from "svc/sdk";
import { callsOf, textOf } from "./transcript.ts";

type GivenTurn = NonNullable<RunRequest["history"]>[number];

/** One thing a caller can have seen of a session. */
interface Seen {
  role: GivenTurn["role"];
  /** Texts without white space; a caller saw one of them. */
  texts: string[];
  callIds: ReadonlySet<string>;
}

/**
 * The turns of `given` that the session does not hold yet. A caller without a memory of its own sends the whole conversation each time;
 * it never saw the agent's own tool calls, so stored rows are compared as the caller saw them, in order. Each turn and each row is read once.
 */
export function missingTurns(given: readonly GivenTurn[], rows: readonly MessageRow[]): GivenTurn[] {
  const seen = seenBy(rows);
  let at = 0;
  for (const [i, turn] of given.entries()) {
    const isSame = matcherOf(turn);
    while (at < seen.length && !isSame(seen[at] as Seen)) at += 1;
    if (at === seen.length) return given.slice(i);
    at += 1;
  }
  return [];
}

/** The turns of a request that belong into the transcript. */
export function ownTurns({ history = [], unstoredTurns = 0 }: Pick<RunRequest, "history" | "unstoredTurns">): readonly GivenTurn[] {
  return unstoredTurns === 0 ? history : history.slice(unstoredTurns);
}

interface GivenTo {
  request: Pick<RunRequest, "history" | "unstoredTurns">;
  sessionId: string;
  acceptedAt: number;
}

/** The newest of the turns that are read and not stored, as rows. */
export function unstoredRows({ request, sessionId, acceptedAt: ts }: GivenTo, limit: number): MessageRow[] {
  const { history = [], unstoredTurns = 0 } = request;
  const turns = history.slice(Math.max(0, unstoredTurns - Math.max(0, limit)), unstoredTurns);
  return turns.map((turn, i) => ({ ...turn, id: `given-${i}`, seq: 0, sessionId, ts, kind: "history" }));
}

function seenBy(rows: readonly MessageRow[]): Seen[] {
  // Text of each run so far: a caller gets all of it as one answer.
  const saidBefore = new Map<string, string>();
  return rows.map((row) => {
    const text = squeezed(textOf(row.content));
    if (row.role !== "assistant")
      return { role: row.role, texts: [text], callIds: new Set(row.toolCallId === undefined ? [] : [row.toolCallId]) };
    const callIds = new Set(callsOf(row.content).map((call) => call.id));
    const before = row.runId === undefined ? "" : (saidBefore.get(row.runId) ?? "");
    if (row.runId !== undefined) saidBefore.set(row.runId, before + text);
    return { role: "assistant", texts: before === "" ? [text] : [text, before + text], callIds };
  });
}

/** Reads a turn once, for any number of comparisons. Strings of different lengths are told apart without being read. */
function matcherOf(turn: GivenTurn): (seen: Seen) => boolean {
  const { role, toolCallId } = turn;
  if (role === "toolResult") return (seen) => seen.role === role && toolCallId !== undefined && seen.callIds.has(toolCallId);
  const calls = callsOf(turn.content);
  if (calls.length > 0) return (seen) => seen.role === role && calls.every((call) => seen.callIds.has(call.id));
  const text = squeezed(textOf(turn.content));
  if (text === "" && !hasImage(turn.content)) return () => false;
  return (seen) => seen.role === role && seen.texts.includes(text);
}

function hasImage(content: readonly MessageBlock[]): boolean {
  return content.some((b) => b.type === "image");
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, "");
}
