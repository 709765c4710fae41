import { expect, test } from "vitest";
import type { Job } from "./job.ts";
import { afterRun, type End, guardOf, isAlert, planNext } from "./outcome.ts";
import { missedJobs, recordMiss } from "./startup.ts";

const now = 1_000_000_000_000;
const DAY = 86_400_000;
const retry = { maxAttempts: 3, backoffMs: [30_000, 60_000], retryOn: ["rate_limit" as const] };
const once: Job["schedule"] = { kind: "at", at: new Date(now - 1).toISOString() };

function jobOf(state: Partial<Job["state"]> = {}, more: Partial<Job> = {}): Job {
  return {
    id: "j",
    name: "x",
    enabled: true,
    schedule: { kind: "every", everyMs: 60_000, anchorMs: now },
    sessionTarget: "isolated",
    wakeMode: "now",
    payload: { kind: "agentTurn", message: "x" },
    state: { consecutiveErrors: 0, runningAtMs: now, runId: "j-1", ...state },
    createdAtMs: 0,
    updatedAtMs: 0,
    configRevision: 1,
    log: { first: 0, next: 0, bytes: 0 },
    ...more,
  };
}

const failed = (code: string): End => ({ status: "error", error: "no", code, at: now, durationMs: 1, isForced: false });
const ok: End = { status: "ok", at: now, durationMs: 1, isForced: false };

test("one that runs once is retried for faults that pass, as often as the rules say, and is switched off then", () => {
  let job = jobOf({}, { schedule: once });
  const waits: Array<number | undefined> = [];
  for (let n = 0; n < 3; n += 1) {
    const after = afterRun({ ...job, state: { ...job.state, runningAtMs: now, runId: "j" } }, failed("RATE_LIMIT"), retry);
    job = after.job;
    waits.push(job.state.nextRunAtMs === undefined ? undefined : job.state.nextRunAtMs - now);
  }
  expect([waits, job.enabled]).toEqual([[30_000, 60_000, undefined], false]);
  expect(afterRun(jobOf({}, { schedule: once }), failed("AUTH"), retry)).toMatchObject({ job: { enabled: false }, isSwitchedOff: true });
  expect(afterRun(jobOf({}, { schedule: once, deleteAfterRun: true }), ok, retry)).toMatchObject({ isDone: true, isSwitchedOff: false });
});

test("a run by hand leaves the schedule as it is", () => {
  const job = jobOf({ nextRunAtMs: now + 5 }, { schedule: once, deleteAfterRun: true });
  expect(afterRun(job, { ...ok, isForced: true }, retry)).toMatchObject({
    isDone: false,
    job: { enabled: true, state: { nextRunAtMs: now + 5 } },
  });
});

test("an alert comes after so many errors, then at most once in its time, and whenever a job is switched off", () => {
  const rules = { enabled: true, after: 2, cooldownMs: 1_000 };
  const alertOf = (before: Job, at = now) => isAlert(before, afterRun(before, failed("AUTH"), retry), rules, at);
  expect(alertOf(jobOf())).toBe(false);
  expect(alertOf(jobOf({ consecutiveErrors: 1 }))).toBe(true);
  expect(alertOf(jobOf({ consecutiveErrors: 2, lastAlertAtMs: now - 999 }))).toBe(false);
  expect(alertOf(jobOf({ consecutiveErrors: 2, lastAlertAtMs: now - 1_000 }))).toBe(true);
  const last = jobOf({ consecutiveErrors: 9, lastAlertAtMs: now });
  expect(isAlert(last, afterRun(last, failed("AUTH"), retry), { ...rules, enabled: false }, now)).toBe(true);
});

test("a clock that goes back an hour runs no slot again; one that goes back more than a day begins anew", () => {
  const ran = jobOf({ lastSlotMs: now + 3_600_000 });
  expect(planNext(ran, now)).toBe(now + 3_660_000);
  const wrong = jobOf({ lastSlotMs: now + 2 * DAY });
  expect([guardOf(wrong, now), planNext(wrong, now)]).toEqual([-1, now + 60_000]);
});

test("with skipMissedJobs only those that run once make up for what they missed, and a run that was cut off ends there", () => {
  const [late, cut, single] = [
    jobOf({ nextRunAtMs: now - 60_000, runningAtMs: undefined }, { id: "late" }),
    jobOf({ nextRunAtMs: now + 60_000, runningAtMs: now - 10 }, { id: "cut" }),
    jobOf({ nextRunAtMs: now - 1, runningAtMs: undefined }, { id: "single", schedule: once }),
  ];
  const stock = missedJobs([late, cut, single], now, { skipMissedJobs: true });
  expect(stock.map(({ job, inMs, isCutOff }) => [job.id, inMs, isCutOff])).toEqual([
    ["late", undefined, false],
    ["cut", undefined, true],
    ["single", 0, false],
  ]);
  const { job, entry } = recordMiss(cut, { goes: false, now, wasInterrupted: true });
  expect(job.state).toMatchObject({ lastStatus: "interrupted", nextRunAtMs: now + 60_000 });
  expect(job.state).not.toHaveProperty("runningAtMs");
  expect(entry).toMatchObject({ status: "error", error: "interrupted: the gateway ended while it ran" });
});
