import { setImmediate as nextTurn } from "node:timers/promises";
import { isSvcError, mainSessionKey, type SessionRow, type SvcConfig } from "svc/sdk";
import { type Kit, runsOf } from "../kit.ts";
import { archiveNote, forgetArchiveOp } from "./archive.ts";
import { leaveBranchOps } from "./branches.ts";
import { isStatelessKey } from "./stateless-key.ts";

/** The session of a request that has none of its own is kept this long: far longer than a response can be continued (30 min). */
const STATELESS_MS = 86_400_000;
/** Rows of one read: a few milliseconds. */
const PAGE_ROWS = 200;
/** Sessions, and archives, that one pass looks at for removal; the next pass takes the others. */
const MAX_CANDIDATES = 10_000;

type Limits = SvcConfig["session"]["maintenance"];

/** Counts of rows that a pass removed, or with mode `warn` would remove. */
export interface MaintenanceCounts {
  /** Sessions unused for longer than `pruneAfter`, and single requests after a day. */
  expired: number;
  /** Sessions beyond `maxEntries`, those unused for longest. */
  surplus: number;
  /** Transcripts that have no session, after `resetArchiveRetention`. */
  archives: number;
  /** Transcripts and sessions removed to get below `highWaterBytes`. */
  forSpace: number;
}

export interface MaintenanceReport extends MaintenanceCounts {
  mode: "enforce" | "warn";
  usedBytes: number;
  maxDiskBytes: number;
}

interface Pass {
  kit: Kit;
  limits: Limits;
  now: number;
  signal: AbortSignal;
  isDry: boolean;
}

/**
 * Removes what is beyond the limits of `session.maintenance`: sessions by age, sessions beyond their number, archives by age; then, above the disk budget, the
 * oldest archives and the oldest sessions until it is met. Main sessions, pinned ones, and those with a run or an event that waits stay.
 *
 * @param options.mode instead of the configured one, for somebody who asks for a pass
 * @returns undefined with mode `off`
 */
export async function maintainSessions(
  kit: Kit,
  { signal, now, mode = kit.config.session.maintenance.mode }: { signal: AbortSignal; now: number; mode?: Limits["mode"] },
): Promise<MaintenanceReport | undefined> {
  const limits = { ...kit.config.session.maintenance, mode };
  if (limits.mode === "off") return undefined;
  const pass: Pass = { kit, limits, now, signal, isDry: limits.mode === "warn" };
  const counts: MaintenanceCounts = { expired: 0, surplus: 0, archives: 0, forSpace: 0 };
  for (const { row, why } of await outdatedSessions(pass)) if (await removeSession(pass, row)) counts[why] += 1;
  const kept = await pruneArchives(pass, counts);
  const { maxDiskBytes } = limits;
  if (!pass.isDry && (await usedBytes(pass)) > maxDiskBytes) counts.forSpace = await freeSpace(pass, kept);
  return { mode: limits.mode, ...counts, usedBytes: await usedBytes(pass), maxDiskBytes };
}

type Outdated = { row: SessionRow; why: "expired" | "surplus" };

/** Looks at the sessions from the one unused for longest on, until the rest is within the limits. */
async function outdatedSessions(pass: Pass): Promise<Outdated[]> {
  const { limits, now } = pass;
  const found: Outdated[] = [];
  const { total } = await pass.kit.store().sessions.list({ limit: 1 });
  for await (const row of oldestSessions(pass)) {
    const age = now - row.updatedAt;
    const limit = isStatelessKey(row.key) ? Math.min(STATELESS_MS, limits.pruneAfter) : limits.pruneAfter;
    const isSurplus = total - found.length > limits.maxEntries;
    if (age > limit) found.push({ row, why: "expired" });
    else if (isSurplus) found.push({ row, why: "surplus" });
    else if (age <= Math.min(STATELESS_MS, limits.pruneAfter)) break;
    if (found.length >= MAX_CANDIDATES) break;
  }
  return found;
}

/** Sessions that may be removed, the one unused for longest first. */
async function* oldestSessions({ kit, signal }: Pass): AsyncGenerator<SessionRow> {
  const { sessions } = kit.store();
  for (let end = (await sessions.list({ limit: 1 })).total; end > 0; end -= PAGE_ROWS) {
    const offset = Math.max(0, end - PAGE_ROWS);
    const { rows } = await sessions.list({ limit: end - offset, offset });
    for (const row of rows.reverse()) if (!(await isKept(kit, row))) yield row;
    await nextTurn();
    signal.throwIfAborted();
  }
}

async function isKept(kit: Kit, row: SessionRow): Promise<boolean> {
  if (row.pinned || kit.directory.list().some((agent) => mainSessionKey(agent.id) === row.key)) return true;
  const events = await kit.store().systemEvents.pending(row.key, 1);
  // Asked for last: a run may have been accepted while the events were read.
  return events.length > 0 || runsOf(kit, row.key).length > 0;
}

