import { mainSessionKey, type SessionRow, type StoreOp } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import { type Kit, runsOf } from "../kit.ts";
import { tellNewTranscript } from "../runs/accept.ts";
import type { Runner } from "../runs/runner.ts";
import { archiveOps } from "./archive.ts";
import { leaveBranchOps } from "./branches.ts";
import { commitFor } from "./commit-for.ts";
import { freshSession, newSession } from "./row.ts";

/** New transcript under the same key. A run that is at work goes on and writes to the transcript it began with. */
export async function resetSession(
  kit: Kit,
  key: string,
  options: { reason: "new" | "reset"; expectedSessionId?: string | undefined; create?: { agentId: string }; more?: StoreOp[] },
): Promise<SessionRow> {
  return kit.sessionLock.run(key, async () => {
    const before = await kit.store().sessions.get(key);
    if (!before && !options.create) throw agentErrors.unknownSession({ key });
    if (before) checkCurrent(before, options.expectedSessionId);
    const now = kit.ctx.clock.now();
    const session = before ? freshSession(before, now) : newSession(key, options.create?.agentId ?? kit.directory.defaultId, now);
    await commitFor(key, kit, [
      { op: "session.put", session, ...(before ? { expectedSessionId: before.sessionId } : { ifAbsent: true }) },
      ...(before ? [...(await archiveOps(kit, before)), ...leaveBranchOps(before)] : []),
      ...(options.more ?? []),
    ]);
    kit.events.sessionChanged(session, { reason: before ? "reset" : "create" });
    tellNewTranscript(kit, session, before && { row: before, reason: options.reason });
    return session;
  });
}

/** Runs of the session are stopped first, and their ends are stored before anything goes. */
export async function deleteSession(
  kit: Kit,
  runner: Runner,
  params: { key: string; deleteTranscript: boolean; expectedSessionId?: string | undefined },
): Promise<{ deleted: boolean; archived: string[] }> {
  const { key } = params;
  if (kit.directory.list().some((a) => mainSessionKey(a.id) === key)) throw agentErrors.mainSessionDelete({ key });
  return kit.sessionLock.run(key, async () => {
    const row = await kit.store().sessions.get(key);
    if (!row) return { deleted: false, archived: [] };
    checkCurrent(row, params.expectedSessionId);
    const active = runsOf(kit, key);
    runner.abortSession(key, "rpc");
    await Promise.all(active.map((run) => run.done));
    await commitFor(key, kit, [
      { op: "session.delete", key, deleteTranscript: params.deleteTranscript, expectedSessionId: row.sessionId },
      ...leaveBranchOps(row),
      ...(params.deleteTranscript ? await kit.traces.dropOps({ sessionId: row.sessionId }) : await archiveOps(kit, row)),
    ]);
    kit.events.sessionGone(row);
    kit.ends.ended({ sessionKey: key, agentId: row.agentId, sessionId: row.sessionId }, "deleted");
    return { deleted: true, archived: params.deleteTranscript ? [] : [row.sessionId] };
  });
}

/** @throws {SvcError} `session-replaced` for a transcript that is not the present one any more */
export function checkCurrent(row: SessionRow, expected: string | undefined): void {
  if (expected !== undefined && expected !== row.sessionId) throw agentErrors.sessionReplaced({ key: row.key, reason: "session-changed" });
}
