import { isSvcError, type MessageRow, type RunRow, type RunState, type SessionCounters, type SessionRow, type StoreOp } from "svc/sdk";
import type { Kit } from "../kit.ts";
import type { Run } from "./run.ts";

/** A transcript row before the store has numbered it. */
export type NewMessage = Omit<MessageRow, "seq">;

/** Fields of a session to set; `null` removes one. */
export type SessionChange = { [K in keyof SessionRow]?: SessionRow[K] | null };

/** Merges into the row, as long as it still has this transcript. @param add tokens to count on top of what it has */
export function patchOp(
  key: string,
  change: SessionChange,
  expectedSessionId: string,
  add?: SessionCounters,
): Extract<StoreOp, { op: "session.patch" }> {
  return { op: "session.patch", key, patch: change as Partial<SessionRow>, expectedSessionId, ...(add ? { add } : {}) };
}

/**
 * Commits what a run did: messages, then `more`, then the change of its session. When the session got a new transcript meanwhile, or is
 * gone, everything but that change is still stored, in the transcript the run belongs to.
 *
 * @returns the messages with their numbers
 */
export async function commitRun(
  run: Run,
  kit: Kit,
  write: { messages?: NewMessage[]; more?: StoreOp[]; session?: SessionChange; add?: SessionCounters },
): Promise<MessageRow[]> {
  const messages = write.messages ?? [];
  const ops: StoreOp[] = [...messages.map((message) => ({ op: "message.append", message }) as const), ...(write.more ?? [])];
  const patch = write.session ? [patchOp(run.sessionKey, write.session, run.sessionId, write.add)] : [];
  const results = await kit
    .store()
    .commit([...ops, ...patch])
    .catch((error) => {
      if (patch.length > 0 && (isSvcError(error, "session-changed") || isSvcError(error, "session-missing")))
        return kit.store().commit(ops);
      throw error;
    });
  return messages.map((message, i) => ({ ...message, seq: results[i]?.seq ?? 0 }));
}

/** The run's row in a given state. */
export function runRow(run: Run, kit: Pick<Kit, "bootId">, state: RunState, rest: Partial<RunRow> = {}): RunRow {
  return {
    runId: run.id,
    sessionKey: run.sessionKey,
    sessionId: run.sessionId,
    agentId: run.agent.id,
    state,
    trigger: run.request.trigger,
    bootId: kit.bootId,
    createdAt: run.acceptedAt,
    ...(run.startedAt === undefined ? {} : { startedAt: run.startedAt }),
    ...rest,
  };
}
