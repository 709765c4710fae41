import type { Cron, CronJobRequest, PlannedCronJob } from "svc/sdk";
import type { CronPlugin } from "./cron.ts";
import { defined, type Job } from "./job.ts";
import type { JobPatch, NewJob } from "./jobs.ts";

/** Service `cron@1`: what the methods `cron.*` do, for other plugins. */
export function cronService({ scheduler, jobs }: Pick<CronPlugin, "scheduler" | "jobs">): Cron {
  return {
    isOn: () => scheduler.isOn,
    list: () => [...scheduler.jobs].sort((a, b) => a.createdAtMs - b.createdAtMs || a.id.localeCompare(b.id)).map(toPlanned),
    add: async (job) => toPlanned(await jobs.add(job as NewJob)),
    update: async (id, patch) => toPlanned(await jobs.update(id, patch as JobPatch)),
    remove: async (id) => void (await jobs.remove(id)),
  };
}

function toPlanned({ id, name, agentId, enabled, schedule, sessionTarget, wakeMode, payload, state }: Job): PlannedCronJob {
  const request = defined({ name, agentId, schedule, sessionTarget, wakeMode, payload }) as CronJobRequest;
  return { ...request, id, enabled, ...(enabled && state.nextRunAtMs !== undefined ? { nextRunAtMs: state.nextRunAtMs } : {}) };
}
