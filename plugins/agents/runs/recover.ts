import type { RunRow, StoreOp } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { INTERRUPTED } from "./outcome.ts";

/** Bound of one round; a round that finds less is the last. */
const MAX_ROUNDS = 1_000;

/** Runs that another process began and did not end are marked, once, before this one accepts anything. @returns how many */
export async function markInterrupted(kit: Pick<Kit, "store" | "bootId" | "ctx">): Promise<number> {
  let count = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const rows = kit
      .store()
      .runs.unfinished()
      .filter((row) => row.bootId !== kit.bootId);
    if (rows.length === 0) break;
    await kit.store().commit(rows.flatMap((row) => interrupt(row, kit)));
    count += rows.length;
  }
  return count;
}

function interrupt(row: RunRow, kit: Pick<Kit, "store" | "ctx">): StoreOp[] {
  const endedAt = kit.ctx.clock.now();
  const outcome = { status: "error", code: "INTERRUPTED", error: INTERRUPTED, stopReason: "interrupted" };
  const session = kit.store().sessions.get(row.sessionKey);
  return [
    { op: "run.put", run: { ...row, state: "interrupted", endedAt, outcome } },
    ...(session?.sessionId === row.sessionId
      ? [{ op: "session.patch" as const, key: row.sessionKey, patch: { status: "interrupted" as const, endedAt, updatedAt: endedAt } }]
      : []),
  ];
}
