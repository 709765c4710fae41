import type { ParamsOf, SessionRow } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";

/** The session that a caller names by key, transcript or label. @throws {SvcError} `unknown-agent`, `invalid-session-key`, `ambiguous-label` */
export async function findSession(
  kit: Pick<Kit, "store" | "directory">,
  named: ParamsOf<"sessions.resolve">,
): Promise<SessionRow | undefined> {
  const { sessions } = kit.store();
  const agentId = named.agentId === undefined ? undefined : kit.directory.get(named.agentId).id;
  const isOf = (row: SessionRow | undefined) => (agentId === undefined || row?.agentId === agentId ? row : undefined);
  if (named.key !== undefined) {
    return sessions.get(kit.directory.resolve({ sessionKey: named.key, ...(agentId === undefined ? {} : { agentId }) }).sessionKey);
  }
  if (named.sessionId !== undefined) return isOf(await sessions.bySessionId(named.sessionId));
  const label = named.label ?? "";
  const { rows } = await sessions.list({ label, limit: 2, ...(agentId === undefined ? {} : { agentId }) });
  if (rows.length > 1) throw agentErrors.ambiguousLabel({ label });
  return rows[0];
}

/** The row, or the sentence for a session that is not there. @throws {SvcError} `unknown-session` */
export async function existing(kit: Pick<Kit, "store">, key: string): Promise<SessionRow> {
  const row = await kit.store().sessions.get(key);
  if (!row) throw agentErrors.unknownSession({ key });
  return row;
}

/**
 * The row as it is when this resolves: read again when something was stored meanwhile. Whoever shows a row to others would otherwise put an older one over a newer.
 */
export async function present(kit: Pick<Kit, "store">, key: string): Promise<SessionRow | undefined> {
  const { sessions } = kit.store();
  for (let left = PRESENT_TRIES; ; left--) {
    const version = sessions.version();
    const row = await sessions.get(key);
    if (sessions.version() === version || left <= 1) return row;
  }
}

/** Times that a row is read while others keep writing. */
const PRESENT_TRIES = 5;
