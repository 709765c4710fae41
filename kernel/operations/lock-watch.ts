import type { HealthPart } from "../../sdk/hooks.ts";
import type { Logger } from "../../sdk/types/common.ts";
import type { HeldLock } from "../process/lock.ts";

/** Interval at which a gateway checks its lock: for about so long a damaged one lets a second gateway start. */
export const LOCK_LOOK_MS = 20_000;

const PART = "lock";

export interface LockWatchOptions {
  lock: Pick<HeldLock, "keep">;
  logger: Logger;
  /** Reasons for not being ready, by part of health. */
  notReady: Map<string, string>;
  /** Writes what commands find the gateway by, where it is missing. */
  keepTraces(): Promise<void>;
  /** Health is collected anew. */
  refresh(): void;
}

/** Keeps the lock of a running gateway where it was removed or damaged, and reports another gateway that has taken it meanwhile. */
export interface LockWatch {
  /** Does nothing while an earlier look is under way. Never rejects. */
  look(): Promise<void>;
  parts(): HealthPart[];
}

export function createLockWatch({ lock, logger, notReady, keepTraces, refresh }: LockWatchOptions): LockWatch {
  let isLooking = false;
  const report = (problem: string | undefined) => {
    if (notReady.get(PART) === problem) return;
    if (problem === undefined) {
      notReady.delete(PART);
      logger.info("the lock of the state directory was taken back");
    } else {
      notReady.set(PART, problem);
      logger.error(problem);
    }
    refresh();
  };
  const look = async () => {
    const found = await lock.keep();
    if (typeof found === "object") {
      return report(
        `process ${found.pid} took the lock of this state directory after it had been removed or damaged: two gateways write to one state; stop one of them`,
      );
    }
    if (found === "restored") logger.warn("the lock of the state directory was removed or damaged; it was rewritten");
    report(undefined);
    await keepTraces();
  };
  return {
    async look() {
      if (isLooking) return;
      isLooking = true;
      await look()
        .catch((error: unknown) => logger.warn("the lock of the state directory cannot be checked", { error }))
        .finally(() => {
          isLooking = false;
        });
    },
    parts() {
      const problem = notReady.get(PART);
      return problem === undefined ? [] : [{ part: PART, ok: false, critical: true, message: problem }];
    },
  };
}
