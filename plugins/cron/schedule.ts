import { Cron } from "croner";
import { isTimeZone } from "svc/sdk";
import type { CronSchedule } from "svc/sdk/internal";
import { cronErrors } from "./errors.ts";

/** Patterns that were read; beyond it the oldest is read anew. */
const MAX_KEPT = 512;
const kept = new Map<string, Cron>();

type Ticks = Pick<CronSchedule & { kind: "cron" }, "expr" | "tz">;

/** The pattern of a job: five fields, as the crontab of Unix. Times that daylight saving time skips run after the gap. @throws what croner throws */
function patternOf({ expr, tz }: Ticks): Cron {
  const key = `${tz ?? ""}\n${expr}`;
  const known = kept.get(key);
  if (known) return known;
  const timezone = tz === undefined ? {} : { timezone: tz };
  const made = new Cron(expr, { mode: "5-part", fixedTimeRule: "no-wildcard", paused: true, ...timezone });
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(key, made);
  return made;
}

/** The first time of a schedule after a moment; undefined when none comes. Times are epoch ms. */
export function nextSlot(schedule: CronSchedule, after: number): number | undefined {
  if (schedule.kind === "at") {
    const at = Date.parse(schedule.at);
    return at > after ? at : undefined;
  }
  if (schedule.kind === "every") {
    const { everyMs, anchorMs = 0 } = schedule;
    const steps = Math.floor((after - anchorMs) / everyMs) + 1;
    return anchorMs + steps * everyMs;
  }
  return patternOf(schedule).nextRun(new Date(after))?.getTime();
}

/** The newest time of a schedule up to a moment, as long as it is later than `after`. */
export function newestSlot(schedule: CronSchedule, { after, upTo }: { after: number; upTo: number }): number | undefined {
  const newest = lastSlot(schedule, upTo);
  return newest !== undefined && newest > after && newest <= upTo ? newest : undefined;
}

function lastSlot(schedule: CronSchedule, upTo: number): number | undefined {
  if (schedule.kind === "at") return Date.parse(schedule.at);
  if (schedule.kind === "every") {
    const { everyMs, anchorMs = 0 } = schedule;
    const steps = Math.floor((upTo - anchorMs) / everyMs);
    return anchorMs + steps * everyMs;
  }
  // A run at the very second of the reference is not before it.
  const reference = new Date(Math.floor(upTo / 1_000) * 1_000 + 500);
  return patternOf(schedule).previousRuns(1, reference)[0]?.getTime();
}

/** Number of times between two moments, the later one included; at most `max`. */
export function countSlots(schedule: CronSchedule, { after, upTo, max }: { after: number; upTo: number; max: number }): number {
  let count = 0;
  for (let at = nextSlot(schedule, after); at !== undefined && at <= upTo && count < max; at = nextSlot(schedule, at)) count += 1;
  return count;
}

/**
 * Checks that a schedule can be read and comes at all.
 * @throws {SvcError} `cron-schedule`
 */
export function checkSchedule(schedule: CronSchedule, now: number): void {
  if (schedule.kind === "at" && Number.isNaN(Date.parse(schedule.at)))
    throw cronErrors.cronSchedule({ reason: `schedule.at: no time: ${schedule.at.slice(0, 40)}` });
  if (schedule.kind !== "cron") return;
  const { expr, tz } = schedule;
  if (tz !== undefined && !isTimeZone(tz))
    throw cronErrors.cronSchedule({ reason: `schedule.tz: unknown time zone "${tz}"; expected a name such as Europe/Berlin` });
  let next: number | undefined;
  try {
    next = nextSlot(schedule, now);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : "it cannot be read";
    throw cronErrors.cronSchedule({
      reason: `schedule.expr: "${expr}": ${why.slice(0, 200)}; expected five fields (minute hour day month weekday), such as 30 8 * * 1-5`,
    });
  }
  if (next === undefined) throw cronErrors.cronSchedule({ reason: `schedule.expr: "${expr}" never comes` });
}

/** Delay of a job's times after those of its schedule: always the same for one job. */
export function staggerOf(schedule: CronSchedule, id: string): number {
  if (schedule.kind !== "cron" || !schedule.staggerMs) return 0;
  let hash = 0;
  for (const char of id) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 1_000_003;
  return hash % schedule.staggerMs;
}

/** `at 2026-03-01T08:00:00.000Z`, `every 5m`, `30 8 * * 1-5 (Europe/Berlin)`. */
export function scheduleText(schedule: CronSchedule): string {
  if (schedule.kind === "at") return `at ${schedule.at}`;
  if (schedule.kind === "cron") return schedule.tz === undefined ? schedule.expr : `${schedule.expr} (${schedule.tz})`;
  const seconds = schedule.everyMs / 1_000;
  const [unit, count] = [
    ["d", seconds / 86_400],
    ["h", seconds / 3_600],
    ["m", seconds / 60],
  ].find(([, n]) => Number.isInteger(n)) ?? ["s", seconds];
  return `every ${count}${unit}`;
}
