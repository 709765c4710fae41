import type { HeartbeatSettings } from "./settings.ts";

/**
 * Whether a moment lies inside the active hours: from `start` to before `end`, over midnight when `end` is earlier. Without hours always, with
 * `start` = `end` never.
 *
 * @param now epoch milliseconds
 */
export function isActive(hours: HeartbeatSettings["activeHours"], now: number): boolean {
  if (!hours) return true;
  const start = minutesOf(hours.start);
  const end = minutesOf(hours.end);
  const minute = minuteOfDay(now, hours.timezone);
  return start <= end ? minute >= start && minute < end : minute >= start || minute < end;
}

function minutesOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  return hour * 60 + minute;
}

function minuteOfDay(now: number, timeZone: string | undefined): number {
  const zone = timeZone === undefined ? {} : { timeZone };
  const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...zone });
  return minutesOf(clock.format(now));
}
