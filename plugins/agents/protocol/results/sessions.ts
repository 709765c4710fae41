import { z } from "svc/sdk";
import { agentId, count, epochMs, runId, sessionKey } from "./fields.ts";
import { chatStarted } from "./runs.ts";
import { sessionRow } from "./session-row.ts";

const list = z
  .object({
    ts: epochMs,
    path: z.string().describe("of the state database"),
    count,
    totalCount: count,
    limitApplied: count,
    hasMore: z.boolean(),
    nextOffset: count.nullable(),
    defaults: z.object({ modelProvider: z.string().nullable(), model: z.string().nullable(), contextTokens: count.nullable() }),
    sessions: z.array(sessionRow),
  })
  .meta({ id: "SessionList" });

const preview = z.object({
  key: z.string(),
  status: z.enum(["ok", "empty", "missing", "error"]),
  items: z.array(z.object({ role: z.enum(["user", "assistant"]), text: z.string() })),
});

const branchPoint = z.object({
  seq: z.number().int().min(1).describe("of the first message of this session that the others do not have"),
  current: count.describe("index of its own branch"),
  branches: z
    .array(z.object({ key: sessionKey, seq: z.number().int().min(1).describe("of that message in its session"), updatedAt: epochMs }))
    .describe("the oldest first; `key`: the session of it that was used last"),
});

const subscribed = z.object({ subscribed: z.boolean(), key: sessionKey });

/** Answers about sessions. */
export const sessionsResults = {
  "sessions.list": list,
  "sessions.describe": z.object({ session: sessionRow.nullable() }),
  "sessions.resolve": z.discriminatedUnion("ok", [
    z.object({ ok: z.literal(true), key: sessionKey, agentId }),
    z.object({ ok: z.literal(false) }).describe("only with `allowMissing`"),
  ]),
  "sessions.preview": z.object({ ts: epochMs, previews: z.array(preview) }),
  "sessions.create": z.object({
    ok: z.literal(true),
    key: sessionKey,
    sessionId: z.string(),
    entry: sessionRow,
    runStarted: z.boolean(),
    runId: runId.exactOptional(),
  }),
  "sessions.fork": z.object({
    ok: z.literal(true),
    key: sessionKey,
    sessionId: z.string(),
    entry: sessionRow,
    copied: count.describe("messages it begins with"),
  }),
  "sessions.branches": z.object({
    key: sessionKey,
    sessionId: z.string().exactOptional().describe("of the transcript that `points` are about; absent: there is no such session"),
    points: z.array(branchPoint).describe("only those with more than one branch, in the order of the transcript"),
  }),
  "sessions.send": chatStarted,
  "sessions.abort": z.object({
    ok: z.literal(true),
    abortedRunId: runId.nullable(),
    status: z.enum(["aborted", "no-active-run"]),
  }),
  "sessions.patch": z.object({
    ok: z.literal(true),
    path: z.string(),
    key: sessionKey,
    entry: sessionRow,
    resolved: z.object({ modelProvider: z.string().nullable(), model: z.string().nullable(), thinkingLevel: z.string() }),
  }),
  "sessions.reset": z.object({ ok: z.literal(true), key: sessionKey, entry: sessionRow }),
  "sessions.delete": z.object({
    ok: z.literal(true),
    key: sessionKey,
    deleted: z.boolean(),
    archived: z.array(z.string()).describe("session ids whose transcript is kept"),
  }),
  "sessions.compact": z.object({ ok: z.literal(true), key: sessionKey, compacted: z.boolean(), kept: count.exactOptional() }),
  "sessions.cleanup": z.object({
    mode: z.enum(["enforce", "warn"]).describe("`warn`: nothing was deleted"),
    expired: count.describe("sessions unused for too long"),
    surplus: count.describe("sessions beyond the number that stays"),
    archives: count.describe("transcripts without a session, past their time"),
    forSpace: count.describe("what went to get below `highWaterBytes`"),
    usedBytes: count,
    maxDiskBytes: count,
  }),
  "sessions.subscribe": z.object({ subscribed: z.literal(true), list: list.exactOptional().describe("with list parameters") }),
  "sessions.unsubscribe": z.object({ subscribed: z.literal(false) }),
  "sessions.messages.subscribe": subscribed,
  "sessions.messages.unsubscribe": subscribed,
};
