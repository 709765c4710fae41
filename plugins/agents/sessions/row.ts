import { randomUUID } from "node:crypto";
import { cutEnd, type MessageBlock, type SessionRow } from "svc/sdk";
import { textOf } from "../runs/transcript.ts";
import { unframed } from "./display.ts";

const TITLE_CHARS = 60;
const PREVIEW_CHARS = 160;

/** A new session of a key; channel, kind and type of chat follow from the key. */
export function newSession(key: string, agentId: string, now: number): SessionRow {
  const rest = key.replace(/^agent:[^:]+:/, "");
  const [first, second] = rest.split(":");
  const place = chatTypes.find((type) => type === second);
  return {
    key,
    sessionId: randomUUID(),
    agentId,
    kind: kindOf(rest),
    createdAt: now,
    updatedAt: now,
    sessionStartedAt: now,
    chatType: rest.includes(":topic:") ? "thread" : (chatTypes.find((type) => rest.includes(`:${type}:`)) ?? "direct"),
    ...(place && first ? { channel: first } : {}),
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    archived: false,
    pinned: false,
    unread: false,
  };
}

/** A thread of a group is a thread, and so is a topic. */
const chatTypes = ["thread", "group", "channel", "direct"] as const;

function kindOf(rest: string): SessionRow["kind"] {
  if (rest === "global" || rest === "unknown") return rest;
  return /:(?:group|channel):/.test(`:${rest}`) ? "group" : "direct";
}

/** Settings of a conversation that a person has chosen; forks go on with them. */
const settings = [
  "category",
  "model",
  "thinkingLevel",
  "verboseLevel",
  "reasoningLevel",
  "elevatedLevel",
  "fastMode",
  "responseUsage",
  "sendPolicy",
  "execHost",
  "execSecurity",
  "execAsk",
  "queueMode",
] as const satisfies ReadonlyArray<keyof SessionRow>;

/** Fields that a session keeps with a new transcript: its settings, its name, its place in a list, its origin and its way to a channel. */
const kept = [...settings, "channel", "label", "groupActivation", "lastRoute", "parentSessionKey", "spawnedBy", "pinned"] as const;

export function settingsOf(row: SessionRow): Partial<SessionRow> {
  return fieldsOf(row, settings);
}

/** The same key with a new transcript: overrides kept, counters zero, no trace of the old talk. */
export function freshSession(row: SessionRow, now: number): SessionRow {
  return { ...newSession(row.key, row.agentId, now), createdAt: row.createdAt, ...fieldsOf(row, kept) };
}

function fieldsOf(row: SessionRow, fields: ReadonlyArray<keyof SessionRow>): Partial<SessionRow> {
  return Object.fromEntries(fields.filter((field) => row[field] !== undefined).map((field) => [field, row[field]]));
}

/** First line of the first user message. */
export function titleOf(content: readonly MessageBlock[]): string | undefined {
  const line = unframed(textOf(content))
    .split("\n")
    .map((l) => l.replace(/\s+/g, " ").trim())
    .find((l) => l !== "");
  return line === undefined ? undefined : cutEnd(line, TITLE_CHARS);
}

export function previewOf(text: string): string | undefined {
  const line = text.replace(/\s+/g, " ").trim();
  return line === "" ? undefined : cutEnd(line, PREVIEW_CHARS);
}
