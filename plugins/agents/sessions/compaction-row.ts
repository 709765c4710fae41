import { randomUUID } from "node:crypto";
import { messageOf, type SessionRow } from "svc/sdk";
import type { Kit } from "../kit.ts";
import type { NewMessage } from "../runs/writes.ts";
import { COMPACTION_KIND, type CompactionDetails } from "./compaction.ts";
import type { Summary } from "./summarise.ts";

/** The row that stands for older messages: what models read in their place, and people as a note. */
export function compactionRow(
  base: Pick<NewMessage, "sessionId" | "ts" | "runId">,
  summary: Summary | undefined,
  details: CompactionDetails,
): NewMessage {
  return {
    ...base,
    id: randomUUID(),
    role: "assistant",
    content: [{ type: "text", text: summary?.text ?? "(Older messages are no longer read by the model.)" }],
    kind: COMPACTION_KIND,
    details,
    ...(summary && !summary.isList ? { usage: summary.usage } : {}),
  };
}

/** Tells the plugins that listen; nobody waits for them. */
export function tellCompaction(
  kit: Kit,
  { key: sessionKey, agentId, sessionId }: Pick<SessionRow, "key" | "agentId" | "sessionId">,
  event: { phase: "before" | "after"; tokens: number },
): void {
  if (!kit.ctx.isHookUsed("session.compact")) return;
  kit.ctx
    .runHook("session.compact", { sessionKey, agentId, sessionId, ...event }, { sessionKey, agentId })
    .catch((error) => kit.ctx.logger.warn("hook session.compact failed", { error: messageOf(error) }));
}
