import { isSvcError, mainSessionKey, type ParamsOf, type SessionRow, type StoreOp, SvcError } from "svc/sdk";
import { type Kit, runsOf } from "../kit.ts";
import { tellNewTranscript } from "../runs/accept.ts";
import type { Runner } from "../runs/runner.ts";
import { patchOp, type SessionChange } from "../runs/writes.ts";
import { freshSession, newSession } from "./row.ts";

/** New transcript under the same key. A run that is at work goes on and writes to the transcript it began with. */
export async function resetSession(
  kit: Kit,
  key: string,
  options: { reason: "new" | "reset"; expectedSessionId?: string | undefined; create?: { agentId: string }; more?: StoreOp[] },
): Promise<SessionRow> {
  return kit.sessionLock.run(key, async () => {
    const before = kit.store().sessions.get(key);
    if (!before && !options.create) throw new SvcError("unknown-session", { key });
    if (before) checkCurrent(before, options.expectedSessionId);
    const now = kit.ctx.clock.now();
    const session = before ? freshSession(before, now) : newSession(key, options.create?.agentId ?? kit.directory.defaultId, now);
    await commitFor(key, kit, [
      { op: "session.put", session, ...(before ? { expectedSessionId: before.sessionId } : { ifAbsent: true }) },
      ...(options.more ?? []),
    ]);
    kit.events.sessionChanged(session, { reason: options.reason });
    tellNewTranscript(kit, session, before && { row: before, reason: options.reason });
    return session;
  });
}

export async function deleteSession(
  kit: Kit,
  runner: Runner,
  params: { key: string; deleteTranscript: boolean; expectedSessionId?: string | undefined },
): Promise<{ deleted: boolean; archived: string[] }> {
  const { key } = params;
  if (kit.directory.list().some((a) => mainSessionKey(a.id) === key)) throw new SvcError("main-session-delete", { key });
  return kit.sessionLock.run(key, async () => {
    const row = kit.store().sessions.get(key);
    if (!row) return { deleted: false, archived: [] };
    checkCurrent(row, params.expectedSessionId);
    const active = runsOf(kit, key);
    runner.abortSession(key, "rpc");
    await Promise.all(active.map((run) => run.done));
    await commitFor(key, kit, [{ op: "session.delete", key, deleteTranscript: params.deleteTranscript, expectedSessionId: row.sessionId }]);
    kit.events.sessionGone(row);
    kit.ends.ended({ sessionKey: key, agentId: row.agentId, sessionId: row.sessionId }, "deleted");
    return { deleted: true, archived: params.deleteTranscript ? [] : [row.sessionId] };
  });
}

type Patch = Omit<ParamsOf<"sessions.patch">, "key">;

/** Changes what a person set on a session; `null` goes back to the default. */
export async function patchSession(kit: Kit, key: string, patch: Patch): Promise<SessionRow> {
  return kit.sessionLock.run(key, async () => {
    const row = kit.store().sessions.get(key);
    if (!row) throw new SvcError("unknown-session", { key });
    checkCurrent(row, patch.expectedSessionId);
    if (patch.label) checkLabel(kit, row, patch.label);
    if (patch.model) await kit.models.check(kit.directory.get(row.agentId), patch.model);
    await commitFor(key, kit, [patchOp(key, toRowPatch(patch), row.sessionId)]);
    const after = kit.store().sessions.get(key) ?? row;
    kit.events.sessionChanged(after, { reason: "patch" });
    return after;
  });
}

function toRowPatch(patch: Patch): SessionChange {
  const texts = (["label", "model", "thinkingLevel"] as const).flatMap((k) => (patch[k] === undefined ? [] : [[k, patch[k]] as const]));
  const flags = (["archived", "pinned", "unread"] as const).flatMap((k) =>
    patch[k] === undefined ? [] : [[k, patch[k] ?? false] as const],
  );
  return Object.fromEntries([...texts, ...flags]);
}

function checkLabel(kit: Kit, row: SessionRow, label: string): void {
  const { rows } = kit.store().sessions.list({ agentId: row.agentId, label, limit: 2 });
  const other = rows.find((r) => r.key !== row.key && r.label === label);
  if (other) throw new SvcError("label-taken", { label, key: other.key });
}

function checkCurrent(row: SessionRow, expected: string | undefined): void {
  if (expected !== undefined && expected !== row.sessionId)
    throw new SvcError("session-replaced", { key: row.key, reason: "session-changed" });
}

async function commitFor(key: string, kit: Kit, ops: StoreOp[]): Promise<void> {
  await kit
    .store()
    .commit(ops)
    .catch((error) => {
      throw isSvcError(error, "session-changed")
        ? new SvcError("session-replaced", { key, reason: "session-changed" }, { cause: error })
        : error;
    });
}
