import type { DeliveryRow, DeliveryState, StoreOp } from "svc/sdk";
import { deliveryOwner, isStaleWrite } from "svc/sdk/internal";
import { unknownTries } from "./attempt.ts";
import { fail } from "./ends.ts";
import { OUT, type QueueKit } from "./kit.ts";
import { readOutgoing } from "./message.ts";
import { judgeLeftBehind } from "./verdict.ts";

const PER_ROUND = 100;
/** Bound of the work at a start. */
const MAX_ROUNDS = 100;

/**
 * Puts messages back that were being sent when the process ended: the platform may have them.
 * @throws {SvcError} when the storage fails, and the signal's reason
 */
export async function recoverLeftBehind(kit: QueueKit, signal: AbortSignal): Promise<void> {
  const met = new Set<string>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = await kit.store().deliveries.abandoned({ dirs: OUT, limit: PER_ROUND });
    // A stop came while they were read: they are another queue's by now.
    signal.throwIfAborted();
    // Rows that could not be moved are found again, and again.
    const rows = found.filter(({ uid }) => !met.has(uid));
    if (rows.length === 0) return;
    for (const { uid } of rows) met.add(uid);
    await Promise.all(rows.map((row) => takeOver(row, kit)));
    kit.logger.warn(`${rows.length} messages were being sent when the gateway stopped; whether they arrived is unknown`);
  }
}

/** One commit for each: a row that cannot be taken over must not keep the others. */
async function takeOver(row: DeliveryRow, kit: QueueKit): Promise<void> {
  const { uid } = row;
  const { deliveries } = kit.store();
  const from: DeliveryState[] = ["sending", "running"];
  const at = kit.clock.now();
  const left = judgeLeftBehind(row, { verdict: deliveries.crashed(uid), suspicion: deliveries.gate.suspicion(uid) });
  const result = { reason: "the gateway stopped during the call", unknown: unknownTries(row) + 1, ...left.marks };
  const message = readOutgoing(uid, row.payload);
  if (left.isSpent && message)
    return fail(kit, { row, message, attempt: row.attempt, outcome: "failed", reason: "the gateway ended each time while it was sent" });
  try {
    await kit.store().commit([
      {
        op: "delivery.requeue",
        uid,
        from,
        ...deliveryOwner(row),
        to: "uncertain",
        attempt: left.attempt,
        notBefore: at + left.waitMs,
        result,
        at,
      },
    ]);
  } catch (error) {
    if (!isStaleWrite(error)) throw error;
    const end: StoreOp = { op: "delivery.finish", uid, from, ...deliveryOwner(row), state: "failed", result: { reason: "unreadable" }, at };
    await kit
      .store()
      .commit([end])
      .catch((again: unknown) => {
        if (!isStaleWrite(again)) throw again;
      });
  }
}
