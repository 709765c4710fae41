import { backoffDelayMs, isSvcError, type Lease, type RunRow, type StoreOp, sleep } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { interruptedResults } from "./open-calls.ts";
import { INTERRUPTED } from "./outcome.ts";

/** Bound of one round; a round that finds less is the last. */
const MAX_ROUNDS = 1_000;

/** Most times that the lease is asked for while the store is busy: 3 s in all. */
const MAX_TRIES = 5;
const PAUSES = { firstMs: 200, maxMs: 1_600 };
/** Newest rows of a transcript among which the last answer of a run is looked for. */
const LAST_ROWS = 100;

type OwnerKit = Pick<Kit, "bootId"> & { ctx: Pick<Kit["ctx"], "service" | "logger" | "signal" | "timers"> };

/**
 * Becomes the owner of the runs of this boot. Undefined while nothing can be stored: then nothing can be marked either.
 * @throws the reason of the plugin's signal, when it aborts between two tries
 */
export async function becomeOwner({ ctx, bootId }: OwnerKit): Promise<Lease | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await ctx.service("leases@1").acquire("runs", { owner: bootId });
    } catch (error) {
      const isBusy = isSvcError(error, "storage-busy");
      if (!isBusy && !isSvcError(error, "storage-unavailable")) throw error;
      if (!isBusy || tries >= MAX_TRIES) {
        ctx.logger.warn("runs of an earlier process are marked as interrupted at the next start", { error: error.message });
        return undefined;
      }
      if (tries === 1) ctx.logger.warn("the store is busy; runs of an earlier process are marked when it is not", { error: error.message });
      await sleep(backoffDelayMs(tries, PAUSES), ctx.signal, ctx.timers);
    }
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
  const commit = (some: StoreOp[]) => kit.store().commit(some);
  try {
    // Where its session is about another transcript by now, its run is marked all the same.
    await commit(ops).catch((error: unknown) => {
      if (isSvcError(error, "session-changed") || isSvcError(error, "session-missing"))
        return commit(ops.filter(({ op }) => op !== "session.patch"));
      throw error;
    });
    return true;
  } catch (error) {
    if (isSvcError(error, "run-state") || isSvcError(error, "fenced")) return false;
    throw error;
  }
}

async function interrupt(row: RunRow, kit: Pick<Kit, "store" | "ctx">): Promise<StoreOp[]> {
  const endedAt = kit.ctx.clock.now();
  const outcome = { status: "error", code: "INTERRUPTED", error: INTERRUPTED, stopReason: "interrupted" };
  const session = await kit.store().sessions.get(row.sessionKey);
  // One that waited has called nothing.
  const last = row.state === "running" ? await kit.store().messages.page(row.sessionId, { limit: LAST_ROWS }) : [];
  return [
    { op: "run.put", run: { ...row, state: "interrupted", endedAt, outcome }, ifState: ["queued", "running"], ifOwner: row.bootId },
    ...interruptedResults(row, last, endedAt).map((message) => ({ op: "message.append" as const, message })),
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
