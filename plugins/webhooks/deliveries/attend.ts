import { type DeliveryRow, isSvcError, messageOf, reached } from "svc/sdk";
import { type CarriedOut, carryOut, giveBack, notRun } from "./carry-out.ts";
import type { DeliveryKit } from "./kit.ts";
import { commitAtLast } from "./patience.ts";
import { runNumber } from "./verdict.ts";

/** How long a row may take to be given back when the instance stops; one that stays claimed is found at the next start. */
const GIVE_BACK_MS = 4_000;

interface Given {
  kit: DeliveryKit;
  signal: AbortSignal;
  /** Called when the run of the row is over; what is left is our own work. */
  onRan(): void;
}

/** Claims a row and carries it out. Never rejects. @returns what is left to do; undefined for a row that is not ours any more */
export async function attend(row: DeliveryRow, given: Given): Promise<CarriedOut | undefined> {
  let claimed: DeliveryRow | undefined;
  try {
    claimed = await claim(row, given);
    const { uid, attempt, lane } = claimed;
    given.kit.ctx.logger.debug("hook delivery started", () => ({ uid, attempt, lane }));
    return await carryOut(claimed, given);
  } catch (error) {
    if (isSvcError(error, "delivery-state"))
      given.kit.ctx.logger.debug("a hook delivery was taken over by another worker", { uid: row.uid });
    else if (claimed) return broken(claimed, { ...given, error });
    return undefined;
  }
}

async function claim(row: DeliveryRow, { kit, signal }: Given): Promise<DeliveryRow> {
  const isStored = () => {
    const now = kit.store().deliveries.get(row.uid);
    return now?.state === "running" && now.leaseBoot === kit.lease;
  };
  await reached("hooks.before-claim");
  const op = { op: "delivery.claim", uid: row.uid, to: "running", leaseBoot: kit.lease, at: kit.ctx.clock.now() } as const;
  await commitAtLast([op], { kit, signal, isStored });
  await reached("hooks.after-claim");
  return { ...row, attempt: row.attempt + 1, state: "running", leaseBoot: kit.lease };
}

async function broken(row: DeliveryRow, { kit, signal, error }: Given & { error: unknown }): Promise<CarriedOut | undefined> {
  try {
    if (!signal.aborted) {
      kit.ctx.logger.error(`hook agent run runId=${row.uid}: unexpected error`, { error: messageOf(error) });
      const why = { reason: "an unexpected error, see the log", next: runNumber(row), isFinal: false };
      return await notRun({ row, kit, signal }, why);
    }
    // Nothing has failed: this instance goes away, and the try does not count.
    const at = { row, kit, signal: AbortSignal.timeout(GIVE_BACK_MS) };
    await giveBack(at, { reason: "the gateway stopped while it ran", attempt: row.attempt - 1 });
  } catch (again) {
    kit.ctx.logger.warn(`hook agent run runId=${row.uid}: it stays claimed until the next start`, { error: messageOf(again) });
  }
  return undefined;
}
