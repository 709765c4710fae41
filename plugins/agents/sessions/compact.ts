import { randomUUID } from "node:crypto";
import { isSvcError, type MessageRow, messageOf, type SessionRow } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import { patchOp } from "../runs/writes.ts";
import { commitFor } from "./commit-for.ts";
import { COMPACTION_KIND, sinceCompaction } from "./compaction.ts";
import { usageCounters } from "./counters.ts";
import { existing, present } from "./find.ts";
import { newestMessages } from "./newest-messages.ts";
import { type Summary, summarise } from "./summarise.ts";

/** Rows that a summary is made of. */
const MAX_ROWS = 400;
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
 * @throws {SvcError} `unknown-session`, `compaction-failed`, `session-replaced` when it got a new transcript meanwhile
 */
export async function compactSession(kit: Kit, key: string, { maxLines }: { maxLines?: number | undefined }): Promise<Compacted> {
  const session = await existing(kit, key);
  const rows = await newestMessages(kit.store(), session.sessionId, { limit: MAX_ROWS });
  const total = await kit.store().messages.count(session.sessionId);
  const read = sinceCompaction(rows);
  const keptFrom = maxLines === undefined ? startOfLastTurns(read.rows) : total - maxLines + 1;
  const first = read.rows[0]?.seq ?? 1;
  const kept = (from: number) => read.rows.filter((row) => row.seq >= from).length;
  if (keptFrom === undefined || keptFrom <= (maxLines === undefined ? first : Math.max(first, 1)))
    return { compacted: false, kept: kept(first) };
  tell(kit, session, { phase: "before", tokens: tokensOf(read.rows) });
  const older = read.rows.filter((row) => row.seq < keptFrom);
  const summary = maxLines === undefined ? await summaryOf(kit, session, { older, before: read.summary }) : undefined;
  const tokens = tokensOf(read.rows.filter((row) => row.seq >= keptFrom));
  await store(kit, session, { keptFrom, summary, tokens });
  tell(kit, session, { phase: "after", tokens });
  return { compacted: true, kept: maxLines ?? kept(keptFrom) };
}

async function summaryOf(
  kit: Kit,
  session: SessionRow,
  what: { older: readonly MessageRow[]; before: string | undefined },
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
  { keptFrom, summary, tokens }: { keptFrom: number; summary: Summary | undefined; tokens: number },
): Promise<void> {
  const ts = kit.ctx.clock.now();
  const record = {
    id: randomUUID(),
    sessionId,
    ts,
    role: "assistant" as const,
    content: [{ type: "text" as const, text: summary?.text ?? "(Older messages are no longer read by the model.)" }],
    kind: COMPACTION_KIND,
    details: { keptFrom, summary: summary !== undefined },
    ...(summary ? { usage: summary.usage } : {}),
  };
  await kit.sessionLock.run(key, async () => {
    // Estimated until the next answer tells how full the context really is.
    const change = { updatedAt: ts, totalTokens: tokens + Math.ceil((summary?.text.length ?? 0) / CHARS_PER_TOKEN) };
    const patch = patchOp(key, change, sessionId, summary && usageCounters(summary.usage));
    await commitFor(key, kit, [{ op: "message.append", message: record }, patch]);
    const after = await present(kit, key);
    if (after) kit.events.sessionChanged(after, { reason: "compact" });
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

function tell(kit: Kit, { key: sessionKey, agentId, sessionId }: SessionRow, event: { phase: "before" | "after"; tokens: number }): void {
  if (!kit.ctx.isHookUsed("session.compact")) return;
  kit.ctx
    .runHook("session.compact", { sessionKey, agentId, sessionId, ...event }, { sessionKey, agentId })
    .catch((error) => kit.ctx.logger.warn("hook session.compact failed", { error: messageOf(error) }));
}
