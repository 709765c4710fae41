import { type MessageRow, oneLine, type Store, stripFrames } from "svc/sdk";
import { withoutNotes } from "./note.ts";
import type { Settings } from "./settings.ts";

/** Longest latest message, and longest turn and sum of turns where all of them are read. */
const MAX_MESSAGE_CHARS = 4_000;
const MAX_TURN_CHARS = 2_000;
const MAX_FULL_CHARS = 24_000;
/** Rows that are looked through: for a tail, and for all turns. */
const TAIL_ROWS = 40;
const FULL_ROWS = 400;
const MAX_BYTES = 1_048_576;

/** One message of a conversation, on one line. */
export interface Turn {
  role: "user" | "assistant";
  text: string;
}

type QuerySettings = Pick<Settings, "queryMode" | "recentUserTurns" | "recentAssistantTurns" | "recentUserChars" | "recentAssistantChars">;

/** Reads what a search is about. @param runId run whose message is the latest */
export async function readQuery(
  messages: Pick<Store["messages"], "page">,
  { sessionId, runId, prompt }: { sessionId: string | undefined; runId: string | undefined; prompt: string },
  settings: QuerySettings,
): Promise<string> {
  const { queryMode } = settings;
  if (queryMode === "message" || sessionId === undefined) return queryText(prompt, [], settings);
  const rows = await messages.page(sessionId, { limit: queryMode === "full" ? FULL_ROWS : TAIL_ROWS, maxBytes: MAX_BYTES });
  return queryText(prompt, turnsBefore(rows, runId), settings);
}

/** Turns before the message of a run, oldest first; those that wait behind it are left out. Pure. */
export function turnsBefore(rows: readonly MessageRow[], runId: string | undefined): Turn[] {
  const at = rows.findIndex((row) => row.runId === runId && row.role === "user");
  return rows.slice(0, at < 0 ? rows.length : at).flatMap((row): Turn[] => {
    if (row.role === "toolResult" || row.kind === "compaction" || row.kind === "heartbeat") return [];
    const text = row.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    const said = lineOf(row.role === "assistant" ? withoutNotes(text) : text, MAX_TURN_CHARS);
    return said === "" ? [] : [{ role: row.role, text: said }];
  });
}

/** The conversation as the model that searches reads it. Pure. */
export function queryText(prompt: string, turns: readonly Turn[], settings: QuerySettings): string {
  const latest = lineOf(prompt, MAX_MESSAGE_CHARS);
  const tail = settings.queryMode === "recent" ? recent(turns, settings) : settings.queryMode === "full" ? newest(turns) : [];
  if (tail.length === 0) return `Latest user message:\n${latest}`;
  const head = settings.queryMode === "full" ? "Conversation so far:" : "Recent conversation tail:";
  return [head, ...tail.map(({ role, text }) => `${role}: ${text}`), "", "Latest user message:", latest].join("\n");
}

/** The newest turns of each side, in the order of the conversation. */
function recent(turns: readonly Turn[], settings: QuerySettings): Turn[] {
  const left = { user: settings.recentUserTurns, assistant: settings.recentAssistantTurns };
  const chars = { user: settings.recentUserChars, assistant: settings.recentAssistantChars };
  const kept: Turn[] = [];
  for (const { role, text } of turns.toReversed()) {
    if (left[role] === 0) continue;
    left[role] -= 1;
    kept.push({ role, text: oneLine(text, chars[role]) });
  }
  return kept.reverse();
}

/** As many of the newest turns as there is room for. */
function newest(turns: readonly Turn[]): Turn[] {
  let left = MAX_FULL_CHARS;
  let from = turns.length;
  while (from > 0 && left >= (turns[from - 1]?.text.length ?? 0)) left -= turns[--from]?.text.length ?? 0;
  return turns.slice(from);
}

/** A message on one line, so that no line of it passes for another turn. */
function lineOf(text: string, maxChars: number): string {
  return oneLine(stripFrames(text), maxChars);
}
