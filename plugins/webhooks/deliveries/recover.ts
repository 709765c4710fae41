import { type DeliveryRow, messageOf } from "svc/sdk";
import { commitWhenAvailable, createExpiryClock, deliveryOwner, type ExpiryClock, isStaleWrite, reached } from "svc/sdk/internal";
import { type DeliveryDeps, PROCESSED_DIRS } from "./delivery-deps.ts";
import { judgeLeftBehind } from "./delivery-state.ts";
import { failDelivery, UNREADABLE } from "./fail-delivery.ts";
import { decodeAction } from "./stored-action.ts";

const PAGE = 100;
/** Bound of the work: more rows than the store takes. */
const MAX_PAGES = 30;

/** Rows that another boot, or an earlier instance, had claimed and did not end: back into the queue with what they have done. @returns how many */
export async function recover(deps: DeliveryDeps, signal: AbortSignal): Promise<number> {
  let count = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const rows = await deps.store().deliveries.abandoned({ dirs: PROCESSED_DIRS, limit: PAGE });
    // A stop came while they were read: they are another instance's by now.
    signal.throwIfAborted();
    if (rows.length === 0) break;
    await reached("hooks.before-recover");
    const done = await Promise.all(rows.map((row) => recoverOne(row, deps, signal)));
    await reached("hooks.after-recover");
    count += rows.length;
    // Rows that could not be moved would be found again, and again.
    if (!done.includes(true)) break;
  }
  return count;
}

async function recoverOne(row: DeliveryRow, deps: DeliveryDeps, signal: AbortSignal): Promise<boolean> {
  const { deliveries } = deps.store();
  const isReadable = decodeAction(row) !== undefined;
  const judged = judgeLeftBehind(row, { verdict: deliveries.crashed(row.uid), suspicion: deliveries.gate.suspicion(row.uid) });
  try {
    if (!isReadable || judged.next === "failed") {
      const reason = isReadable && judged.next === "failed" ? judged.reason : UNREADABLE;
      await failDelivery(row, { state: "failed", from: ["running"], isOwn: false, reason }, { deps, signal });
    } else {
      const { attempt, result, waitMs } = judged;
      const at = deps.ctx.clock.now();
      const isStored = async () => (await deps.store().deliveries.get(row.uid))?.state !== "running";
      const op = { op: "delivery.requeue", uid: row.uid, from: ["running"], ...deliveryOwner(row), attempt, result, at } as const;
      await commitWhenAvailable([waitMs === undefined ? op : { ...op, notBefore: at + waitMs }], { deps, signal, isStored });
    }
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (isStaleWrite(error)) return true;
    deps.ctx.logger.error(`hook agent run runId=${row.uid}: it was left behind and could not be resumed`, { error: messageOf(error) });
    return false;
  }
}

const PER_ROUND = 100;

/** Ends rows whose time is up. */
export interface Overdue {
  /** Looks through the rows once. @throws {SvcError} `storage-*` */
  expire(): Promise<void>;
}

/**
 * @param options.isActive rows that are being claimed are left alone
 * @param options.onEnd called after the end of a row is stored
 */
export function createOverdue(
  deps: DeliveryDeps,
  options: { signal: AbortSignal; isActive(uid: string): boolean; onEnd(uid: string): void },
): Overdue {
  const { signal } = options;
  let expiry: ExpiryClock | undefined;
  const expireOne = async (row: DeliveryRow): Promise<void> => {
    const reason = "it waited for more than 24 h without a turn";
    try {
      await failDelivery(row, { state: "expired", from: ["accepted"], isOwn: false, reason }, { deps, signal });
      options.onEnd(row.uid);
    } catch (error) {
      signal.throwIfAborted();
      deps.ctx.logger.warn(`hook agent run runId=${row.uid}: its time limit has passed, but it could not be ended`, {
        error: messageOf(error),
      });
    }
  };
  return {
    async expire() {
      const { deliveries } = deps.store();
      expiry ??= createExpiryClock(deps.ctx.clock, (await deliveries.list({ dirs: ["hook-agent", "hook-wake"], limit: 1 }))[0]?.updatedAt);
      const now = expiry.read();
      if (now === undefined) return;
      for (const row of await deliveries.overdue({ dirs: PROCESSED_DIRS, now, limit: PER_ROUND })) {
        if (row.state === "accepted" && !options.isActive(row.uid)) await expireOne(row);
      }
    },
  };
}
