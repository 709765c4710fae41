import type { ResultOf } from "svc/sdk";
import { formatDuration } from "./text.ts";

/** `3 jobs, next in 12m, 1 running`; undefined while no job is run. */
export function cronLine(cron: ResultOf<"health">["cron"], now: number): string | undefined {
  if (!cron?.enabled) return cron && cron.jobs > 0 ? `off, ${jobsText(cron.jobs)}` : undefined;
  const { jobs, running, nextRunAt } = cron;
  const next = nextRunAt === undefined ? [] : [`next in ${formatDuration(Math.max(0, nextRunAt - now))}`];
  return [jobsText(jobs), ...next, ...(running > 0 ? [`${running} running`] : [])].join(", ");
}

function jobsText(jobs: number): string {
  return `${jobs} ${jobs === 1 ? "job" : "jobs"}`;
}
