import type { JsonObject, MessageRow } from "svc/sdk";
import { type Kit, runsOf } from "../kit.ts";
import { SUMMARY_HEAD, sinceCompaction } from "../sessions/compaction.ts";
import { MAX_ROWS, readTranscript } from "../sessions/read-transcript.ts";
import { madeFromSummary, noteInFront } from "../traces/source.ts";
import { unstoredRows } from "./given-history.ts";
import type { PromptMessage } from "./replay-to-model.ts";
import type { Run } from "./run.ts";
import { fromFirstUser, orderByRun, toModelMessages } from "./transcript.ts";

/** Times that runs are looked up while others end. */
const MOST_READS = 4;

type UserMessage = Extract<PromptMessage, { role: "user" }>;

/** Messages the model reads: the summary of removed turns, the earlier turns, then the present one with the messages that joined it. */
export async function conversation(run: Run, kit: Kit): Promise<PromptMessage[]> {
  const stored = await readTranscript(kit.store(), run.sessionId);
  const own = new Set([run, ...run.followers].map((r) => r.id));
  const { rows: sinceThen, summary, compactedAt } = sinceCompaction(stored);
  const rows = [...unstoredRows(run, MAX_ROWS - stored.length), ...sinceThen];
  const read = run.heartbeat?.lightContext ? rows.filter((row) => row.runId !== undefined && own.has(row.runId)) : rows;
  const turnOf = await turnFinder(kit, read);
  // Nothing waits from here on: which runs are at work and what was left out is the state of one moment.
  const waiting = new Set(runsOf(kit, run.sessionKey).flatMap((r) => (r.phase === "queued" && !own.has(r.id) ? [r.id] : [])));
  const rowsInOrder = orderByRun(read, run.id, (id) => (waiting.has(id) ? undefined : turnOf(id)));
  const ordered = toModelMessages(rowsInOrder, own, { countedAfter: compactedAt, turnOf });
  // Where older rows were left unread, the rest of a turn comes first, which nobody understands.
  const messages = rows.length < MAX_ROWS ? ordered : [...fromFirstUser(ordered)];
  run.leftOutNote ??= kit.leftOut.take(run.sessionKey);
  if (summary !== undefined && !run.heartbeat?.lightContext) {
    const [first] = messages;
    const text = `${SUMMARY_HEAD}\n${summary}`;
    if (first?.role === "user") before(first, text, compactedAt);
    else messages.unshift(madeFromSummary({ role: "user", content: [{ type: "text", text }] }, compactedAt));
  }
  if (run.leftOutNote !== undefined) before(messages.findLast(isUser), run.leftOutNote, run.leftOutNote);
  return messages;
}

/** Maps a run to the turn its rows belong to: its own, or that of the run it joined; undefined when no model is to read them. */
async function turnFinder(kit: Pick<Kit, "runs" | "store">, rows: readonly MessageRow[]): Promise<(runId: string) => string | undefined> {
  const answered = new Set(rows.flatMap((row) => (row.role !== "user" && row.runId !== undefined ? [row.runId] : [])));
  const unanswered = new Set(rows.flatMap(({ runId }) => (runId === undefined || answered.has(runId) ? [] : [runId])));
  const outcomes = new Map<string, JsonObject | undefined>();
  // A run that ends while others are read is read once more: what is known of it must be its end.
  for (let left = MOST_READS; left > 0; left--) {
    const missing = [...unanswered].filter((runId) => !kit.runs.has(runId) && !outcomes.has(runId));
    if (missing.length === 0) break;
    const found = await Promise.all(missing.map((runId) => kit.store().runs.get(runId)));
    for (const [at, runId] of missing.entries()) outcomes.set(runId, found[at]?.outcome);
  }
  const known = new Map<string, string | undefined>();
  const find = (runId: string): string | undefined => {
    const live = kit.runs.get(runId);
    if (live) return live.isLeftOut ? undefined : (live.lead?.id ?? runId);
    if (answered.has(runId)) return runId;
    const outcome = outcomes.get(runId);
    if (outcome?.isLeftOut === true) return undefined;
    return typeof outcome?.mergedInto === "string" ? outcome.mergedInto : runId;
  };
  return (runId) => {
    if (!known.has(runId)) known.set(runId, find(runId));
    return known.get(runId);
  };
}

/** @param source the text itself, or the row that has it */
function before(message: UserMessage | undefined, text: string, source: number | string): void {
  if (!message) return;
  message.content.unshift({ type: "text", text });
  noteInFront(message, source);
}

function isUser(message: PromptMessage): message is UserMessage {
  return message.role === "user";
}
