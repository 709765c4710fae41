import { methodSpec, waitingMethodSpec, z } from "svc/sdk";
import { idExpectation, idPattern, idText } from "svc/sdk/internal";
import { agentId, attachments, idempotencyKey, label, queueMode, runId, sessionKey, thinking } from "./fields.ts";

/** Id of a place outside: channel, peer, account, thread, message. */
const place = idText(512);

/** Agent runs and chat. */
export const runsMethods = {
  agent: methodSpec(
    "write",
    "one agent run: `accepted`, events, final",
    z.strictObject({
      message: z.string().min(1),
      idempotencyKey,
      agentId: agentId.optional(),
      sessionKey: sessionKey.optional(),
      sessionId: idText(512).optional(),
      model: z.string().min(1).optional(),
      provider: z.string().min(1).optional(),
      thinking: thinking.optional(),
      timeout: z.number().int().min(0).max(86_400).optional(),
      deliver: z.boolean().optional(),
      channel: place.optional(),
      to: place.optional(),
      accountId: place.optional(),
      threadId: place.optional(),
      replyTo: place.optional(),
      replyChannel: place.optional(),
      bestEffortDeliver: z.boolean().optional(),
      lane: z.enum(["main", "cron", "hooks"]).optional(),
      attachments: attachments.optional(),
      extraSystemPrompt: z.string().max(100_000).optional(),
      label: label.optional(),
    }),
  ),
  "agent.wait": waitingMethodSpec(
    "write",
    "waits for the end of a run; waiting never cancels",
    z.strictObject({ runId, timeoutMs: z.number().int().min(0).max(3_600_000).optional() }),
  ),
  "chat.send": methodSpec(
    "write",
    "a chat turn; progress only by events",
    z.strictObject({
      sessionKey,
      message: z.string(),
      idempotencyKey,
      agentId: agentId.optional(),
      thinking: thinking.optional(),
      deliver: z.boolean().optional(),
      attachments: attachments.optional(),
      timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
      queueMode: queueMode.optional(),
    }),
  ),
  "chat.abort": methodSpec(
    "write",
    "stops runs of one session",
    z.strictObject({ sessionKey, runId: runId.optional(), agentId: agentId.optional() }),
  ),
  "chat.history": methodSpec(
    "read",
    "messages of a session, oldest first, newest page by default",
    z.strictObject({
      sessionKey,
      limit: z.number().int().min(1).max(1000).optional(),
      offset: z.number().int().min(0).optional(),
      maxChars: z.number().int().min(1).max(1_000_000).optional(),
    }),
  ),
  "chat.inject": methodSpec(
    "admin",
    "appends a note in the assistant's name; no model is called",
    z.strictObject({
      sessionKey,
      message: z.string().min(1),
      label: z.string().trim().min(1).max(100).regex(idPattern, idExpectation).optional(),
    }),
  ),
  "commands.list": methodSpec(
    "read",
    "commands that a chat message may be, for completion; `/help` has the same lines",
    z.strictObject({}),
  ),
} as const;
