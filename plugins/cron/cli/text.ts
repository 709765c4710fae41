import { type CliClient, commonErrors, printableLine, type ResultOf } from "svc/sdk";
import { scheduleText } from "../schedule.ts";

export type WireJob = ResultOf<"cron.get">;
export type WireRun = ResultOf<"cron.runs">["entries"][number];

export const json = { kind: "flag", description: "One JSON document on stdout" } as const;

/** Pages of one listing that are read at most. */
const MAX_PAGES = 20;

/** All jobs, page by page. */
export async function readJobs(client: CliClient, question: { includeDisabled: boolean; agentId?: string }): Promise<WireJob[]> {
  const jobs: WireJob[] = [];
  for (let offset = 0, page = 0; page < MAX_PAGES; page += 1) {
    const answer = await client.request("cron.list", { ...question, limit: 200, offset });
    jobs.push(...answer.jobs);
    if (answer.nextOffset === null) break;
    offset = answer.nextOffset;
  }
  return jobs;
}

/**
 * The id that a typed beginning or a name means.
 * @throws {SvcError} `failed` when it means several; one that means none is passed on, for the gateway to refuse
 */
export async function findId(client: CliClient, typed: string): Promise<string> {
  const jobs = await readJobs(client, { includeDisabled: true });
  if (jobs.some(({ id }) => id === typed)) return typed;
  const found = jobs.filter(({ id, name }) => id.startsWith(typed) || name === typed);
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(", ");
    throw commonErrors.failed({ message: `cron: "${typed}" fits several jobs: ${ids}; give more of the id` });
  }
  return found[0]?.id ?? typed;
}

/** Columns of a listing. */
export const jobColumns = ["Id", "Name", "Schedule", "Next", "Last", "Target"];

export function jobRow(job: WireJob): string[] {
  const { id, name, schedule, nextRunAtMs, state, enabled, sessionTarget, agentId } = job;
  const last = state.lastStatus ?? "-";
  const errors = state.consecutiveErrors > 1 ? ` (${state.consecutiveErrors} in a row)` : "";
  return [
    id.slice(0, 8),
    name,
    scheduleText(schedule),
    enabled ? (nextRunAtMs === undefined ? "-" : timeText(nextRunAtMs)) : "off",
    state.runningAtMs === undefined ? `${last}${errors}` : "running",
    agentId === undefined ? sessionTarget : `${sessionTarget} (${agentId})`,
  ].map(printableLine);
}

/** `2026-03-01T12:03:44Z  ok     4s  3f2a91c0  What was answered`. */
export function runLine({ ts, status, jobId, durationMs, error, summary }: WireRun): string {
  const facts = [timeText(ts), status.padEnd(7), `${Math.round(durationMs / 1_000)}s`, jobId.slice(0, 8), error ?? summary ?? ""];
  return facts.map(printableLine).join("  ").trimEnd();
}

/** Times are those of UTC, as in logs. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
