import { type CronEventHandler, isSvcError, type Messaging, type PluginContext, type PluginLife, type Store } from "svc/sdk";
import { fire } from "./fire.ts";
import { defined, type Job, type LogEntry, wireJob } from "./job.ts";
import { Jobs } from "./jobs.ts";
import { createLife, createRole } from "./life.ts";
import { planNext } from "./outcome.ts";
import { createRetention } from "./retention.ts";
import { type BrokenRow, JobRows } from "./rows.ts";
import { Scheduler } from "./scheduler.ts";

export interface CronPlugin {
  scheduler: Scheduler;
  jobs: Jobs;
  rows: JobRows;
  store: () => Pick<Store, "kv" | "commit" | "status" | "runs" | "changes">;
  broken(): readonly BrokenRow[];
  life: PluginLife;
}

/** Puts the parts together; nothing runs before the gateway is ready. */
export function createCron(ctx: PluginContext): CronPlugin {
  const store = () => ctx.service("store@2");
  const agents = () => ctx.service("agents@1");
  const config = () => ctx.snapshot().cron;
  const rows = new JobRows(store, () => config().runLog);
  const role = createRole(ctx);
  let broken: readonly BrokenRow[] = [];
  const tell = createTeller(ctx);
  const messaging = () => messagingOf(ctx);
  const handlers = ctx.contributions<CronEventHandler>("cronEvent");
  const deps = { ctx, rows, store, agents, messaging, config, fence: role.fence, tell, handlers };
  const scheduler = new Scheduler({
    clock: ctx.clock,
    timers: ctx.timers,
    logger: ctx.logger,
    maxRuns: () => config().maxConcurrentRuns,
    fire: (id) => fire(id, deps, ctx.signal),
    replan: async (id) => (await rows.change(id, (job) => replanned(job, ctx.clock.now()), role.fence()))?.job,
  });
  const jobs = new Jobs({ ctx, rows, scheduler, agents, tell });
  const retention = createRetention({ ctx, store, agents, keptMs: () => config().sessionRetention });
  const load = async () => {
    const found = await rows.load();
    for (const { id, problem } of found.broken)
      if (!broken.some((row) => row.id === id))
        ctx.logger.warn(`cron: the row of job ${id} cannot be read, so it does not run`, { problem });
    broken = found.broken;
    return found.jobs;
  };
  const life = createLife(ctx, { scheduler, rows, role, retention, load, store });
  return { scheduler, jobs, rows, store, broken: () => broken, life };
}

function replanned(job: Job, now: number) {
  return { job: { ...job, state: defined({ ...job.state, nextRunAtMs: planNext(job, now) }) } };
}

/** Tells clients about jobs. */
function createTeller(ctx: PluginContext) {
  return (job: Job, action: string, { runAtMs, status, error, durationMs }: Partial<LogEntry> = {}): void => {
    const wire = wireJob(job);
    ctx.emit("cron", {
      jobId: job.id,
      action,
      job: wire,
      ...defined({ runAtMs, status, error, durationMs, nextRunAtMs: wire.nextRunAtMs }),
    });
  };
}

/** Never required: jobs run without anybody who carries messages. */
function messagingOf(ctx: PluginContext): Messaging | undefined {
  try {
    return ctx.service("messaging@1");
  } catch (error) {
    if (isSvcError(error, "service-unavailable")) return undefined;
    throw error;
  }
}