/** Removes a session unless it was used meanwhile; true when it is gone, or would be. */
async function removeSession(pass: Pass, row: SessionRow): Promise<boolean> {
  const { kit, isDry, signal } = pass;
  if (isDry) return true;
  signal.throwIfAborted();
  const isGone = await kit.sessionLock.run(row.key, async () => {
    const present = await kit.store().sessions.get(row.key);
    const isSame = present?.sessionId === row.sessionId && present.updatedAt === row.updatedAt;
    if (!isSame || (await isKept(kit, present))) return false;
    if (!(await deleteUnused(kit, row))) return false;
    kit.events.sessionGone(present);
    kit.ends.ended({ sessionKey: row.key, agentId: row.agentId, sessionId: row.sessionId }, "deleted");
    return true;
  });
  // Its records go in steps; after a crash in between they are an archive without a note, and go with those.
  if (isGone) await pruneTranscript(pass, row.sessionId);
  return isGone;
}

/** False for a session that got an event, or another transcript, since it was read, or has a run. */
async function deleteUnused(kit: Pick<Kit, "store">, row: SessionRow): Promise<boolean> {
  const { key, sessionId, lastRunId } = row;
  // The run of a single request goes with it: after a day nobody repeats it.
  const run = lastRunId !== undefined && isStatelessKey(key) ? [{ op: "run.delete" as const, runId: lastRunId }] : [];
  try {
    await kit
      .store()
      .commit([
        { op: "session.delete", key, deleteTranscript: false, expectedSessionId: sessionId, ifNoEvents: true },
        ...run,
        ...leaveBranchOps(row),
      ]);
    return true;
  } catch (error) {
    if (isSvcError(error, "events-waiting") || isSvcError(error, "session-changed") || isSvcError(error, "run-state")) return false;
    throw error;
  }
}

interface Archive {
  sessionId: string;
  /** Epoch ms since when it has no session. */
  since: number;
}

/** Removes archives past their time. @returns those that stay, at most `MAX_CANDIDATES` */
async function pruneArchives(pass: Pass, counts: MaintenanceCounts): Promise<Archive[]> {
  const { kit, limits, now, isDry } = pass;
  const kept: Archive[] = [];
  for await (const archive of archives(pass)) {
    if (now - archive.since <= limits.resetArchiveRetention) {
      if (kept.length < MAX_CANDIDATES) kept.push(archive);
      continue;
    }
    if (isBusy(kit, archive.sessionId)) continue;
    if (!isDry) await pruneTranscript(pass, archive.sessionId);
    counts.archives += 1;
  }
  return kept;
}

async function* archives({ kit, signal }: Pass): AsyncGenerator<Archive> {
  for (let after = ""; ; ) {
    const page = await kit.store().transcripts.page({ after, limit: PAGE_ROWS });
    for (const { sessionId, hasSession, lastAt } of page) {
      if (!hasSession) yield { sessionId, since: (await archiveNote(kit, sessionId))?.at ?? lastAt };
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) return;
    after = last.sessionId;
    await nextTurn();
    signal.throwIfAborted();
  }
}

/** A run that began before the reset still writes to it, or it is becoming a session. */
function isBusy(kit: Kit, sessionId: string): boolean {
  return kit.copies.has(sessionId) || [...kit.runs.values()].some((run) => run.sessionId === sessionId);
}

async function pruneTranscript({ kit, signal }: Pass, sessionId: string): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const [pruned] = await kit.store().commit([{ op: "transcript.prune", sessionId }]);
    if (pruned?.removed) continue;
    await kit.store().commit([forgetArchiveOp(sessionId)]);
    return;
  }
}

/** Removes the oldest archives, then the sessions unused for longest, until the budget is met. @returns how many of both went */
async function freeSpace(pass: Pass, kept: Archive[]): Promise<number> {
  const { highWaterBytes: goal, maxDiskBytes } = pass.limits;
  const goalBytes = typeof goal === "number" ? goal : (maxDiskBytes * Number.parseInt(goal, 10)) / 100;
  let removed = 0;
  for (const { sessionId } of kept.sort((a, b) => a.since - b.since)) {
    if ((await usedBytes(pass)) <= goalBytes) return removed;
    if (isBusy(pass.kit, sessionId)) continue;
    await pruneTranscript(pass, sessionId);
    removed += 1;
  }
  const rows: SessionRow[] = [];
  for await (const row of oldestSessions(pass)) {
    rows.push(row);
    if (rows.length >= MAX_CANDIDATES) break;
  }
  for (const row of rows) {
    if ((await usedBytes(pass)) <= goalBytes) return removed;
    if (await removeSession(pass, row)) removed += 1;
  }
  return removed;
}

function usedBytes({ kit }: Pass): Promise<number> {
  return kit.store().transcripts.usedBytes();
}
