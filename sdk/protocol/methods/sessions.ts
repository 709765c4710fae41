import { z } from "zod";
import { listFields, none, sessionKey, thinking } from "./fields.ts";
import { method } from "./spec.ts";

/** Sessions (`protocol-methods.md` 12). */
export const sessionsMethods = {
  "sessions.list": method("read", "sessions, newest first", z.strictObject(listFields)),
  "sessions.describe": method("read", "one session row or null", z.strictObject({ key: sessionKey })),
  "sessions.preview": method(
    "read",
    "last texts of some sessions",
    z.strictObject({
      keys: z.array(z.string()).min(1),
      limit: z.number().int().min(1).max(200).optional(),
      maxChars: z.number().int().min(20).max(10_000).optional(),
    }),
  ),
  "sessions.reset": method(
    "admin",
    "new transcript, overrides kept",
    z.strictObject({ key: sessionKey, reason: z.enum(["new", "reset"]).optional(), expectedSessionId: z.string().optional() }),
  ),
  "sessions.delete": method(
    "admin",
    "removes a session",
    z.strictObject({ key: sessionKey, deleteTranscript: z.boolean().optional(), expectedSessionId: z.string().optional() }),
  ),
  "sessions.patch": method(
    "write",
    "changes overrides of a session; null clears",
    z.strictObject({
      key: sessionKey,
      expectedSessionId: z.string().optional(),
      label: z.string().min(1).max(512).nullable().optional(),
      archived: z.boolean().nullable().optional(),
      pinned: z.boolean().nullable().optional(),
      unread: z.boolean().nullable().optional(),
      model: z.string().min(1).nullable().optional(),
      thinkingLevel: thinking.nullable().optional(),
    }),
  ),
  "sessions.subscribe": method("read", "receive `sessions.changed`; with list params also the list", z.strictObject(listFields)),
  "sessions.unsubscribe": method("read", "end of `sessions.subscribe`", none),
  "sessions.messages.subscribe": method(
    "read",
    "receive `session.message` and `session.tool` of one session",
    z.strictObject({ key: sessionKey }),
  ),
  "sessions.messages.unsubscribe": method("read", "end of `sessions.messages.subscribe`", z.strictObject({ key: sessionKey })),
} as const;
