import type { JsonObject } from "svc/sdk";
import { type Kit, runsOf } from "../kit.ts";
import { toWireMessage, visibleText } from "./display.ts";
import { newestMessages } from "./newest-messages.ts";
import { wireSession } from "./wire.ts";

const DEFAULT_LIMIT = 200;
const DEFAULT_TEXT_CHARS = 8_000;
/** Size of a whole answer; what does not fit is cut from the old end. */
const MAX_ANSWER_BYTES = 6 * 1024 * 1024;

/** `chat.history`: oldest first, newest page by default; `offset` counts messages from the newest. An unknown session is empty. */
export async function readHistory(kit: Kit, sessionKey: string, page: HistoryPage): Promise<JsonObject> {
  // A run that ends while its messages are read would be in neither: read again.
  for (let left = MOST_READS; ; left--) {
    const { version } = kit.runs;
    const history = await readOnce(kit, sessionKey, page);
    if (kit.runs.version === version || left <= 1) return history;
  }
}

/** Times that a history is read while runs begin and end. */
const MOST_READS = 4;

interface HistoryPage {
  limit?: number | undefined;
  offset?: number | undefined;
  maxChars?: number | undefined;
}

async function readOnce(kit: Kit, sessionKey: string, { limit, offset, maxChars }: HistoryPage): Promise<JsonObject> {
  const store = kit.store();
  const session = await store.sessions.get(sessionKey);
  if (!session) return { sessionKey, messages: [], hasMore: false, totalMessages: 0, sessionInfo: null };
  const total = await store.messages.count(session.sessionId);
  const skip = Math.min(offset ?? 0, total);
  const rows = await newestMessages(store, session.sessionId, { before: total - skip + 1, limit: limit ?? DEFAULT_LIMIT });
  const shown = rows.map((row) => toWireMessage(row, maxChars ?? DEFAULT_TEXT_CHARS));
  const first = firstThatFits(shown);
  const read = skip + shown.length - first;
  const runs = runsOf(kit, sessionKey);
  const active = runs.find((r) => r.phase !== "queued" && !r.lead && r.sessionId === session.sessionId);
  return {
    sessionKey,
    sessionId: session.sessionId,
    messages: shown.slice(first).filter(isVisible),
    hasMore: read < total,
    ...(read < total ? { nextOffset: read } : {}),
    totalMessages: total,
    ...(session.thinkingLevel === undefined ? {} : { thinkingLevel: session.thinkingLevel }),
    ...(active ? { inFlightRun: { runId: active.id, text: visibleText(active.shownText), startedAt: active.startedAt } } : {}),
    sessionInfo: wireSession(kit, session),
  };
}

function firstThatFits(messages: readonly JsonObject[]): number {
  let left = MAX_ANSWER_BYTES;
  for (let i = messages.length - 1; i >= 0; i--) {
    left -= Buffer.byteLength(JSON.stringify(messages[i])) + 1;
    if (left < 0) return i + 1;
  }
  return 0;
}

/** False for an assistant message of which nothing is left to show but how it was thought of. */
function isVisible(message: JsonObject): boolean {
  return message.role !== "assistant" || (message.content as Array<{ type?: string }>).some(({ type }) => type !== "reasoning");
}
