import type { HealthPart } from "../../sdk/hooks.ts";
import { dropNotice, writeNotice } from "../../sdk/internal/files/notices.ts";
import type { Clock, Disposable, Logger } from "../../sdk/types/common.ts";
import { type Boots, crashLoop, isCrashLoop } from "./boots.ts";

/** A gateway that lives this long without what was switched off gets it back. */
const QUIET_MS = 600_000;
const NOTICE_ID = "boot/crash-loop";

/**
 * After a crash loop the gateway starts without what may have caused it: channels, cron, heartbeats, plugins of third parties, and the work that
 * was accepted. Control plane, HTTP and the acceptance of hooks go on.
 */
export interface SafeMode {
  isOn(): boolean;
  /** Ends it. False when it was not on. */
  leave(reason: string): Promise<boolean>;
  /** Health entry of safe mode; nothing while it is off. */
  parts(): HealthPart[];
  /** Says that it is on, and begins the quiet time after which it ends by itself. @param onLeave brings up what was kept off */
  watch(onLeave: () => Promise<void>): void;
  dispose(): void;
}

/** A timer that can be taken back; it keeps no process alive. */
export type SetTimeout = (fn: () => void, ms: number) => Disposable;

export const undoableTimeout: SetTimeout = (fn, ms) => {
  const timer = setTimeout(fn, ms);
  timer.unref();
  return { dispose: () => clearTimeout(timer) };
};

export interface SafeModeOptions {
  boots: Boots | undefined;
  /** `SVC_SAFE_MODE=off`: for tests that kill gateways on purpose. */
  isForbidden: boolean;
  stateDir: string;
  clock: Clock;
  setTimeout: SetTimeout;
  logger: Logger;
}

export function createSafeMode(options: SafeModeOptions): SafeMode {
  const { boots, stateDir, clock, logger } = options;
  const since = clock.now();
  let leaveListener: (() => Promise<void>) | undefined;
  let timer: Disposable | undefined;
  let noticed: Promise<void> = Promise.resolve();
  let isOn = boots !== undefined && !options.isForbidden && isCrashLoop(boots.unclean);

  const warn = (error: unknown) => logger.warn("the notice about safe mode could not be stored", { error });
  const leave = async (reason: string): Promise<boolean> => {
    if (!isOn) return false;
    isOn = false;
    void timer?.dispose();
    logger.warn(`leaving safe mode: ${reason}`);
    // A full disk keeps nothing off: at worst the next crash counts as one more of the same loop.
    await boots
      ?.forgive()
      .catch((error: unknown) => logger.warn("the crash count could not be reset after safe mode; the crashes still count", { error }));
    // One that is still being written would stay.
    await noticed;
    await dropNotice(stateDir, NOTICE_ID).catch(warn);
    await leaveListener?.();
    return true;
  };
  return {
    isOn: () => isOn,
    leave,
    parts() {
      if (!isOn) return [];
      const value = { since, uncleanEnds: [...(boots?.unclean ?? [])], leavesAt: since + QUIET_MS };
      return [{ part: "safeMode", ok: false, value, message: safeModeText() }];
    },
    watch(onLeave) {
      if (!isOn) return;
      leaveListener = onLeave;
      logger.error(safeModeText());
      const notice = { id: NOTICE_ID, severity: "error" as const, message: safeModeText(), fix: exitFix, at: since };
      noticed = writeNotice(stateDir, notice).catch(warn);
      timer = options.setTimeout(() => void leave("ten minutes without a crash").catch(warn), QUIET_MS);
    },
    dispose: () => void timer?.dispose(),
  };
}

const exitFix = "read the end of the log before each start, then run svc gateway call gateway.exitSafeMode";

function safeModeText(): string {
  const minutes = crashLoop.withinMs / 60_000;
  return `safe mode: the gateway ended ${crashLoop.ends} times within ${minutes} minutes without being asked to; channels, cron, heartbeats and plugins of third parties are off, and accepted work waits without being charged; it ends by itself after ten minutes without a crash, or by svc gateway call gateway.exitSafeMode`;
}
