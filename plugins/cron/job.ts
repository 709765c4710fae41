import type { JsonObject } from "svc/sdk";
import type { CronJobRow } from "svc/sdk/internal";

/** A job, or what is stored of one. */
export type Job = CronJobRow;

/** Ways a run may end on the wire. */
export type RunStatus = "ok" | "error" | "skipped";

/** The end of one run, or a slot that was let go. */
export interface LogEntry {
  ts: number;
  jobId: string;
  action: "finished";
  status: RunStatus;
  error?: string;
  /** The beginning of the answer. */
  summary?: string;
  runId: string;
  runAtMs: number;
  durationMs: number;
}

/** A job as clients see it. */
export function wireJob(job: Job): JsonObject {
  const { log: _, ...shown } = job;
  const next = job.enabled ? job.state.nextRunAtMs : undefined;
  return { ...shown, ...(next === undefined ? {} : { nextRunAtMs: next }) };
}

const MAX_ERROR_CHARS = 500;
const MAX_SUMMARY_CHARS = 300;

/** An error as it is stored and shown. */
export function shortError(text: string): string {
  return cut(text, MAX_ERROR_CHARS);
}

/** The beginning of an answer. */
export function summaryOf(text: string): string {
  return cut(text, MAX_SUMMARY_CHARS);
}

function cut(text: string, max: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > max ? `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}

/** An object without the members that are undefined. */
export function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };
}
