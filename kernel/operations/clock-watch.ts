import type { HealthPart } from "../../sdk/hooks.ts";
import { dropNotice, writeNotice } from "../../sdk/internal/files/notices.ts";
import type { Clock, Logger } from "../../sdk/types/common.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** An operator who looks in once a week still hears of it. */
const SHOWN_MS = 7 * DAY_MS;
const NOTICE_ID = "clock/jump";
const FIX = "see date; if it is wrong: sudo timedatectl set-ntp true; if it is right, svc doctor --fix clears this notice";

export interface ClockWatchOptions {
  clock: Pick<Clock, "now" | "monotonic">;
  stateDir: string;
  logger: Logger;
  /** Health is collected anew. */
  refresh(): void;
}

/** Notices that the clock of the system was set by more than a day while the gateway ran, and that it was set back. */
export interface ClockWatch {
  look(): void;
  /** Looks as well: who asks for health now shall not hear of it in half a minute. */
  parts(): HealthPart[];
}

interface Jump {
  /** Wall time less monotonic time before it. */
  before: number;
  /** Monotonic. */
  at: number;
  message: string;
}

export function createClockWatch({ clock, stateDir, logger, refresh }: ClockWatchOptions): ClockWatch {
  const distance = () => clock.now() - clock.monotonic();
  let last = distance();
  let jump: Jump | undefined;
  const warn = (error: unknown) => logger.warn("the notice about the clock could not be stored", { error });

  const leave = () => {
    const message = "the clock of the system is right again";
    jump = undefined;
    logger.info(message);
    dropNotice(stateDir, NOTICE_ID).catch(warn);
    refresh();
  };
  const enter = (before: number, byMs: number) => {
    const message = jumpText(byMs, clock.now());
    jump = { before, at: clock.monotonic(), message };
    logger.error(message);
    const at = clock.now() - byMs;
    const notice = { id: NOTICE_ID, severity: "warning" as const, message, fix: FIX, at, until: at + SHOWN_MS };
    writeNotice(stateDir, notice).catch(warn);
    refresh();
  };
  const look = () => {
    const now = distance();
    if (jump && Math.abs(now - jump.before) < HOUR_MS) leave();
    // After a day whoever looks at health knows; the notice stays.
    else if (jump && clock.monotonic() - jump.at > DAY_MS) jump = undefined;
    else if (!jump && Math.abs(now - last) > DAY_MS) enter(last, now - last);
    last = now;
  };
  return {
    look,
    parts() {
      look();
      return jump ? [{ part: "clock", ok: false, value: { now: clock.now() }, message: jump.message }] : [];
    },
  };
}

/** Describes a jump in days. Pure. */
export function jumpText(byMs: number, now: number): string {
  const days = Math.round(Math.abs(byMs) / DAY_MS);
  const way = byMs > 0 ? "forward" : "back";
  const date = new Date(now).toISOString().slice(0, 10);
  return `the clock of the system went ${way} by ${days} ${days === 1 ? "day" : "days"} at once, to ${date}: it is wrong, was wrong before, or the machine was suspended; limits and time-outs go on as they were`;
}
