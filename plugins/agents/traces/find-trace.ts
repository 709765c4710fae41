import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import { newestMessages } from "../sessions/newest-messages.ts";
import { isStatelessKey } from "../sessions/stateless-key.ts";
import type { StoredTrace } from "./stored-trace.ts";
import { traceLimits } from "./trace-log.ts";

/** Newest messages of a session that are looked at for its runs. */
const LOOKED_AT = 1_000;
const DAY_MS = 86_400_000;

/** The trace of a run; of one whose message another run answered, that one's. @throws {SvcError} `trace-missing` */
export async function findTrace(kit: Kit, runId: string): Promise<StoredTrace> {
  const own = await kit.traces.read(runId);
  if (own && !kit.runs.has(runId)) return own;
  const missing = (reason: string) => agentErrors.traceMissing({ run: runId, reason });
  if (kit.runs.has(runId)) throw missing("it has not ended yet; ask again when it has");
  const row = await kit.store().runs.get(runId);
  if (!row) throw missing("no run with this id is known; svc sessions explain --session <key> explains the newest one of a session");
  const lead = row.outcome?.mergedInto;
  const joined = typeof lead === "string" ? await kit.traces.read(lead) : undefined;
  if (joined) return joined;
  const messages = `svc sessions show ${row.sessionKey} shows its messages`;
  if (row.state === "queued" || row.state === "running" || row.state === "interrupted")
    throw missing(`the gateway stopped during it; ${messages}`);
  if (row.startedAt === undefined) throw missing("it ended before its turn came, so no model was asked");
  const { runs, singles, ageMs } = traceLimits;
  const kept = isStatelessKey(row.sessionKey) ? `${singles} requests without a session` : `${runs} runs`;
  throw missing(`traces of the newest ${kept} are kept for ${ageMs / DAY_MS} days, and this one is older or was deleted; ${messages}`);
}

/** The newest run of a session that has ended, or the one so many before it. @throws {SvcError} `unknown-session`, `trace-missing` */
export async function newestRun(kit: Kit, sessionKey: string, newest: number): Promise<string> {
  const session = await kit.store().sessions.get(sessionKey);
  if (!session) throw agentErrors.unknownSession({ key: sessionKey });
  const rows = await newestMessages(kit.store(), session.sessionId, { limit: LOOKED_AT });
  const ids = new Set(rows.toReversed().flatMap(({ runId }) => (runId === undefined || kit.runs.has(runId) ? [] : [runId])));
  const found = [...ids][newest - 1];
  if (found === undefined) {
    const reason = `the session has ${ids.size} runs that have ended among its newest ${LOOKED_AT} messages`;
    throw agentErrors.traceMissing({ run: `${sessionKey} (${newest})`, reason });
  }
  return found;
}
