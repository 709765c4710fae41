import { isSvcError, type MessageRow, messageOf, type SessionRow } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import { type Kit, runsOf } from "../kit.ts";
import { patchOp } from "../runs/writes.ts";
import { commitFor } from "./commit-for.ts";
import { MAX_ALSO_KEPT, sinceCompaction } from "./compaction.ts";
import { compactionRow, tellCompaction } from "./compaction-row.ts";
import { usageCounters } from "./counters.ts";
import { existing, present } from "./find.ts";
import { readTranscript } from "./read-transcript.ts";
import { type Summary, summarise } from "./summarise.ts";

/** Turns that stay word for word. */
const KEPT_TURNS = 2;
/** A token is taken as this many characters. */
const CHARS_PER_TOKEN = 4;

export interface Compacted {
  compacted: boolean;
  /** Messages that models go on to read. */
  kept?: number;
}

/**
 * Makes what models read of a session shorter. Nothing leaves the transcript: a record says from which message on it is read, and what stands for
 * the rest. Messages that come meanwhile are not touched.
 * @param options.focus matters that the summary dwells on
 * @throws {SvcError} `unknown-session`, `compaction-failed`, `session-replaced` when it got a new transcript meanwhile
 */
export async function compactSession(
  kit: Kit,
  key: string,
  { maxLines, focus }: { maxLines?: number | undefined; focus?: string | undefined },
): Promise<Compacted> {
  const session = await existing(kit, key);
  const rows = await readTranscript(kit.store(), session.sessionId);
  const total = await kit.store().messages.count(session.sessionId);
  const read = sinceCompaction(rows);
  const keptFrom = maxLines === undefined ? startOfLastTurns(read.rows) : total - maxLines + 1;
  const first = read.rows[0]?.seq ?? 1;
  const kept = (from: number) => read.rows.filter((row) => row.seq >= from).length;
  if (keptFrom === undefined || keptFrom <= (maxLines === undefined ? first : Math.max(first, 1)))
    return { compacted: false, kept: kept(first) };
  const unanswered = maxLines === undefined ? unansweredBefore(kit, session, { rows: read.rows, keptFrom }) : [];
  const older = read.rows.filter((row) => row.seq < keptFrom && !unanswered.includes(row));
  if (older.length === 0) return { compacted: false, kept: kept(first) };
  const tokensBefore = tokensOf(read.rows);
  tellCompaction(kit, session, { phase: "before", tokens: tokensBefore });
  const summary = maxLines === undefined ? await summaryOf(kit, session, { older, before: read.summary, focus }) : undefined;
  const tokens = tokensOf([...unanswered, ...read.rows.filter((row) => row.seq >= keptFrom)]);
  await store(kit, session, { keptFrom, unanswered, summary, tokensBefore, tokens });
  tellCompaction(kit, session, { phase: "after", tokens });
  return { compacted: true, kept: maxLines ?? kept(keptFrom) + unanswered.length };
}

/** Messages that a run at work or a waiting one is to answer: their turns read them word for word. */
function unansweredBefore(
  kit: Kit,
  { key }: SessionRow,
  { rows, keptFrom }: { rows: readonly MessageRow[]; keptFrom: number },
): MessageRow[] {
  const live = new Set(runsOf(kit, key).map(({ id }) => id));
  return rows.filter(({ seq, role, runId = "" }) => seq < keptFrom && role === "user" && live.has(runId)).slice(-MAX_ALSO_KEPT);
}

async function summaryOf(
  kit: Kit,
  session: SessionRow,
  what: { older: readonly MessageRow[]; before: string | undefined; focus: string | undefined },
): Promise<Summary> {
  try {
    return await summarise(kit, session, what);
  } catch (error) {
    if (isSvcError(error)) throw error;
    throw agentErrors.compactionFailed({ key: session.key, reason: messageOf(error) }, { cause: error });
  }
}

async function store(
  kit: Kit,
  { key, sessionId }: SessionRow,
  made: { keptFrom: number; unanswered: readonly MessageRow[]; summary: Summary | undefined; tokensBefore: number; tokens: number },
): Promise<void> {
  const { keptFrom, unanswered, summary, tokensBefore, tokens } = made;
  const ts = kit.ctx.clock.now();
  const tokensAfter = tokens + Math.ceil((summary?.text.length ?? 0) / CHARS_PER_TOKEN);
  const alsoKept = unanswered.length === 0 ? {} : { alsoKept: unanswered.map(({ seq }) => seq) };
  const details = { keptFrom, summary: summary !== undefined, reason: "manual" as const, ...alsoKept, tokensBefore, tokensAfter };
  const record = compactionRow({ sessionId, ts }, summary, details);
  await kit.sessionLock.run(key, async () => {
    // Estimated until the next answer tells how full the context really is.
    const change = { updatedAt: ts, totalTokens: tokensAfter };
    const patch = patchOp(key, change, sessionId, summary && usageCounters(summary.usage));
    const [appended] = await commitFor(key, kit, [{ op: "message.append", message: record }, patch]);
    const after = await present(kit, key);
    if (!after) return;
    kit.events.message(after, { ...record, seq: appended?.seq ?? 0 });
    kit.events.sessionChanged(after, { reason: "compact" });
  });
}

/** Index at which the last turns begin; undefined when there is nothing before them. */
function startOfLastTurns(rows: readonly MessageRow[]): number | undefined {
  const turns = rows.filter((row) => row.role === "user");
  return turns.length > KEPT_TURNS ? turns.at(-KEPT_TURNS)?.seq : undefined;
}

function tokensOf(rows: readonly MessageRow[]): number {
  const chars = rows.reduce((sum, row) => sum + row.content.reduce((n, b) => n + (b.type === "text" ? b.text.length : 0), 0), 0);
  return Math.ceil(chars / CHARS_PER_TOKEN);
}
