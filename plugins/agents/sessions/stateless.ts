import { type Agents, isSvcError, messageOf, type StoreOp } from "svc/sdk";
import { type Kit, runsOf } from "../kit.ts";
import type { Run } from "../runs/run.ts";
import { isStatelessKey } from "./stateless-key.ts";

/** Key of the session of one run of a scheduled job. */
const jobRunKey = /^agent:[^:]+:cron:[^:]+:run:[^:]+$/;

/** Newest single requests whose sessions stay for people to look at, and requests that are removed at a time. */
const KEPT = 4;
const REMOVED_AT_ONCE = 4;

type Ended = Pick<Run, "id" | "sessionKey" | "sessionId">;

/**
 * Removes what single requests that succeeded have left, but for the newest: their callers have the answer, and nobody can continue them. Of others without a
 * session of their own, whose conversation may go on, the row of the run goes. Rows of runs that may be repeated stay as those of other runs do; what failed, or
 * was cut off, stays until the maintenance of sessions takes it.
 */
export class SingleRequests {
  readonly #kit: Kit;
  #singles: Ended[] = [];
  #rows: string[] = [];

  constructor(kit: Kit) {
    this.#kit = kit;
  }

  /** Called at the end of each run; never waits. */
  ended({ id, sessionKey, sessionId, request, done }: Run): void {
    const isSingle = request.transcript === "single";
    if (!isStatelessKey(sessionKey) || (!isSingle && request.isRepeatable !== false)) return;
    done
      .then(async ({ status }) => {
        if (status !== "ok" || this.#kit.config.session.maintenance.mode !== "enforce") return;
        await (isSingle ? this.#addSingle({ id, sessionKey, sessionId }) : this.#addRow(id));
      })
      .catch((error: unknown) => this.#kit.ctx.logger.debug("what single requests left stays for a day", { error: messageOf(error) }));
  }

  async #addSingle(run: Ended): Promise<void> {
    this.#singles.push(run);
    if (this.#singles.length < KEPT + REMOVED_AT_ONCE) return;
    const gone = this.#singles.splice(0, REMOVED_AT_ONCE);
    await Promise.all(gone.map(({ id: runId, sessionKey, sessionId }) => forgetRequest(this.#kit, { runId, sessionKey, sessionId })));
  }

  async #addRow(runId: string): Promise<void> {
    this.#rows.push(runId);
    if (this.#rows.length < REMOVED_AT_ONCE) return;
    const gone = this.#rows.splice(0);
    await this.#kit.store().commit(gone.map((id) => ({ op: "run.delete", runId: id })));
  }
}

type Request = Parameters<Agents["forget"]>[0];

/** See `Agents.forget`. */
export async function forgetRequest(kit: Kit, request: Request): Promise<void> {
  const { runId, sessionKey } = request;
  if (!(isStatelessKey(sessionKey) || jobRunKey.test(sessionKey)) || kit.config.session.maintenance.mode !== "enforce") return;
  const run = await kit.store().runs.get(runId);
  const row: StoreOp[] = run?.outcome?.isRepeatable === false ? [{ op: "run.delete", runId }] : [];
  await kit.sessionLock.run(sessionKey, async () => {
    if (!(await forgetSession(kit, request, row)) && row.length > 0) await kit.store().commit(row);
  });
}

/** False for a session that is gone, or that somebody has used, pinned or named since. */
async function forgetSession(kit: Kit, { runId, sessionKey, sessionId }: Request, row: StoreOp[]): Promise<boolean> {
  const session = await kit.store().sessions.get(sessionKey);
  const isOurs = session?.sessionId === sessionId && session.lastRunId === runId && !session.pinned && session.label === undefined;
  if (!isOurs || runsOf(kit, sessionKey).length > 0) return false;
  const remove: StoreOp = { op: "session.delete", key: sessionKey, deleteTranscript: true, expectedSessionId: sessionId, ifNoEvents: true };
  try {
    await kit.store().commit([remove, ...row, ...(await kit.traces.dropOps({ sessionId }))]);
  } catch (error) {
    if (isSvcError(error, "events-waiting") || isSvcError(error, "session-changed")) return false;
    throw error;
  }
  kit.events.sessionGone(session);
  kit.ends.ended({ sessionKey, agentId: session.agentId, sessionId }, "deleted");
  return true;
}
