import { randomUUID } from "node:crypto";
import type { JsonObject, MessageBlock, SessionRow } from "svc/sdk";
import { cutEnd } from "../common/cut.ts";
import { textOf } from "../runs/transcript.ts";

const TITLE_CHARS = 60;
const PREVIEW_CHARS = 160;

/** A new session of a key; `channel` and `kind` follow from the key (`operations.md` 13.2). */
export function newSession(key: string, agentId: string, now: number): SessionRow {
  const [first, second] = key.replace(/^agent:[^:]+:/, "").split(":");
  const isGroup = /:(?:group|channel):/.test(key);
  const channel = second && ["direct", "group", "channel", "thread"].includes(second) ? first : undefined;
  return {
    key,
    sessionId: randomUUID(),
    agentId,
    kind: isGroup ? "group" : "direct",
    createdAt: now,
    updatedAt: now,
    sessionStartedAt: now,
    ...(channel ? { channel } : {}),
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    archived: false,
    pinned: false,
    unread: false,
  };
}

/** The same key with a new transcript: overrides kept, counters zero, no trace of the old talk. */
export function freshSession(row: SessionRow, now: number): SessionRow {
  return {
    ...newSession(row.key, row.agentId, now),
    createdAt: row.createdAt,
    ...(row.channel === undefined ? {} : { channel: row.channel }),
    ...(row.label === undefined ? {} : { label: row.label }),
    ...(row.model === undefined ? {} : { model: row.model }),
    ...(row.thinkingLevel === undefined ? {} : { thinkingLevel: row.thinkingLevel }),
    pinned: row.pinned,
  };
}

/** First line of the first user message. */
export function titleOf(content: readonly MessageBlock[]): string | undefined {
  const line = textOf(content)
    .split("\n")
    .map((l) => l.replace(/\s+/g, " ").trim())
    .find((l) => l !== "");
  return line === undefined ? undefined : cutEnd(line, TITLE_CHARS);
}

export function previewOf(text: string): string | undefined {
  const line = text.replace(/\s+/g, " ").trim();
  return line === "" ? undefined : cutEnd(line, PREVIEW_CHARS);
}

/** The row as it goes over the wire (`protocol-methods.md` 12). */
export function toWireSession(row: SessionRow, activeRunIds: readonly string[], now: number): JsonObject {
  const [modelProvider] = row.model?.includes("/") ? row.model.split("/") : [];
  return {
    ...row,
    ...(row.startedAt === undefined ? {} : { runtimeMs: Math.max(0, (row.endedAt ?? now) - row.startedAt) }),
    ...(modelProvider ? { modelProvider } : {}),
    abortedLastRun: row.status === "killed" || row.status === "timeout",
    hasActiveRun: activeRunIds.length > 0,
    ...(activeRunIds.length > 0 ? { activeRunIds: [...activeRunIds] } : {}),
    totalTokensFresh: true,
    snapshotAt: now,
  };
}
