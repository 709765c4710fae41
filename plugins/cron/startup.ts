import type { SvcConfig } from "svc/sdk";
import { defined, type Job, type LogEntry } from "./job.ts";
import { guardOf, planNext } from "./outcome.ts";
import { countSlots } from "./schedule.ts";

/** Recurring jobs that make up for a time they missed. */
const MAX_CAUGHT_UP = 5;
/** Time between two jobs that were missed. */
export const SPACING_MS = 5_000;
/** Missed times are counted up to this. */
const MAX_COUNTED = 1_000;

/** Fate of a job that was due, or at work, while no gateway ran it. */
export interface Missed {
  job: Job;
  /** Delay of its run; undefined: it is let go. */
  inMs?: number;
  isCutOff: boolean;
}

/**
 * Sorts out what was missed: jobs that run once always run, of the others the five that wait longest, each for its newest time alone, 5 s apart. Runs that were cut
 * off count as missed and go on. Pure.
 */
export function missedJobs(jobs: Iterable<Job>, now: number, { skipMissedJobs }: Pick<SvcConfig["cron"], "skipMissedJobs">): Missed[] {
  const missed = [...jobs]
    .filter(({ enabled, state }) => state.runningAtMs !== undefined || (enabled && (state.nextRunAtMs ?? Number.POSITIVE_INFINITY) <= now))
    .sort((a, b) => dueAt(a) - dueAt(b));
  let [begun, caughtUp] = [0, 0];
  return missed.map((job) => {
    const isCutOff = job.state.runningAtMs !== undefined;
    const isOnce = job.schedule.kind === "at";
    const goes = isOnce || (!skipMissedJobs && caughtUp < MAX_CAUGHT_UP);
    if (!goes) return { job, isCutOff };
    if (!isOnce) caughtUp += 1;
    begun += 1;
    return { job, isCutOff, inMs: (begun - 1) * SPACING_MS };
  });
}

function dueAt({ state }: Job): number {
  return state.runningAtMs ?? state.nextRunAtMs ?? 0;
}

interface Stock {
  /** Its run comes now. */
  goes: boolean;
  now: number;
  /** Its run had begun. */
  wasInterrupted: boolean;
}

/** A missed job as it is stored, with the entry of its log. Pure. */
export function recordMiss(job: Job, stock: Stock): { job: Job; entry: LogEntry } {
  return job.state.runningAtMs === undefined ? recordSlot(job, stock) : recordCutOff(job, job.state.runningAtMs, stock);
}

function recordCutOff(job: Job, runningAtMs: number, { goes, now, wasInterrupted }: Stock): { job: Job; entry: LogEntry } {
  const { runningAtMs: _, runId = "", resumes: __, ...rest } = job.state;
  const error = `interrupted: the gateway ended ${wasInterrupted ? "while it ran" : "before it began"}${goes ? "; it goes on" : ""}`;
  const entry = entryOf(job, { ts: now, status: "error", error, runId, runAtMs: runningAtMs, durationMs: Math.max(0, now - runningAtMs) });
  const state = goes ? job.state : { ...rest, nextRunAtMs: planNext(job, now), lastRunAtMs: runningAtMs };
  return { job: { ...job, state: defined({ ...state, lastStatus: "interrupted" as const, lastError: error }) }, entry };
}

function recordSlot(job: Job, { goes, now }: Stock): { job: Job; entry: LogEntry } {
  const { state, schedule, id } = job;
  const from = state.nextRunAtMs ?? now;
  const count =
    schedule.kind === "at" ? 1 : countSlots(schedule, { after: Math.max(guardOf(job, now), from - 1), upTo: now, max: MAX_COUNTED });
  const times = count <= 1 ? "its time" : `${count === MAX_COUNTED ? `at least ${count}` : count} of its times`;
  const error = `missed ${times} since ${new Date(from).toISOString()}: no gateway ran it${goes ? "; the newest runs now" : ""}`;
  const entry = entryOf(job, { ts: now, status: "skipped", error, runId: `${id}-missed-${from}`, runAtMs: from, durationMs: 0 });
  if (goes) return { job, entry };
  const next = { ...state, lastStatus: "skipped" as const, lastError: error, nextRunAtMs: planNext(job, now) };
  return { job: { ...job, state: defined(next) }, entry };
}

function entryOf({ id }: Job, end: Omit<LogEntry, "jobId" | "action">): LogEntry {
  return { ...end, jobId: id, action: "finished" };
}
