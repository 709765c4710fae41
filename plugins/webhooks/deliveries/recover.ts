import { type DeliveryRow, isSvcError, messageOf, reached } from "svc/sdk";
import { CARRIED, type DeliveryKit } from "./kit.ts";
import { commitAtLast } from "./patience.ts";
import { giveUp } from "./steps/give-up.ts";
import { decodeAction } from "./stored-action.ts";
import { attemptsLeftBehind, MAX_ATTEMPTS, runIdOf, runNumber } from "./verdict.ts";

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
  const attempt = attemptsLeftBehind(row, kit.store().runs.get(runIdOf(row.uid, runNumber(row))));
  const lost = decodeAction(row) ? "the gateway ended each time while it ran" : "what is stored of it cannot be read";
  try {
    if (!decodeAction(row) || attempt >= MAX_ATTEMPTS) {
      await giveUp(row, { state: "failed", from: ["running"], isOwn: false, reason: lost }, { kit, signal });
    } else {
      const result = { reason: "the gateway ended while it ran" };
      const at = kit.ctx.clock.now();
      const isStored = () => kit.store().deliveries.get(row.uid)?.state !== "running";
      await commitAtLast([{ op: "delivery.requeue", uid: row.uid, from: ["running"], attempt, result, at }], { kit, signal, isStored });
    }
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (isSvcError(error, "delivery-state")) return true;
    kit.ctx.logger.error(`hook agent run runId=${row.uid}: it was left behind and could not be taken up`, { error: messageOf(error) });
    return false;
  }
}
