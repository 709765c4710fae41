import { judgeReply, type MessageRow } from "svc/sdk";

/** Maximum length of the text beside an acknowledgement that does not count as news. */
const ACK_MAX_CHARS = 300;

/** The answer of a run, as it is told: `text` is what is delivered and summarised, without tokens. */
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
