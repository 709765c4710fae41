import { methodOf, type PluginContext } from "svc/sdk";
import type { CronPlugin } from "./cron.ts";
import { wireJob } from "./job.ts";
import { listJobs, listRuns } from "./lists.ts";
import { cronMethods } from "./protocol-methods.ts";

/** The methods `cron.*`. */
export function registerCronMethods(ctx: PluginContext, { scheduler, jobs, rows, store, broken }: CronPlugin): void {
  ctx.registerRpc({
    ...methodOf(cronMethods, "cron.status"),
    handler: () => {
      const nextWakeAtMs = scheduler.isOn ? scheduler.nextAt() : undefined;
      const ids = broken().map(({ id }) => id);
      return {
        enabled: scheduler.isOn,
        storePath: store().status().endpoint,
        jobs: scheduler.count,
        running: scheduler.running,
        ...(nextWakeAtMs === undefined ? {} : { nextWakeAtMs }),
        ...(ids.length === 0 ? {} : { broken: ids }),
      };
    },
  });
  ctx.registerRpc({ ...methodOf(cronMethods, "cron.list"), handler: (question) => listJobs(scheduler.jobs, question) });
  ctx.registerRpc({ ...methodOf(cronMethods, "cron.get"), handler: ({ id }) => wireJob(jobs.get(id)) });
  ctx.registerRpc({ ...methodOf(cronMethods, "cron.add"), handler: async (wanted) => wireJob(await jobs.add(wanted)) });
  ctx.registerRpc({ ...methodOf(cronMethods, "cron.update"), handler: async ({ id, patch }) => wireJob(await jobs.update(id, patch)) });
  ctx.registerRpc({
    ...methodOf(cronMethods, "cron.remove"),
    handler: async ({ id }) => ({ ok: true, removed: await jobs.remove(id) }),
  });
  ctx.registerRpc({
    ...methodOf(cronMethods, "cron.run"),
    handler: async ({ id, mode = "force" }) => {
      const answer = await jobs.run(id, mode);
      return "runId" in answer ? { ok: true, enqueued: true, runId: answer.runId } : { ok: true, ran: false, reason: answer.reason };
    },
  });
  ctx.registerRpc({
    ...methodOf(cronMethods, "cron.runs"),
    handler: (question, { signal }) => listRuns(question, { jobs: scheduler.jobs, rows, store }, signal),
  });
}
