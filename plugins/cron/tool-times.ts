import { Cron } from "croner";
import { isTimeZone } from "svc/sdk";
import type { CronSchedule } from "svc/sdk/internal";
import { cronErrors } from "./errors.ts";

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
/** Jobs of agents come at most once a minute. */
const MIN_EVERY_MS = 60_000;

/** When a job of the tool is due, in its short form. */
export interface ToolTimes {
  at?: string | undefined;
  in?: string | undefined;
  every?: string | undefined;
  cron?: string | undefined;
  tz?: string | undefined;
}

/** A schedule out of exactly one of the short forms; undefined for none. @throws {SvcError} `cron-tool`, a sentence for the model */
export function toSchedule({ at, in: inText, every, cron, tz }: ToolTimes, now: number): CronSchedule | undefined {
  const given = [at, inText, every, cron].filter((text) => text !== undefined);
  if (given.length === 0) return undefined;
  if (given.length > 1) throw cronErrors.cronTool({ reason: "give one of at, in, every and cron, not several" });
  if (cron !== undefined) return { kind: "cron", expr: cron, ...(tz === undefined ? {} : { tz }) };
  if (every !== undefined) {
    const everyMs = durationOf(every, "every");
    if (everyMs < MIN_EVERY_MS) throw cronErrors.cronTool({ reason: `every: ${every} is too often; the shortest interval is 60s` });
    return { kind: "every", everyMs };
  }
  const moment = inText === undefined ? momentOf(at ?? "", tz) : now + durationOf(inText, "in");
  if (moment <= now)
    throw cronErrors.cronTool({ reason: `at: ${at} is past; now is ${timeTexts(now, tz).local}, ${new Date(now).toISOString()}` });
  return { kind: "at", at: new Date(moment).toISOString() };
}

/** `90s`, `20m`, `1h30m`, `2d`. */
function durationOf(text: string, name: string): number {
  const compact = text.trim().toLowerCase().replaceAll(" ", "");
  let sum = 0;
  for (const [, count, unit] of compact.matchAll(/(\d{1,6})([smhdw])/g)) sum += Number(count) * (unitMs[unit ?? ""] ?? 0);
  if (!/^(?:\d{1,6}[smhdw]){1,5}$/.test(compact) || sum === 0 || sum > 366 * 86_400_000)
    throw cronErrors.cronTool({
      reason: `${name}: "${text.slice(0, 40)}" is no duration; expected something like 20m, 1h30m or 2d, a year at most`,
    });
  return sum;
}

/** A moment with its zone, or the time on the clock of a zone; a time that daylight saving time skips comes after the gap. */
function momentOf(text: string, tz: string | undefined): number {
  const iso = text.trim().replace(/^(\d{4}-\d\d-\d\d) /, "$1T");
  const refused = () =>
    cronErrors.cronTool({
      reason: `at: "${text.slice(0, 40)}" is no time; expected ISO 8601 such as 2026-03-01T09:00, local to tz, or with its own zone`,
    });
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:?\d\d)?$/.test(iso)) throw refused();
  if (/(?:Z|[+-]\d\d:?\d\d)$/.test(iso)) {
    const moment = Date.parse(iso);
    if (Number.isNaN(moment)) throw refused();
    return moment;
  }
  const plain = iso.replace(/\.\d+$/, "");
  const local = plain.length === 16 ? `${plain}:00` : plain;
  let moment: number | undefined;
  try {
    moment = new Cron(local, { paused: true, ...(tz === undefined ? {} : { timezone: tz }) }).nextRun(new Date(0))?.getTime();
  } catch {
    throw tz === undefined || isTimeZone(tz)
      ? refused()
      : cronErrors.cronTool({ reason: `tz: unknown time zone "${tz}"; expected a name such as Europe/Berlin` });
  }
  if (moment === undefined) throw refused();
  return moment;
}

/** A moment as the model reads it back: on the clock of a zone with its weekday, and in UTC. */
export function timeTexts(at: number, tz?: string): { local: string; weekday: string; utc: string; tz: string } {
  const zone = tz !== undefined && isTimeZone(tz) ? tz : Intl.DateTimeFormat().resolvedOptions().timeZone;
  const options = {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  } as const;
  const parts = new Intl.DateTimeFormat("en", { ...options, second: "2-digit" }).formatToParts(at);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
  const local = `${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")}:${part("second")}`;
  const weekday = new Intl.DateTimeFormat("en", { timeZone: zone, weekday: "long" }).format(at);
  return { local, weekday, utc: new Date(at).toISOString(), tz: zone };
}
