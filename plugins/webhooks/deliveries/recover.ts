import { type DeliveryRow, isSvcError, messageOf, reached } from "svc/sdk";
import { CARRIED, type DeliveryKit } from "./kit.ts";
import { commitAtLast } from "./patience.ts";
import { giveUp } from "./steps/give-up.ts";
import { decodeAction } from "./stored-action.ts";
import { judgeLeftBehind } from "./verdict.ts";

const PAGE = 100;
/** Bound of the work: more rows than the store takes. */
const MAX_PAGES = 30;

/** Rows that another boot, or an earlier instance, had claimed and did not end: back into the queue with what they have done. @returns how many */
export async function recover(kit: DeliveryKit, signal: AbortSignal): Promise<number> {
  let count = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const rows = kit.store().deliveries.abandoned({ dirs: CARRIED, boot: kit.lease, limit: PAGE });
    if (rows.length === 0) break;
    await reached("hooks.before-recover");
    const done = await Promise.all(rows.map((row) => recoverOne(row, kit, signal)));
    await reached("hooks.after-recover");
    count += rows.length;
    // What could not be moved would be found again, and again.
    if (!done.includes(true)) break;
  }
  return count;
}

async function recoverOne(row: DeliveryRow, kit: DeliveryKit, signal: AbortSignal): Promise<boolean> {
  const { deliveries } = kit.store();
  const isReadable = decodeAction(row) !== undefined;
  const judged = judgeLeftBehind(row, { verdict: deliveries.crashed(row.uid), suspicion: deliveries.gate.suspicion(row.uid) });
  try {
    if (!isReadable || judged.next === "failed") {
      const reason = isReadable && judged.next === "failed" ? judged.reason : "what is stored of it cannot be read";
      await giveUp(row, { state: "failed", from: ["running"], isOwn: false, reason }, { kit, signal });
    } else {
      const { attempt, result, waitMs } = judged;
      const at = kit.ctx.clock.now();
      const isStored = () => kit.store().deliveries.get(row.uid)?.state !== "running";
      const op = { op: "delivery.requeue", uid: row.uid, from: ["running"], attempt, result, at } as const;
      await commitAtLast([waitMs === undefined ? op : { ...op, notBefore: at + waitMs }], { kit, signal, isStored });
    }
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (isSvcError(error, "delivery-state")) return true;
    kit.ctx.logger.error(`hook agent run runId=${row.uid}: it was left behind and could not be resumed`, { error: messageOf(error) });
    return false;
  }
}
