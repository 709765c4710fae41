import { createExpiryClock, type DeliveryRow, type ExpiryClock, messageOf } from "svc/sdk";
import { CARRIED, type DeliveryKit } from "./kit.ts";
import { giveUp } from "./steps/give-up.ts";

const PER_ROUND = 100;

/** Ends rows whose time is up. */
export interface Overdue {
  /** Looks through the rows once. @throws {SvcError} `storage-*` */
  expire(): Promise<void>;
}

/**
 * @param options.isActive rows that are being claimed are left alone
 * @param options.onEnd told after the end of a row is stored
 */
export function createOverdue(
  kit: DeliveryKit,
  options: { signal: AbortSignal; isActive(uid: string): boolean; onEnd(uid: string): void },
): Overdue {
  const { signal } = options;
  let expiry: ExpiryClock | undefined;
  const expireOne = async (row: DeliveryRow): Promise<void> => {
    const reason = "it waited for more than 24 h without a turn";
    try {
      await giveUp(row, { state: "expired", from: ["accepted"], isOwn: false, reason }, { kit, signal });
      options.onEnd(row.uid);
    } catch (error) {
      signal.throwIfAborted();
      kit.ctx.logger.warn(`hook agent run runId=${row.uid}: its time limit has passed, but it could not be ended`, {
        error: messageOf(error),
      });
    }
  };
  return {
    async expire() {
      const { deliveries } = kit.store();
      expiry ??= createExpiryClock(kit.ctx.clock, deliveries.list({ dirs: ["hook-agent", "hook-wake"], limit: 1 })[0]?.updatedAt);
      const now = expiry.read();
      if (now === undefined) return;
      for (const row of deliveries.overdue({ dirs: CARRIED, now, limit: PER_ROUND })) {
        if (row.state === "accepted" && !options.isActive(row.uid)) await expireOne(row);
      }
    },
  };
}
