import { isRecord } from "svc/sdk";
import type { Conversation, Conversations, SpokenLine } from "./conversations.ts";
import { dayOf } from "./days.ts";
import { shortHash } from "./recall-entry.ts";
import type { RecallStore } from "./recall-store.ts";
import { plainLine } from "./snippets.ts";
import { changeText, readState, STATE_FOLDER, writeState } from "./state-files.ts";

const SESSION_SCORE = 0.58;
const LOOKBACK_MS = 7 * 86_400_000;
/** Lines that one sweep takes, and bounds for those of one conversation. */
const MAX_LINES = 240;
const MIN_PER_SESSION = 12;
const MAX_PER_SESSION = 80;
/** Bounds of what is remembered as seen. All of it is one file. */
const MAX_SESSIONS = 2_048;
const MAX_HASHES = 4_096;
const MAX_ALL_HASHES = 60_000;
const HASH_CHARS = 10;
const MAX_SNIPPET_CHARS = 280;

/** Files of the corpus, below the workspace. */
export const CORPUS_FOLDER = [...STATE_FOLDER, "session-corpus"] as const;

export interface SessionIngestion {
  workspace: string;
  agentIds: readonly string[];
  conversations: Conversations;
  recall: RecallStore;
  now: number;
  today: string;
  timeZone?: string | undefined;
  signal: AbortSignal;
}

interface Seen {
  /** Changes when something was said. */
  fingerprint: string;
  /** Number of the last message that was looked at. */
  cursor: number;
  hashes: string[];
}

export interface SessionResult {
  sessions: number;
  lines: number;
  commit(): Promise<void>;
}

/** Takes what was said since the last sweep into the corpus, masked, and its lines into the short-term memory. */
export async function ingestSessions(options: SessionIngestion): Promise<SessionResult> {
  const { workspace, agentIds, conversations, now, signal } = options;
  const seen = seenOf(await readState(workspace, "session-ingestion"));
  const changed: Array<{ conversation: Conversation; known: Seen | undefined }> = [];
  for (const agentId of agentIds)
    for await (const conversation of conversations.recent(agentId, now - LOOKBACK_MS)) {
      const known = seen.get(conversation.sessionId);
      if (known?.fingerprint !== String(conversation.updatedAt) && changed.length < MAX_LINES / MIN_PER_SESSION)
        changed.push({ conversation, known });
    }
  const each = Math.min(MAX_PER_SESSION, Math.max(MIN_PER_SESSION, Math.ceil(MAX_LINES / Math.max(1, changed.length))));
  let left = MAX_LINES;
  let lines = 0;
  for (const { conversation, known } of changed) {
    signal.throwIfAborted();
    if (left <= 0) break;
    const limit = Math.min(each, left);
    const read = await conversations.read(conversation, { after: known?.cursor, limit });
    const fresh = unseen(read.lines, known, now);
    await take(fresh.lines, conversation, options);
    const isAll = read.lines.length < limit;
    const fingerprint = isAll ? String(conversation.updatedAt) : `${conversation.updatedAt}, not whole`;
    seen.delete(conversation.sessionId);
    seen.set(conversation.sessionId, { fingerprint, cursor: read.last, hashes: fresh.hashes });
    left -= read.lines.length;
    lines += fresh.lines.length;
  }
  return {
    sessions: changed.length,
    lines,
    commit: () => writeState(workspace, "session-ingestion", { version: 1, sessions: Object.fromEntries(bounded(seen)) }),
  };
}

/** Lines that were not said in this conversation before, and are not older than a sweep looks back. */
function unseen(lines: readonly SpokenLine[], known: Seen | undefined, now: number): { lines: SpokenLine[]; hashes: string[] } {
  const hashes = new Set(known?.hashes ?? []);
  const fresh = lines.filter((line) => {
    const hash = shortHash(line.text, HASH_CHARS);
    if (hashes.has(hash) || line.at < now - LOOKBACK_MS) return false;
    hashes.add(hash);
    return true;
  });
  return { lines: fresh, hashes: [...hashes].slice(-MAX_HASHES) };
}

