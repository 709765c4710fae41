import type { SessionRow, StoreOp } from "svc/sdk";
import type { Kit } from "../kit.ts";

/** Scope of the rows that say since when a transcript has no session; their key is its `sessionId`. */
const SCOPE = "session-archive";

/** Record of a transcript that no session reads any more. */
export interface ArchiveNote {
  sessionKey: string;
  agentId: string;
  /** Epoch ms at which its session was reset or deleted. */
  at: number;
}

/** Remembers, in the commit that takes a transcript from its session, since when it is an archive. A transcript without a message leaves nothing. */
export async function archiveOps({ store, ctx }: Pick<Kit, "store" | "ctx">, row: SessionRow): Promise<StoreOp[]> {
  return (await store().messages.count(row.sessionId)) === 0 ? [] : [archiveOp(row, ctx.clock.now())];
}

/** Remembers since when a transcript has no session. */
export function archiveOp({ key: sessionKey, agentId, sessionId }: SessionRow, at: number): StoreOp {
  const note: ArchiveNote = { sessionKey, agentId, at };
  return { op: "kv.put", scope: SCOPE, key: sessionId, value: note };
}

export async function archiveNote({ store }: Pick<Kit, "store">, sessionId: string): Promise<ArchiveNote | undefined> {
  const value = (await store().kv.get(SCOPE, sessionId)) as Partial<ArchiveNote> | undefined;
  return typeof value?.at === "number" ? (value as ArchiveNote) : undefined;
}

export function forgetArchiveOp(sessionId: string): StoreOp {
  return { op: "kv.delete", scope: SCOPE, key: sessionId };
}
