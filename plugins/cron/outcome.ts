import type { RunOutcome, SvcConfig } from "svc/sdk";
import { defined, type Job } from "./job.ts";
import { nextSlot, staggerOf } from "./schedule.ts";

const DAY_MS = 86_400_000;
/** Waits of a recurring job after errors; the last one repeats. */
const BACKOFF_MS = [30_000, 60_000, 300_000, 900_000, 3_600_000];
/** Errors in a row after which a job is switched off. */
export const MAX_ERRORS = 10;

export type RetryRules = SvcConfig["cron"]["retry"];
export type AlertRules = Pick<SvcConfig["cron"]["failureAlert"], "enabled" | "after" | "cooldownMs">;

/** How a run ended. `isForced`: somebody asked for it, whatever the schedule says. */
export interface End {
  status: "ok" | "error";
  error?: string;
  code?: string;
  at: number;
  durationMs: number;
  isForced: boolean;
}

/** The time before which no slot is taken any more: none runs twice. A clock that went back by more than a day begins anew. */
export function guardOf({ state: { lastSlotMs } }: Pick<Job, "state">, now: number): number {
  return lastSlotMs === undefined || lastSlotMs > now + DAY_MS ? -1 : lastSlotMs;
}

/** When a job is due next; undefined: never. */
export function planNext(job: Pick<Job, "id" | "schedule" | "state">, now: number): number | undefined {
  const slot = nextSlot(job.schedule, Math.max(now, guardOf(job, now)));
  return slot === undefined ? undefined : slot + staggerOf(job.schedule, job.id);
}

/** A job after the end of a run. `isDone`: it ran once, as it should, and is removed. Pure. */
export function afterRun(job: Job, end: End, retry: RetryRules): { job: Job; isDone: boolean; isSwitchedOff: boolean } {
  const { runningAtMs, runId: _, resumes: __, tries = 0, ...rest } = job.state;
  const isOk = end.status === "ok";
  const consecutiveErrors = isOk ? 0 : rest.consecutiveErrors + 1;
  const { lastError: ___, ...kept } = rest;
  const state = {
    ...kept,
    ...defined({ lastRunAtMs: runningAtMs, lastError: end.error }),
    lastStatus: end.status,
    lastDurationMs: end.durationMs,
    consecutiveErrors,
  };
  const isOver = consecutiveErrors >= MAX_ERRORS;
  const off = (): Job => ({ ...job, enabled: false, state: defined({ ...state, nextRunAtMs: undefined }) });
  if (end.isForced) return { job: isOver ? off() : { ...job, state }, isDone: false, isSwitchedOff: isOver && job.enabled };
  if (isOk && job.deleteAfterRun) return { job: off(), isDone: true, isSwitchedOff: false };
  if (job.schedule.kind === "at") {
    if (isOk || isOver || !isRetried(end.code, retry) || tries + 1 >= retry.maxAttempts)
      return { job: off(), isDone: false, isSwitchedOff: !isOk };
    const waitMs = retry.backoffMs[Math.min(tries, retry.backoffMs.length - 1)] ?? 0;
    return { job: { ...job, state: { ...state, tries: tries + 1, nextRunAtMs: end.at + waitMs } }, isDone: false, isSwitchedOff: false };
  }
  if (isOver) return { job: off(), isDone: false, isSwitchedOff: true };
  const next = planNext(job, end.at);
  const backoff = isOk ? 0 : end.at + (BACKOFF_MS[Math.min(consecutiveErrors, BACKOFF_MS.length) - 1] ?? 0);
  const nextRunAtMs = next === undefined ? undefined : Math.max(next, backoff);
  return { job: { ...job, state: defined({ ...state, nextRunAtMs }) }, isDone: false, isSwitchedOff: false };
}

function isRetried(code: string | undefined, { retryOn }: RetryRules): boolean {
  return retryOn.some((fault) => fault.toUpperCase() === code);
}

/** Whether the end of a run is a reason to tell somebody. */
export function isAlert(
  before: Job,
  { job, isSwitchedOff }: { job: Job; isSwitchedOff: boolean },
  rules: AlertRules,
  now: number,
): boolean {
  if (job.state.lastStatus !== "error") return false;
  if (isSwitchedOff) return true;
  if (!rules.enabled || job.state.consecutiveErrors < rules.after) return false;
  const { lastAlertAtMs } = before.state;
  return lastAlertAtMs === undefined || now - lastAlertAtMs >= rules.cooldownMs || lastAlertAtMs > now;
}

/** The end of a run in the terms of a job. */
export function toEnd(outcome: Pick<RunOutcome, "status" | "code" | "error">): Pick<End, "status" | "code" | "error"> {
  if (outcome.status === "ok") return { status: "ok" };
  return defined({ status: "error" as const, code: outcome.code, error: outcome.error ?? "the run failed" });
}
