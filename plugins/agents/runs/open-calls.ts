import { randomUUID } from "node:crypto";
import type { MessageRow, RunRow } from "svc/sdk";
import { NO_RESULT } from "./transcript.ts";
import type { NewMessage } from "./writes.ts";

/**
 * Results for the calls of a run that have none. Its answers follow each other, so only those of its last one can be open. Pure.
 * @param rows newest rows of its transcript, oldest first
 */
export function interruptedResults(
  { runId, sessionId }: Pick<RunRow, "runId" | "sessionId">,
  rows: readonly MessageRow[],
  now: number,
): NewMessage[] {
  const own = rows.filter((row) => row.runId === runId);
  const last = own.findLastIndex(({ role }) => role === "assistant");
  const calls = (own[last]?.content ?? []).flatMap((block) => (block.type === "toolCall" ? [block] : []));
  const answered = new Set(own.slice(last + 1).map(({ toolCallId }) => toolCallId));
  return calls
    .filter(({ id }) => !answered.has(id))
    .map(({ id, name }) => ({
      id: randomUUID(),
      sessionId,
      ts: now,
      runId,
      role: "toolResult",
      content: [{ type: "text", text: NO_RESULT }],
      toolCallId: id,
      toolName: name,
      isError: true,
    }));
}
