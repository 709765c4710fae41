import type { PluginContext } from "svc/sdk";
import type { CronPlugin } from "./cron.ts";
import { defined } from "./job.ts";

/** Findings of the doctor about rows that cannot be read, and runs that nobody carries on. */
export function registerCronChecks(ctx: PluginContext, { scheduler, broken }: CronPlugin): void {
  ctx.registerDoctorCheck({
    id: "cron/store",
    run() {
      const rows = broken();
      const [first] = rows;
      if (!first) return { ok: true, level: "info", message: `${scheduler.count} jobs can be read` };
      const rest = rows.length > 1 ? ` and ${rows.length - 1} more` : "";
      const message = `the row of job ${first.id}${rest} cannot be read (${first.problem}), so it does not run`;
      return { ok: false, level: "warning", message, fix: `svc cron rm ${first.id}` };
    },
  });
  ctx.registerDoctorCheck({
    id: "cron/stuck",
    run() {
      const [first, ...others] = scheduler.isOn ? scheduler.stuck() : [];
      if (!first) return { ok: true, level: "info", message: "no job is stuck" };
      const rest = others.length > 0 ? ` and ${others.length} more` : "";
      const message = `job ${first.id} (${first.name})${rest} is marked as running, but nothing runs it`;
      return { ok: false, level: "warning", message, fix: `svc cron disable ${first.id} && svc cron enable ${first.id}` };
    },
  });
  ctx.on("health.collect", (_event, meta) => {
    const ids = broken().map(({ id }) => id);
    const nextRunAt = scheduler.isOn ? scheduler.nextAt() : undefined;
    const value = { enabled: scheduler.isOn, jobs: scheduler.count, running: scheduler.running, ...defined({ nextRunAt }) };
    const message = ids.length === 0 ? undefined : `rows of jobs cannot be read: ${ids.slice(0, 5).join(", ")}`;
    meta.report({ part: "cron", ok: ids.length === 0, value, ...(message === undefined ? {} : { message }) });
  });
}
