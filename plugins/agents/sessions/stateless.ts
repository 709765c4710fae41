import { isSvcError, messageOf } from "svc/sdk";
import { type Kit, runsOf } from "../kit.ts";
import type { Run } from "../runs/run.ts";

/** Key of a request without a session of its own: of a chat completion (`openai:<uuid>`) or of a response (`openresponses:<uuid>`). */
const statelessKey = /^agent:[^:]+:(?:openai|openresponses):[0-9a-f]{8}-[0-9a-f-]{27}$/;

export function isStatelessKey(key: string): boolean {
  return statelessKey.test(key);
}

/** Newest single requests whose sessions stay for people to look at, and sessions that are removed at a time. */
const KEPT = 4;
const REMOVED_AT_ONCE = 4;

type Ended = Pick<Run, "id" | "sessionKey" | "sessionId">;

/**
 * Removes the sessions of single requests that succeeded, but for the newest: their callers have the answer, and nobody can continue them. The rows of the
 * runs stay as those of others do; what failed, or was cut off, stays until the maintenance of sessions takes it.
 */
export class SingleRequests {
  readonly #kit: Kit;
  #ended: Ended[] = [];

  constructor(kit: Kit) {
    this.#kit = kit;
  }

  /** Called at the end of each run; never waits. */
  ended({ id, sessionKey, sessionId, request, done }: Run): void {
    if (request.transcript !== "single" || !isStatelessKey(sessionKey)) return;
    done
      .then(async ({ status }) => {
        if (status !== "ok" || this.#kit.config.session.maintenance.mode !== "enforce") return;
        this.#ended.push({ id, sessionKey, sessionId });
        if (this.#ended.length < KEPT + REMOVED_AT_ONCE) return;
        await Promise.all(this.#ended.splice(0, REMOVED_AT_ONCE).map((run) => this.#remove(run)));
      })
      .catch((error: unknown) => this.#kit.ctx.logger.debug("sessions of single requests stay for a day", { error: messageOf(error) }));
  }

  /** A session that somebody has used, pinned or named since stays. */
  #remove({ id, sessionKey, sessionId }: Ended): Promise<void> {
    const kit = this.#kit;
    return kit.sessionLock.run(sessionKey, async () => {
      const row = await kit.store().sessions.get(sessionKey);
      const isOurs = row?.sessionId === sessionId && row.lastRunId === id && !row.pinned && row.label === undefined;
      if (!isOurs || runsOf(kit, sessionKey).length > 0) return;
      try {
        await kit
          .store()
          .commit([{ op: "session.delete", key: sessionKey, deleteTranscript: true, expectedSessionId: sessionId, ifNoEvents: true }]);
      } catch (error) {
        if (isSvcError(error, "events-waiting") || isSvcError(error, "session-changed")) return;
        throw error;
      }
      kit.events.sessionGone(row);
      kit.ends.ended({ sessionKey, agentId: row.agentId, sessionId }, "deleted");
    });
  }
}
