import { z } from "zod";
import { agentId, epochMs, runId, sessionKey } from "../results/fields.ts";
import { message } from "../results/message.ts";
import { sessionRow } from "../results/session-row.ts";
import { agentPayload, toolPayload } from "./agent.ts";
import { chatPayload } from "./chat.ts";

/** Events about runs and sessions. */
export const sessionsPayloads = {
  agent: agentPayload,
  chat: chatPayload,
  "session.message": z.object({
    sessionKey,
    agentId,
    message,
    messageId: z.string(),
    messageSeq: z.number().int().min(1),
    session: sessionRow,
  }),
  "session.tool": z.object({ ...toolPayload.shape, session: sessionRow }),
  "sessions.changed": z.object({
    sessionKey: sessionKey.exactOptional().describe("absent: read the list again"),
    agentId: agentId.exactOptional(),
    reason: z.enum(["create", "send", "patch", "new", "reset", "delete", "compact"]).exactOptional(),
    phase: z.enum(["start", "end", "error"]).exactOptional().describe("of a run"),
    runId: runId.exactOptional(),
    sessionId: z.string().exactOptional().describe("of a session that was deleted"),
    ts: epochMs,
    session: sessionRow.exactOptional().describe("absent when it was deleted"),
  }),
};
