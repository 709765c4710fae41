import { methodSpec, z } from "svc/sdk";
import { idExpectation, idPattern, idText } from "svc/sdk/internal";
import { agentId, attachments, idempotencyKey, label, listFields, none, runId, sessionKey, thinking } from "./fields.ts";

/** The transcript a writer believes to be the present one; another one is refused with `details.reason: "session-changed"`. */
const expectedSessionId = idText(512).optional();

/** One word of a setting whose words belong to the part that reads it. */
const word = z
  .string()
  .max(32)
  .regex(/^[a-z][a-z-]*$/, "expected one lower-case word");

/** Fields of `sessions.patch` that need `operator.write` only; every other one needs `operator.admin`. */
const ordinaryFields = {
  label: label.nullable().optional(),
  category: z.string().trim().min(1).max(64).regex(idPattern, idExpectation).nullable().optional(),
  archived: z.boolean().nullable().optional(),
  pinned: z.boolean().nullable().optional(),
  unread: z.boolean().nullable().optional(),
  model: z.string().min(1).nullable().optional(),
  thinkingLevel: thinking.nullable().optional(),
  fastMode: z.boolean().nullable().optional(),
};

const adminFields = {
  verboseLevel: word.nullable().optional(),
  reasoningLevel: word.nullable().optional(),
  elevatedLevel: word.nullable().optional(),
  responseUsage: word.nullable().optional(),
  sendPolicy: z.enum(["allow", "deny"]).nullable().optional(),
  groupActivation: z.enum(["mention", "always"]).nullable().optional(),
  execHost: word.nullable().optional(),
  execSecurity: word.nullable().optional(),
  execAsk: word.nullable().optional(),
};

/** True when a patch names a field that only an administrator may change, be it to clear it. */
export function isAdminPatch(patch: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(adminFields).some((field) => patch[field] !== undefined);
}

/** Sessions. */
export const sessionsMethods = {
  "sessions.list": methodSpec("read", "sessions, newest first", z.strictObject(listFields)),
  "sessions.describe": methodSpec("read", "one session row or null", z.strictObject({ key: sessionKey })),
  "sessions.resolve": methodSpec(
    "read",
    "full key and agent of the session with a key, a sessionId or a label",
    z
      .strictObject({
        key: sessionKey.optional(),
        sessionId: idText(512).optional(),
        label: label.optional(),
        agentId: agentId.optional(),
        allowMissing: z.boolean().optional(),
      })
      .refine((p) => [p.key, p.sessionId, p.label].filter((v) => v !== undefined).length === 1, "expected one of key, sessionId and label"),
  ),
  "sessions.preview": methodSpec(
    "read",
    "last texts of some sessions",
    z.strictObject({
      keys: z.array(z.string()).min(1),
      limit: z.number().int().min(1).max(200).optional(),
      maxChars: z.number().int().min(20).max(10_000).optional(),
    }),
  ),
  "sessions.create": methodSpec(
    "write",
    "creates a session, or returns the one with that key; with a message also starts a run",
    z.strictObject({
      key: sessionKey.optional(),
      agentId: agentId.optional(),
      label: label.optional(),
      model: z.string().min(1).optional(),
      thinkingLevel: thinking.optional(),
      parentSessionKey: sessionKey.optional(),
      message: z.string().min(1).optional(),
      idempotencyKey: idempotencyKey.optional(),
    }),
  ),
  "sessions.fork": methodSpec(
    "write",
    "new session with the messages before one of another, and its settings; what is sent to it takes the place of that message",
    z.strictObject({
      key: sessionKey,
      seq: z
        .number()
        .int()
        .min(1)
        .max(Number.MAX_SAFE_INTEGER)
        .describe("the message that is not part of it any more, as `__svc.seq` of the history"),
      label: label.optional(),
      expectedSessionId,
      idempotencyKey: idempotencyKey.optional(),
    }),
  ),
  "sessions.branches": methodSpec(
    "read",
    "messages of a session in whose place forked sessions have others",
    z.strictObject({ key: sessionKey }),
  ),
  "sessions.send": methodSpec(
    "write",
    "`chat.send` to a session that exists",
    z.strictObject({
      key: sessionKey,
      message: z.string(),
      idempotencyKey: idempotencyKey.optional(),
      thinking: thinking.optional(),
      attachments: attachments.optional(),
      timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
    }),
  ),
  "sessions.abort": methodSpec(
    "write",
    "stops a run by its id, or the runs of a session",
    z
      .strictObject({ key: sessionKey.optional(), runId: runId.optional() })
      .refine((p) => p.key !== undefined || p.runId !== undefined, "expected key or runId"),
  ),
  "sessions.reset": methodSpec(
    "admin",
    "new transcript, overrides kept",
    z.strictObject({ key: sessionKey, reason: z.enum(["new", "reset"]).optional(), expectedSessionId }),
  ),
  "sessions.delete": methodSpec(
    "admin",
    "removes a session",
    z.strictObject({ key: sessionKey, deleteTranscript: z.boolean().optional(), expectedSessionId }),
  ),
  "sessions.compact": methodSpec(
    "admin",
    "shortens the part of a transcript that models read: to a summary, or with `maxLines` to the newest messages",
    z.strictObject({ key: sessionKey, maxLines: z.number().int().min(1).max(100_000).optional() }),
  ),
  "sessions.cleanup": methodSpec(
    "admin",
    "keeps sessions within the limits of `session.maintenance` now, whatever its mode; `dryRun` only counts",
    z.strictObject({ dryRun: z.boolean().optional() }),
  ),
  "sessions.patch": methodSpec(
    "write",
    "changes overrides of a session; null clears; some fields need admin",
    z.strictObject({ key: sessionKey, expectedSessionId, ...ordinaryFields, ...adminFields }),
  ),
  "sessions.subscribe": methodSpec("read", "receive `sessions.changed`; with list params also the list", z.strictObject(listFields)),
  "sessions.unsubscribe": methodSpec("read", "ends `sessions.subscribe`", none),
  "sessions.messages.subscribe": methodSpec(
    "read",
    "receive `session.message` and `session.tool` of one session",
    z.strictObject({ key: sessionKey }),
  ),
  "sessions.messages.unsubscribe": methodSpec("read", "ends `sessions.messages.subscribe`", z.strictObject({ key: sessionKey })),
} as const;
