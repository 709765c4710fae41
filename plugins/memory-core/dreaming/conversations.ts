import { setImmediate as nextTurn } from "node:timers/promises";
import { type MessageRow, normalizedSessionKey, type SessionRow } from "svc/sdk";
import { redactSecrets } from "../engine/sessions/redact.ts";
import { isOfMachine, toTranscriptMessage } from "../sessions/eligible.ts";
import { createSlices } from "../sessions/slices.ts";
import { createTriggers, rememberedSessions, type TranscriptStore } from "../sessions/transcripts.ts";
import { isFromOutside } from "./snippets.ts";

/** A message of a conversation, secrets masked. */
export interface SpokenLine {
  seq: number;
  /** `User: …` or `Assistant: …`, one line. */
  text: string;
  at: number;
  /** Others than the owner had a word in it: a group, or content from outside that its run has read. */
  isUntrusted: boolean;
}

/** A conversation that belongs into the memory of its agent. */
export interface Conversation {
  sessionId: string;
  updatedAt: number;
  isShared: boolean;
}

/** Conversations of agents, read in parts small enough for the main thread. */
export interface Conversations {
  /** Conversations that changed lately, the newest first. */
  recent(agentId: string, since: number): AsyncIterable<Conversation>;
  /** Messages behind `after`, at most `limit`, and the number up to which everything was seen. Without `after` it begins with the newest messages. */
  read(conversation: Conversation, options: { after: number | undefined; limit: number }): Promise<{ lines: SpokenLine[]; last: number }>;
}

/** Rows that one read looks at. */
const MAX_ROWS = 600;
/** Messages that a conversation which was never read begins with. */
const FIRST_ROWS = 200;
const MAX_LINE_CHARS = 400;
/** Shorter ones say nothing that is worth a line: `ok`, `thanks`. */
const MIN_LINE_CHARS = 16;

export function createConversations(store: () => TranscriptStore): Conversations {
  return {
    async *recent(agentId, since) {
      for await (const session of rememberedSessions(store, { agentId, updatedAfter: since }))
        yield { sessionId: session.sessionId, updatedAt: session.updatedAt, isShared: isShared(session) };
    },
    async read({ sessionId, isShared: isOfGroup }, { after, limit }) {
      const lines: SpokenLine[] = [];
      const triggerOf = createTriggers(store);
      const slices = createSlices();
      const fromOutside = new Set<string>();
      let last = after ?? (await startOf(store, sessionId));
      for (let rows = 0; rows < MAX_ROWS && lines.length < limit; rows += slices.rows) {
        const page = await slices.read((count) => store().messages.scan(sessionId, last, count), MAX_ROWS - rows);
        for (const row of page) {
          if (lines.length >= limit) break;
          last = row.seq;
          if (row.runId !== undefined && hasOutside(row)) fromOutside.add(row.runId);
          const trigger = await triggerOf(row);
          const message = isOfMachine(row, () => trigger) ? undefined : toTranscriptMessage(row);
          const text = message && lineOf(message.role, message.text);
          if (!message || text === undefined) continue;
          const isUntrusted = isOfGroup || isFromOutside(message.text) || (row.runId !== undefined && fromOutside.has(row.runId));
          lines.push({ seq: message.seq, text, at: message.ts, isUntrusted });
        }
        if (slices.isLast) break;
        await nextTurn();
      }
      return { lines, last };
    },
  };
}

function isShared({ key, kind, chatType }: SessionRow): boolean {
  const parts = normalizedSessionKey(key).split(":");
  return kind === "group" || (chatType !== undefined && chatType !== "direct") || parts.includes("group") || parts.includes("channel");
}

async function startOf(store: () => TranscriptStore, sessionId: string): Promise<number> {
  const page = await store().messages.page(sessionId, { before: Number.MAX_SAFE_INTEGER, limit: FIRST_ROWS });
  return (page[0]?.seq ?? 1) - 1;
}

/** A tool result, or a message, that holds a frame of external text. */
function hasOutside({ content }: MessageRow): boolean {
  return Array.isArray(content) && content.some((block) => block.type === "text" && isFromOutside(block.text));
}

/** A message as one line without secrets; undefined for commands and for what is too short. Masked before it is cut: half a secret is not known as one. */
function lineOf(role: "user" | "assistant", text: string): string | undefined {
  const words = redactSecrets(text.slice(0, 20_000))
    .replace(/[\s\u0085]+/g, " ")
    .trim();
  if (words.length < MIN_LINE_CHARS || /^\/[a-z]/.test(words)) return undefined;
  const cut = words.length > MAX_LINE_CHARS ? `${words.slice(0, MAX_LINE_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…` : words;
  return `${role === "user" ? "User" : "Assistant"}: ${cut}`;
}
