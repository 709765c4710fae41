import { cleanExternalLine, cutEnd, type MessageRow, neutralize, oneLine } from "svc/sdk";
import { judgeReply } from "svc/sdk/internal";

/** Maximum length of the text beside an acknowledgement that does not count as news. */
const ACK_MAX_CHARS = 300;

/** Answer of a run: `text` is what is delivered and summarised, without tokens. */
export type HookReply =
  | { disposition: "visible"; text: string }
  | { disposition: "silent"; text: string; because: "heartbeat" | "silent" }
  | { disposition: "empty"; text: ""; because: "empty" };

/** The last thing the agent said in the run; what it said between tool calls is no answer. */
export function finalText(rows: readonly MessageRow[], runId: string): string {
  const last = rows.findLast((row) => row.role === "assistant" && row.runId === runId);
  return last?.content.map((block) => (block.type === "text" ? block.text : "")).join("") ?? "";
}

/** Whether the run has called a tool: what that did would be done twice by another run. */
export function hasActed(rows: readonly MessageRow[], runId: string): boolean {
  return rows.some((row) => row.runId === runId && row.role === "toolResult");
}

export function readReply(text: string): HookReply {
  const reply = judgeReply(text, ACK_MAX_CHARS);
  if (reply.kind === "news") return { disposition: "visible", text: reply.text };
  if (reply.kind === "ack") return { disposition: "silent", text: reply.rest, because: "heartbeat" };
  return reply.silent ? { disposition: "silent", text: "", because: "silent" } : { disposition: "empty", text: "", because: "empty" };
}

/** Longest summary or reason, in characters. */
const MAX_CHARS = 500;

/** Event of the main session: what came of a hook. */
export function summaryText(name: string, end: { text: string } | { error: string }): string {
  const label = hookLabel(name);
  if ("error" in end) return `${label} (error): ${summaryLine(end.error) || "the run failed"}`;
  return `${label}: ${summaryLine(end.text) || "done, nothing to report"}`;
}

/** Names come with requests and stand outside any frame here: nothing in one may look like a turn of the conversation. */
export function hookLabel(name: string): string {
  return `Hook ${cutEnd(cleanExternalLine(name), MAX_CHARS)}`;
}

/** Markers of frames are defused: a summary stands outside any frame, its words are those of an agent that read strangers' text. */
export function summaryLine(text: string): string {
  return oneLine(neutralize(cutEnd(text, MAX_CHARS * 8)), MAX_CHARS);
}
