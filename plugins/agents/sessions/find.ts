import type { ParamsOf, SessionRow } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";

/** The session that a caller names by key, transcript or label. @throws {SvcError} `unknown-agent`, `invalid-session-key`, `ambiguous-label` */
export function findSession(kit: Pick<Kit, "store" | "directory">, named: ParamsOf<"sessions.resolve">): SessionRow | undefined {
  const { sessions } = kit.store();
  const agentId = named.agentId === undefined ? undefined : kit.directory.get(named.agentId).id;
  const isOf = (row: SessionRow | undefined) => (agentId === undefined || row?.agentId === agentId ? row : undefined);
  if (named.key !== undefined) {
    return sessions.get(kit.directory.resolve({ sessionKey: named.key, ...(agentId === undefined ? {} : { agentId }) }).sessionKey);
  }
  if (named.sessionId !== undefined) return isOf(sessions.bySessionId(named.sessionId));
  const label = named.label ?? "";
  const { rows } = sessions.list({ label, limit: 2, ...(agentId === undefined ? {} : { agentId }) });
  if (rows.length > 1) throw agentErrors.ambiguousLabel({ label });
  return rows[0];
}

/** The row, or the sentence for a session that is not there. @throws {SvcError} `unknown-session` */
export function existing(kit: Pick<Kit, "store">, key: string): SessionRow {
  const row = kit.store().sessions.get(key);
  if (!row) throw agentErrors.unknownSession({ key });
  return row;
}

/** A label belongs to one session of an agent. Called under the lock of the agent's labels. @throws {SvcError} `label-taken` */
export function checkLabel(kit: Pick<Kit, "store">, session: { key: string; agentId: string }, label: string): void {
  const { rows } = kit.store().sessions.list({ agentId: session.agentId, label, limit: 2 });
  const other = rows.find((row) => row.key !== session.key);
  if (other) throw agentErrors.labelTaken({ label, key: other.key });
}

/** Serialises changes of one session; those that also set a label, over all sessions of the agent. */
export function withSession<T>(
  kit: Pick<Kit, "sessionLock">,
  session: { key: string; agentId: string; label: string | null | undefined },
  task: () => Promise<T>,
): Promise<T> {
  const inner = () => kit.sessionLock.run(session.key, task);
  return session.label ? kit.sessionLock.run(`label ${session.agentId}`, inner) : inner();
}
