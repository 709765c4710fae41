import { randomUUID } from "node:crypto";
import { commonErrors, isRecord, isSvcError, type MessageRow, type SessionRow, type StoreOp } from "svc/sdk";
import { reached } from "svc/sdk/internal";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import { tellNewTranscript } from "../runs/accept.ts";
import { textOf } from "../runs/transcript.ts";
import { archiveOp, forgetArchiveOp } from "./archive.ts";
import { branchFrom, checkBranchRoom, joinBranchOps } from "./branches.ts";
import { checkCurrent } from "./changes.ts";
import { commitFor } from "./commit-for.ts";
import { COMPACTION_KIND } from "./compaction.ts";
import { existing } from "./find.ts";
import { newestMessages } from "./newest-messages.ts";
import { newSession, previewOf, settingsOf } from "./row.ts";

/** Transcripts that are copied at the same time. */
const MAX_COPIES = 4;
/** Rows of one read and one commit: a few milliseconds. */
const PAGE_ROWS = 50;
const PAGE_BYTES = 128 * 1024;
/** Rows before and behind the message in which turns are looked for that went on behind it. */
const NEAR_ROWS = 200;

/**
 * Makes a session of what was said in another one before a message. The other stays as it is. Its messages are copied page by page into a transcript that no session has, and the
 * last commit makes the session: what a crash leaves behind is an archive, and goes with those.
 * @throws {SvcError} `unknown-session`, `session-replaced`, `unknown-message`, `message-unanswered`, `too-many-branches`, `label-taken`, `fork-incomplete`, `busy`
 */
export async function forkSession(
  kit: Kit,
  wanted: { key: string; seq: number; label?: string | undefined; expectedSessionId?: string | undefined },
): Promise<{ session: SessionRow; copied: number }> {
  const source = await existing(kit, wanted.key);
  checkCurrent(source, wanted.expectedSessionId);
  const [message] = await kit.store().messages.scan(source.sessionId, wanted.seq - 1, 1);
  if (message?.seq !== wanted.seq) throw agentErrors.unknownMessage({ key: source.key, seq: wanted.seq });
  const later = await restOfTurns(kit, source, message);
  await checkBranchRoom(kit, source);
  if (kit.copies.size >= MAX_COPIES) throw commonErrors.busy({}, { retryAfterMs: 2_000 });
  const session = forkOf(source, wanted.label, kit.ctx.clock.now());
  kit.copies.add(session.sessionId);
  try {
    const copy = await copyRows(kit, source, { session, before: message.seq, later });
    return { session: await makeSession(kit, source, { session, copy, seq: message.seq }), copied: copy.rows };
  } catch (error) {
    await dropCopy(kit, session.sessionId);
    throw error;
  } finally {
    kit.copies.delete(session.sessionId);
  }
}

/** Makes the row of the session, under a key of its own. */
function forkOf(source: SessionRow, label: string | undefined, now: number): SessionRow {
  return {
    ...newSession(`agent:${source.agentId}:${randomUUID()}`, source.agentId, now),
    // Its name, its place in a list and its way to a channel stay with the source.
    ...settingsOf(source),
    lastInteractionAt: now,
    parentSessionKey: source.key,
    ...(label === undefined ? {} : { label }),
  };
}

/**
 * Rows of earlier turns that were stored behind the message, which had to wait for them.
 * @throws {SvcError} `message-unanswered` while such a turn goes on
 */
async function restOfTurns(kit: Kit, source: SessionRow, message: MessageRow): Promise<MessageRow[]> {
  const before = await newestMessages(kit.store(), source.sessionId, { before: message.seq, limit: NEAR_ROWS });
  const earlier = new Set(before.flatMap(({ runId }) => (runId === undefined || runId === message.runId ? [] : [runId])));
  for (const runId of earlier) if (await isUnderWay(kit, runId)) throw agentErrors.messageUnanswered({ key: source.key, seq: message.seq });
  // The answer to a message that joined the turn of another answers both.
  const lead = message.runId === undefined ? undefined : (await kit.store().runs.get(message.runId))?.outcome?.mergedInto;
  const near = await kit.store().messages.scan(source.sessionId, message.seq, NEAR_ROWS, { maxBytes: PAGE_BYTES });
  return near.filter(({ runId, role, kind }) => {
    return runId !== undefined && runId !== lead && earlier.has(runId) && role !== "user" && kind !== COMPACTION_KIND;
  });
}

async function isUnderWay(kit: Kit, runId: string): Promise<boolean> {
  if (kit.runs.has(runId)) return true;
  const state = (await kit.store().runs.get(runId))?.state;
  return state === "queued" || state === "running";
}

/** Facts of the copied rows. */
interface Copy {
  rows: number;
  /** Tokens of the last answer and its prompt. */
  tokens?: number;
  preview?: string;
}