/** Writes the lines into the files of their days first; a sweep that was cut off finds them there by their references. */
async function take(
  lines: readonly SpokenLine[],
  { sessionId }: Conversation,
  { workspace, recall, now, today, timeZone }: SessionIngestion,
): Promise<void> {
  const byDay = new Map<string, SpokenLine[]>();
  for (const line of lines) {
    const day = dayOf(line.at, timeZone);
    byDay.set(day, [...(byDay.get(day) ?? []), line]);
  }
  for (const [day, spoken] of byDay) {
    const name = `${day}.txt`;
    const path = [...CORPUS_FOLDER, name].join("/");
    let placed: Array<{ line: SpokenLine; number: number }> = [];
    await changeText(workspace, [...CORPUS_FOLDER, name], (before = "") => {
      const { text, numbers } = withLines(
        before,
        spoken.map((line) => `[${refOf(sessionId, line)}] ${line.text}`),
      );
      placed = spoken.map((line, i) => ({ line, number: numbers[i] as number }));
      return text;
    });
    for (const { line, number } of placed)
      recall.add({
        kind: "daily",
        path,
        startLine: number,
        endLine: number,
        snippet: snippetOfLine(line.text),
        score: SESSION_SCORE,
        query: `__dreaming_sessions__:${day}`,
        at: Math.min(now, Math.max(line.at, now - LOOKBACK_MS)),
        day: today,
        isOncePerDay: true,
        ref: refOf(sessionId, line),
        isUntrusted: line.isUntrusted,
      });
  }
}

function refOf(sessionId: string, { seq }: SpokenLine): string {
  return `sessions/${sessionId}#L${seq}`;
}

function snippetOfLine(text: string): string {
  const plain = plainLine(text);
  return plain.length > MAX_SNIPPET_CHARS ? `${plain.slice(0, MAX_SNIPPET_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…` : plain;
}

/** A text with these lines at its end, but for those that it has; and their numbers, from 1. Pure. */
export function withLines(before: string, added: readonly string[]): { text: string; numbers: number[] } {
  const lines = before === "" ? [] : before.replace(/\n$/, "").split("\n");
  const places = new Map(lines.map((line, i) => [line.slice(0, line.indexOf("] ") + 1), i + 1]));
  const numbers = added.map((line) => {
    const ref = line.slice(0, line.indexOf("] ") + 1);
    const known = places.get(ref);
    if (known !== undefined) return known;
    lines.push(line);
    places.set(ref, lines.length);
    return lines.length;
  });
  return { text: lines.length === 0 ? "" : `${lines.join("\n")}\n`, numbers };
}

function seenOf(state: Record<string, unknown>): Map<string, Seen> {
  const rows = Object.entries(isRecord(state.sessions) ? state.sessions : {});
  return new Map(
    rows.flatMap(([id, value]) => {
      if (!isRecord(value) || typeof value.fingerprint !== "string" || !Number.isSafeInteger(value.cursor) || !Array.isArray(value.hashes))
        return [];
      const hashes = value.hashes.filter((hash): hash is string => typeof hash === "string");
      return [[id, { fingerprint: value.fingerprint, cursor: Number(value.cursor), hashes }] as const];
    }),
  );
}

/** The conversations that were read last; of very many only their places, so that the file stays small. */
function bounded(seen: ReadonlyMap<string, Seen>): Array<[string, Seen]> {
  let left = MAX_ALL_HASHES;
  const kept: Array<[string, Seen]> = [];
  for (const [id, one] of [...seen].slice(-MAX_SESSIONS).reverse()) {
    const hashes = one.hashes.slice(-Math.max(0, left));
    kept.push([id, { ...one, hashes: left > 0 ? hashes : [] }]);
    left -= hashes.length;
  }
  return kept.reverse();
}
