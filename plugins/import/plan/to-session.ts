import { createHash } from "node:crypto";
import { canonicalSessionKey, cutEnd, isRecord, MAIN_KEY, messageOf, type SessionRow } from "svc/sdk";
import { type Tree, toWellFormed } from "svc/sdk/internal";

/** A session as it will be stored, before its transcript was read. */
export interface PlannedSession {
  session: SessionRow;
  /** Name of the transcript's file. */
  fileName: string;
}

/** Facts that a foreign key is read with. */
export interface SessionPlace {
  /** Agent in whose folder the index stands. */
  agentId: string;
  /** Ids of the agents there are after the import. */
  agents: ReadonlySet<string>;
  /** Name of main sessions there. */
  mainKey: string;
  /** Time of the import. */
  now: number;
}

const MAX_TITLE = 60;
const chatTypes = ["thread", "group", "channel", "direct"] as const;
const thinkingLevels = ["off", "minimal", "low", "medium", "high"];

/** Turns an entry of a foreign index into a session. @returns the reason when it cannot become one */
export function toSession(foreignKey: string, entry: Tree, place: SessionPlace): PlannedSession | string {
  const { sessionId } = entry;
  if (typeof sessionId !== "string" || !/^[\w-]{1,128}$/.test(sessionId)) return "it names no transcript";
  const rest = restOf(foreignKey, place);
  if (typeof rest !== "string") return rest.reason;
  if (/^cron:/.test(rest)) return "it is a run of a scheduled job; jobs come without their runs";
  let named: { key: string; agentId: string };
  try {
    named = canonicalSessionKey(rest, ownerOf(foreignKey) ?? place.agentId);
  } catch (error) {
    return messageOf(error);
  }
  if (!place.agents.has(named.agentId)) return `agent "${named.agentId}" is not configured here`;
  const session = {
    ...rowOf(named, rest),
    ...timesOf(entry, place.now),
    sessionId: sessionIdOf(named.key, sessionId),
    ...settingsOf(entry),
  };
  return { session, fileName: fileNameOf(entry, sessionId) };
}

const full = /^agent:([^:]+):(.+)$/s;

function ownerOf(key: string): string | undefined {
  return full.exec(key)?.[1]?.toLowerCase();
}

/** The part after the agent, in the words of svc: `dm` is `direct`, and the main session is `main`. */
function restOf(key: string, { mainKey }: SessionPlace): string | { reason: string } {
  const rest = full.exec(key)?.[2] ?? key;
  if (rest.startsWith("agent:")) return { reason: "its key names no agent" };
  if (rest === mainKey) return MAIN_KEY;
  const parts = rest.split(":");
  return parts.map((part, i) => (part === "dm" && i < 3 && i < parts.length - 1 ? "direct" : part)).join(":");
}

/** The transcript keeps its id where it has the form of one, so that a second import finds it; another one follows from key and id. */
function sessionIdOf(key: string, foreign: string): string {
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(foreign)) return foreign;
  const hex = createHash("sha256").update(`${key}\n${foreign}`).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
}

/** Only the last part of a path counts: transcripts stand beside their index. */
function fileNameOf({ sessionFile }: Tree, sessionId: string): string {
  const name = typeof sessionFile === "string" ? (sessionFile.split(/[/\\]/).at(-1) ?? "") : "";
  return /^[\w-][\w.-]{0,200}\.jsonl$/.test(name) ? name : `${sessionId}.jsonl`;
}

type Place = Pick<SessionRow, "key" | "agentId" | "kind" | "chatType" | "channel" | "archived" | "pinned" | "unread">;

function rowOf({ key, agentId }: { key: string; agentId: string }, rest: string): Place {
  const [first, second] = rest.split(":");
  const place = chatTypes.find((type) => type === second);
  const isShared = /:(?:group|channel):/.test(`:${rest}`);
  return {
    key,
    agentId,
    kind: rest === "global" || rest === "unknown" ? rest : isShared ? "group" : "direct",
    chatType: rest.includes(":topic:") ? "thread" : (chatTypes.find((type) => rest.includes(`:${type}:`)) ?? "direct"),
    ...(place && first ? { channel: first } : {}),
    archived: false,
    pinned: false,
    unread: false,
  };
}

/** The row itself is as old as the import, so that no clean-up deletes it as unused; what was said when stays true. */
function timesOf(entry: Tree, now: number) {
  const time = (value: unknown) =>
    typeof value === "number" && Number.isSafeInteger(value) && value > 0 && value <= now ? value : undefined;
  const usedAt = time(entry.updatedAt) ?? now;
  const startedAt = time(entry.sessionStartedAt) ?? usedAt;
  const heardAt = time(entry.lastInteractionAt) ?? usedAt;
  return { createdAt: startedAt, updatedAt: now, sessionStartedAt: startedAt, lastInteractionAt: heardAt, lastActivityAt: usedAt };
}

function settingsOf(entry: Tree) {
  const count = (value: unknown) => (typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0);
  const title = titleOf(entry);
  const { thinkingLevel } = entry;
  return {
    inputTokens: count(entry.inputTokens),
    outputTokens: count(entry.outputTokens),
    totalTokens: count(entry.totalTokens),
    ...(title === undefined ? {} : { derivedTitle: title }),
    ...(typeof thinkingLevel === "string" && thinkingLevels.includes(thinkingLevel) ? { thinkingLevel } : {}),
  };
}

function titleOf(entry: Tree): string | undefined {
  const origin = isRecord(entry.origin) ? entry.origin.label : undefined;
  const text = [entry.label, entry.displayName, entry.subject, origin].find((value) => typeof value === "string" && value.trim() !== "");
  return typeof text === "string"
    ? cutEnd(
        toWellFormed(text)
          .replace(/[\s\p{Cc}]+/gu, " ")
          .trim(),
        MAX_TITLE,
      )
    : undefined;
}