async function copyRows(
  kit: Kit,
  source: SessionRow,
  { session, before, later }: { session: SessionRow; before: number; later: readonly MessageRow[] },
): Promise<Copy> {
  const copy: Copy = { rows: 0 };
  const numbers = new Renumbering();
  const append = async (rows: readonly MessageRow[]) => {
    kit.ctx.signal.throwIfAborted();
    const note = copy.rows === 0 ? [archiveOp(session, kit.ctx.clock.now())] : [];
    const ops: StoreOp[] = rows.map((row) => ({ op: "message.append", message: copyOf(row, session.sessionId, numbers) }));
    const results = await kit.store().commit([...ops, ...note]);
    const isWhole = rows.every((_, i) => results[i]?.seq === copy.rows + i + 1);
    if (!isWhole) throw agentErrors.forkIncomplete({ key: source.key });
    copy.rows += rows.length;
    for (const row of rows) noteFacts(copy, row);
    await reached("sessions.fork.after-page");
  };
  for (let after = 0; after < before - 1; ) {
    const page = await kit.store().messages.scan(source.sessionId, after, PAGE_ROWS, { maxBytes: PAGE_BYTES });
    const rows = page.filter(({ seq }) => seq < before);
    if (rows.length > 0) await append(rows);
    if (rows.length < page.length || page.length === 0) break;
    after = page.at(-1)?.seq ?? before;
  }
  if (later.length > 0) await append(later);
  return copy;
}

function noteFacts(copy: Copy, { role, content, usage, kind }: MessageRow): void {
  if (role !== "assistant" || kind === COMPACTION_KIND) return;
  if (usage) copy.tokens = usage.total;
  const preview = previewOf(textOf(content));
  if (preview !== undefined) copy.preview = preview;
}

/** New numbers of copied rows: those behind a row that could not be read are smaller. */
class Renumbering {
  readonly #gaps: Array<{ from: number; shift: number }> = [];
  #last = 0;
  #shift = 0;

  /** The next row in order. */
  pass(seq: number): void {
    const shift = seq - this.#last - 1 + this.#shift;
    if (seq > this.#last && shift !== this.#shift) this.#gaps.push({ from: seq, shift });
    this.#shift = shift;
    this.#last = seq;
  }

  of(seq: number): number {
    return seq - (this.#gaps.findLast(({ from }) => seq >= from)?.shift ?? 0);
  }
}

/** The same row under the same id. What a compaction says of rows before it says of their copies. */
function copyOf({ seq, ...row }: MessageRow, sessionId: string, numbers: Renumbering): Omit<MessageRow, "seq"> {
  numbers.pass(seq);
  if (row.kind !== COMPACTION_KIND || !isRecord(row.details)) return { ...row, sessionId };
  const { keptFrom, clearedBefore, alsoKept } = row.details;
  const details = {
    ...row.details,
    ...(typeof keptFrom === "number" ? { keptFrom: numbers.of(keptFrom) } : {}),
    ...(typeof clearedBefore === "number" ? { clearedBefore: numbers.of(clearedBefore) } : {}),
    ...(Array.isArray(alsoKept) ? { alsoKept: alsoKept.map((one) => (typeof one === "number" ? numbers.of(one) : one)) } : {}),
  };
  return { ...row, sessionId, details };
}

async function makeSession(
  kit: Kit,
  source: SessionRow,
  { session, copy, seq }: { session: SessionRow; copy: Copy; seq: number },
): Promise<SessionRow> {
  const now = kit.ctx.clock.now();
  if ((await kit.store().messages.count(session.sessionId)) !== copy.rows) throw agentErrors.forkIncomplete({ key: source.key });
  const made: SessionRow = {
    ...session,
    updatedAt: now,
    branch: branchFrom(source, seq, { at: copy.rows + 1, ts: now }),
    ...(copy.rows > 0 && source.derivedTitle !== undefined ? { derivedTitle: source.derivedTitle } : {}),
    ...(copy.preview === undefined ? {} : { lastMessagePreview: copy.preview }),
    ...(copy.tokens === undefined ? {} : { totalTokens: copy.tokens }),
  };
  await reached("sessions.fork.before-session");
  const ops: StoreOp[] = [
    { op: "session.put", session: made, ifAbsent: true, uniqueLabel: true },
    // Only of a transcript that its session still has: one that was reset or deleted meanwhile may have been copied in part.
    { op: "session.patch", key: source.key, patch: {}, expectedSessionId: source.sessionId },
    ...joinBranchOps(made),
    ...(copy.rows > 0 ? [forgetArchiveOp(made.sessionId)] : []),
  ];
  await commitFor(source.key, kit, ops).catch((error: unknown) => {
    throw isSvcError(error, "session-missing") ? agentErrors.unknownSession({ key: source.key }, { cause: error }) : error;
  });
  kit.events.sessionChanged(made, { reason: "create" });
  kit.ends.used({ sessionKey: made.key, agentId: made.agentId, sessionId: made.sessionId });
  tellNewTranscript(kit, made, undefined);
  return made;
}

/** Clears away what was copied; what cannot be removed now goes with the archives. */
async function dropCopy(kit: Kit, sessionId: string): Promise<void> {
  try {
    for (;;) {
      const [pruned] = await kit.store().commit([{ op: "transcript.prune", sessionId }]);
      if (!pruned?.removed) break;
    }
    await kit.store().commit([forgetArchiveOp(sessionId)]);
  } catch (error) {
    kit.ctx.logger.warn("what was copied for a fork could not be removed; it goes with the archives", { error: String(error) });
  }
}
