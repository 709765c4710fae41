import { z } from "svc/sdk";
import { agentId, count, durationMs, epochMs, runId, sessionKey, usage } from "./fields.ts";
import { message } from "./message.ts";
import { sessionRow } from "./session-row.ts";

const accepted = z
  .object({ runId, sessionKey, agentId, status: z.literal("accepted"), acceptedAt: epochMs })
  .describe("first answer; the final one follows under the same id");

const inFlight = z
  .object({ runId, sessionKey, agentId, status: z.literal("in_flight") })
  .describe("the key is that of a run which is at work; the only answer");

const finished = z
  .object({
    runId,
    status: z.literal("ok"),
    summary: z.string(),
    result: z.object({
      payloads: z.array(z.object({ text: z.string(), mediaUrl: z.string().nullable() })),
      meta: z.object({
        durationMs,
        stopReason: z.string().exactOptional(),
        notes: z.array(z.string()).exactOptional().describe("what the caller should know besides, such as a setting without effect"),
        agentMeta: z
          .object({ sessionId: z.string(), provider: z.string().exactOptional(), model: z.string().exactOptional(), usage })
          .exactOptional()
          .describe("absent when no model was asked"),
      }),
    }),
    deliveryStatus: z.enum(["sent", "suppressed", "partial_failed", "failed"]).exactOptional(),
  })
  .describe("final answer; a run that did not succeed ends with an error");

/** Answer to a chat turn: progress comes by events. */
export const chatStarted = z.object({ runId, status: z.enum(["started", "in_flight", "ok"]) });

const waited = z.object({
  runId,
  status: z.enum(["ok", "error", "pending", "timeout"]).describe("`timeout`: the wait ended, not the run"),
  startedAt: epochMs.exactOptional(),
  endedAt: epochMs.exactOptional(),
  error: z.string().exactOptional(),
  code: z.string().exactOptional(),
  stopReason: z.string().exactOptional(),
});

const history = z.object({
  sessionKey,
  sessionId: z.string().exactOptional(),
  messages: z.array(message).describe("oldest first"),
  hasMore: z.boolean(),
  nextOffset: count.exactOptional(),
  totalMessages: count,
  thinkingLevel: z.string().exactOptional(),
  inFlightRun: z.object({ runId, text: z.string(), startedAt: epochMs }).exactOptional().describe("to be adopted after a reconnect"),
  sessionInfo: sessionRow.nullable().describe("null for an unknown session"),
});

const command = z.object({
  name: z.string().describe("as it is typed, with its slash"),
  arguments: z.string().exactOptional().describe("text behind the name; absent: it stands alone"),
  about: z.string(),
  scope: z.enum(["write", "approvals", "admin"]).describe("that a client needs; some arguments may ask for another one"),
});

/** Answers of runs and chat. */
export const runsResults = {
  agent: z.discriminatedUnion("status", [accepted, inFlight, finished]),
  "agent.wait": waited,
  "agent.identity.get": z.object({
    agentId,
    name: z.string(),
    emoji: z.string().exactOptional(),
    avatar: z.string().exactOptional(),
  }),
  "chat.send": chatStarted,
  "chat.abort": z.object({ ok: z.literal(true), aborted: z.boolean(), runIds: z.array(runId) }),
  "chat.history": history,
  "chat.inject": z.object({ ok: z.literal(true), messageId: z.string() }),
  "commands.list": z.object({ commands: z.array(command) }),
};
