import { isSvcError, type Lease, type RunRow, type StoreOp } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { INTERRUPTED } from "./outcome.ts";

/** Bound of one round; a round that finds less is the last. */
const MAX_ROUNDS = 1_000;

/** Becomes the owner of the runs of this boot. Undefined while nothing can be stored: then nothing can be marked either. */
export async function becomeOwner({ ctx, bootId }: Pick<Kit, "ctx" | "bootId">): Promise<Lease | undefined> {
  try {
    return await ctx.service("leases@1").acquire("runs", { owner: bootId });
  } catch (error) {
    if (!isSvcError(error, "storage-unavailable") && !isSvcError(error, "storage-busy")) throw error;
    ctx.logger.warn("runs of an earlier process are marked as interrupted at the next start", { error: error.message });
    return undefined;
  }
}

/** Runs that another process began and did not end are marked, once, before this one accepts anything. @returns how many */
export async function markInterrupted(kit: Pick<Kit, "store" | "ctx">): Promise<number> {
  let count = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const rows = await kit.store().runs.unfinished({ expired: true });
    if (rows.length === 0) break;
    const marked = await Promise.all(rows.map((row) => markOne(row, kit)));
    count += marked.filter(Boolean).length;
  }
  return count;
}

/** False for a run that somebody has ended, or taken on again, since it was read. */
async function markOne(row: RunRow, kit: Pick<Kit, "store" | "ctx">): Promise<boolean> {
  const ops = await interrupt(row, kit);
  try {
    await kit.store().commit(ops);
    return true;
  } catch (error) {
    if (isSvcError(error, "run-state") || isSvcError(error, "fenced")) return false;
    // Its session is about another transcript by now; its run is marked all the same.
    if (!isSvcError(error, "session-changed") && !isSvcError(error, "session-missing")) throw error;
    await kit.store().commit(ops.slice(0, 1));
    return true;
  }
}

async function interrupt(row: RunRow, kit: Pick<Kit, "store" | "ctx">): Promise<StoreOp[]> {
  const endedAt = kit.ctx.clock.now();
  const outcome = { status: "error", code: "INTERRUPTED", error: INTERRUPTED, stopReason: "interrupted" };
  const session = await kit.store().sessions.get(row.sessionKey);
  return [
    { op: "run.put", run: { ...row, state: "interrupted", endedAt, outcome }, ifState: ["queued", "running"], ifOwner: row.bootId },
    ...(session?.sessionId === row.sessionId
      ? [
          {
            op: "session.patch" as const,
            key: row.sessionKey,
            patch: { status: "interrupted" as const, endedAt, updatedAt: endedAt },
            expectedSessionId: row.sessionId,
          },
        ]
      : []),
  ];
}
