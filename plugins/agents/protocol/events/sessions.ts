import { type PluginProtocol, z } from "svc/sdk";
import { agentId, epochMs, runId, sessionKey } from "../results/fields.ts";
import { message } from "../results/message.ts";
import { sessionRow } from "../results/session-row.ts";
import { heartbeat } from "../results/system.ts";
import { agentPayload, toolPayload } from "./agent.ts";
import { chatPayload } from "./chat.ts";

const sessionMessage = z.object({
  sessionKey,
  agentId,
  message,
  messageId: z.string(),
  messageSeq: z.number().int().min(1),
  session: sessionRow,
});

const sessionsChanged = z.object({
  sessionKey: sessionKey.exactOptional().describe("absent: read the list again"),
  agentId: agentId.exactOptional(),
  reason: z.enum(["create", "send", "patch", "new", "reset", "delete", "compact"]).exactOptional(),
  phase: z.enum(["start", "end", "error"]).exactOptional().describe("of a run"),
  runId: runId.exactOptional(),
  sessionId: z.string().exactOptional().describe("of a session that was deleted"),
  ts: epochMs,
  session: sessionRow.exactOptional().describe("absent when it was deleted"),
});

/** Events about runs, sessions and heartbeats. */
export const sessionsEvents = {
  agent: {
    scope: "read",
    droppable: false,
    about: "progress of a run: lifecycle, assistant, tool, item, usage",
    payload: agentPayload,
  },
  chat: { scope: "read", droppable: false, about: "what a chat view shows of a run: delta, final, aborted, error", payload: chatPayload },
  "session.message": {
    scope: "read",
    droppable: false,
    about: "a message was stored; after sessions.messages.subscribe",
    payload: sessionMessage,
  },
  "session.tool": {
    scope: "read",
    droppable: false,
    about: "a tool call in a subscribed session",
    payload: z.object({ ...toolPayload.shape, session: sessionRow }),
  },
  heartbeat: {
    scope: "none",
    droppable: true,
    nodes: "subscribed",
    about: "a heartbeat of an agent ended or was skipped, and why",
    payload: heartbeat,
  },
  "sessions.changed": {
    scope: "read",
    droppable: true,
    about: "the session list changed; after sessions.subscribe",
    payload: sessionsChanged,
  },
} as const satisfies NonNullable<PluginProtocol["events"]>;
