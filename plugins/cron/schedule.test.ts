import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkSchedule, countSlots, newestSlot, nextSlot, scheduleText, staggerOf } from "./schedule.ts";

const cron = (expr: string, tz = "Europe/Berlin") => ({ kind: "cron" as const, expr, tz });
const at = (iso: string) => Date.parse(iso);
const hours = (expr: string, from: string, count: number) => {
  const found: string[] = [];
  for (let now = at(from); found.length < count; ) {
    now = nextSlot(cron(expr), now) ?? Number.NaN;
    found.push(new Date(now).toISOString().slice(5, 16));
  }
  return found;
};

describe("the nights of daylight saving time", () => {
  test("a time that is skipped comes after the gap, and one that comes twice comes once; intervals follow the clock", () => {
    for (const [expr, from, expected] of [
      ["30 2 * * *", "2026-03-28T12:00:00Z", ["03-29T01:00", "03-30T00:30"]],
      ["30 2,14 * * *", "2026-03-28T14:00:00Z", ["03-29T01:00", "03-29T12:30"]],
      ["*/30 2 * * *", "2026-03-28T12:00:00Z", ["03-30T00:00", "03-30T00:30"]],
      ["30 2 * * *", "2026-10-24T12:00:00Z", ["10-25T00:30", "10-26T01:30"]],
      ["*/30 2 * * *", "2026-10-24T12:00:00Z", ["10-25T00:00", "10-25T00:30", "10-25T01:00", "10-25T01:30", "10-26T01:00"]],
      ["@daily", "2026-10-24T12:00:00Z", ["10-24T22:00", "10-25T23:00"]],
    ] as const)
      expect([expr, from, hours(expr, from, expected.length)]).toEqual([expr, from, expected]);
  });
});

/** Meaning of an expression of plain numbers and lists in a zone without daylight saving time. */
interface Plan {
  minutes: number[];
  hours: number[];
  weekdays: number[];
}

function isSlot(minute: number, { minutes, hours: list, weekdays }: Plan): boolean {
  const date = new Date(minute * 60_000);
  return minutes.includes(date.getUTCMinutes()) && list.includes(date.getUTCHours()) && weekdays.includes(date.getUTCDay());
}

const someOf = (max: number, most: number) => fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: most });

test("a year of times is that of a model, forward and looking back", () => {
  const year = at("2026-01-01T00:00:00Z") / 60_000;
  const plans = fc.record({ minutes: someOf(59, 3), hours: someOf(23, 3), weekdays: someOf(6, 4) });
  fc.assert(
    fc.property(plans, fc.integer({ min: 0, max: 525_599 }), fc.integer({ min: 0, max: 59_999 }), (plan, minute, rest) => {
      const schedule = cron(`${plan.minutes} ${plan.hours} * * ${plan.weekdays}`, "UTC");
      const now = (year + minute) * 60_000 + rest;
      let next = year + minute + 1;
      while (!isSlot(next, plan)) next += 1;
      let last = year + minute;
      while (!isSlot(last, plan)) last -= 1;
      expect(nextSlot(schedule, now)).toBe(next * 60_000);
      expect(newestSlot(schedule, { after: 0, upTo: now })).toBe(last * 60_000);
      // None is between the two: what was taken is not taken again.
      expect(newestSlot(schedule, { after: last * 60_000, upTo: next * 60_000 - 1 })).toBeUndefined();
    }),
    { seed: Number(process.env.SVC_TEST_SEED ?? 17), numRuns: 300 },
  );
});

test("in a zone with two nights of its own the newest slot is the last one before, all through the year", () => {
  const zones = fc.constantFrom("Europe/Berlin", "America/New_York", "Australia/Lord_Howe");
  const exprs = fc.constantFrom("30 2 * * *", "*/20 1-3 * * *", "0 0 * * 0", "15 2,3 1 * *");
  const days = fc.integer({ min: 0, max: 365 * 24 * 4 });
  fc.assert(
    fc.property(zones, exprs, days, (tz, expr, quarter) => {
      const schedule = cron(expr, tz);
      const now = at("2026-01-05T00:00:00Z") + quarter * 900_000;
      const newest = newestSlot(schedule, { after: 0, upTo: now });
      if (newest === undefined) return;
      expect(newest).toBeLessThanOrEqual(now);
      expect(nextSlot(schedule, newest) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(now);
    }),
    { seed: Number(process.env.SVC_TEST_SEED ?? 17), numRuns: 300 },
  );
});

test("intervals are counted from their anchor, and a single time comes once", () => {
  const every = { kind: "every" as const, everyMs: 60_000, anchorMs: 30_000 };
  expect([nextSlot(every, 0), nextSlot(every, 30_000), nextSlot(every, 100_000)]).toEqual([30_000, 90_000, 150_000]);
  expect([newestSlot(every, { after: -1, upTo: 20_000 }), newestSlot(every, { after: 0, upTo: 95_000 })]).toEqual([undefined, 90_000]);
  expect(countSlots(every, { after: 0, upTo: 600_000, max: 5 })).toBe(5);
  const once = { kind: "at" as const, at: "2026-01-01T00:00:00Z" };
  expect([nextSlot(once, 0), nextSlot(once, at(once.at))]).toEqual([at(once.at), undefined]);
});

test("a schedule that cannot be read, or never comes, is refused", () => {
  for (const [schedule, message] of [
    [cron("0 0 31 2 *"), /never comes/],
    [cron("@reboot"), /five fields/],
    [cron("61 * * * *"), /five fields/],
    [cron("0 8 * * *", "Europe/Atlantis"), /unknown time zone/],
  ] as const)
    expect(() => checkSchedule(schedule, 0)).toThrow(message);
  expect(() => checkSchedule(cron("@daily"), 0)).not.toThrow();
});

test("jobs of one time are spread out, each always by the same", () => {
  const schedule = { ...cron("0 8 * * *"), staggerMs: 60_000 };
  const delays = ["a1", "b2", "c3"].map((id) => staggerOf(schedule, id));
  expect(new Set(delays).size).toBe(3);
  expect(delays).toEqual(["a1", "b2", "c3"].map((id) => staggerOf(schedule, id)));
  expect(staggerOf(cron("0 8 * * *"), "a1")).toBe(0);
});

test("a schedule reads as people write it", () => {
  expect(scheduleText({ kind: "every", everyMs: 5_400_000 })).toBe("every 90m");
  expect(scheduleText(cron("0 8 * * *"))).toBe("0 8 * * * (Europe/Berlin)");
});
