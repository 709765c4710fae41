import { isSvcError, type Lease, type Messaging, messageOf, type PluginContext, type PluginLife, type Store, settledWithin } from "svc/sdk";
import { CRON_SCOPE } from "svc/sdk/internal";
import { fire } from "./fire.ts";
import { defined, type Job, type LogEntry, type RunStatus, wireJob } from "./job.ts";
import { Jobs } from "./jobs.ts";
import { planNext } from "./outcome.ts";
import { createRetention } from "./retention.ts";
import { type BrokenRow, JobRows } from "./rows.ts";
import { Scheduler } from "./scheduler.ts";
import { missedJobs, recordMiss } from "./startup.ts";

/** Changes of other gateways are read together. */
const RELOAD_MS = 250;
/** Runs go on without this instance; only what is being stored is waited for. */
const STOP_MS = 3_000;

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
  const tell = (job: Job, action: string, more: { status?: RunStatus } & Partial<LogEntry> = {}) => {
    const { runAtMs, status, error, durationMs } = more;
    const wire = wireJob(job);
    ctx.emit("cron", {
      jobId: job.id,
      action,
      job: wire,
      ...defined({ runAtMs, status, error, durationMs, nextRunAtMs: wire.nextRunAtMs }),
    });
  };
  const messaging = (): Messaging | undefined => {
    try {
      return ctx.service("messaging@1");
    } catch (error) {
      if (isSvcError(error, "service-unavailable")) return undefined;
      throw error;
    }
  };
  const deps = { ctx, rows, store, agents, messaging, config, fence: role.fence, tell };
  const scheduler = new Scheduler({
    clock: ctx.clock,
    timers: ctx.timers,
    logger: ctx.logger,
    maxRuns: () => config().maxConcurrentRuns,
    fire: (id) => fire(id, deps, ctx.signal),
    replan: async (id) => {
      const now = ctx.clock.now();
      const change = (job: Job) => ({ job: { ...job, state: defined({ ...job.state, nextRunAtMs: planNext(job, now) }) } });
      return (await rows.change(id, change, role.fence()))?.job;
    },
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

/** The role of the one gateway that fires. */
function createRole(ctx: PluginContext) {
  let lease: Lease | undefined;
  return {
    /** False while another gateway may have it. */
    isHeld: () => lease !== undefined && !lease.lost.aborted,
    /** Writes of a gateway that has lost the role are refused. */
    fence: () => lease && { name: lease.name, token: lease.token },
    async acquire(): Promise<AbortSignal> {
      lease = await ctx.service("leases@1").acquire("cron");
      return lease.lost;
    },
    async release(): Promise<void> {
      await lease?.release().catch((error: unknown) => ctx.logger.debug("cron: the role was not given back", { error: messageOf(error) }));
      lease = undefined;
    },
  };
}

interface LifeParts {
  scheduler: Scheduler;
  rows: JobRows;
  role: ReturnType<typeof createRole>;
  retention: { sweep(): Promise<void> };
  load(): Promise<Job[]>;
  store: CronPlugin["store"];
}

function createLife(ctx: PluginContext, parts: LifeParts): PluginLife {
  const { scheduler, role, load, retention } = parts;
  const gateway = ctx.service("gateway@1");
  let isStopping = false;
  let isBeginning = false;
  const isWanted = () => !isStopping && ctx.snapshot().cron.enabled && ctx.env.SVC_SKIP_CRON !== "1" && gateway.info().phase === "ready";
  const begin = async () => {
    if (!isWanted() || scheduler.isOn || isBeginning) return;
    isBeginning = true;
    try {
      const lost = await role.acquire();
      lost.addEventListener("abort", () => scheduler.stop(), { once: true });
      await takeStock(ctx, parts);
      if (isWanted() && !lost.aborted) scheduler.start();
      void retention.sweep();
    } catch (error) {
      ctx.logger.warn("cron: jobs are not run yet; trying again", { error: messageOf(error) });
      ctx.timers.setTimeout(() => void begin(), 5_000);
    } finally {
      isBeginning = false;
    }
  };
  ctx.on("gateway.ready", begin);
  ctx.on("gateway.resumed", () => scheduler.nudge());
  ctx.on("gateway.stopping", () => {
    isStopping = true;
    scheduler.stop();
  });
  ctx.onReload({
    prefixes: ["cron"],
    prepare: async () => ({
      async apply() {
        if (!isWanted()) scheduler.stop();
        else if (scheduler.isOn) scheduler.nudge();
        else await begin();
      },
      discard: () => undefined,
    }),
  });
  followOthers(ctx, parts);
  return {
    async start() {
      for (const job of await load()) scheduler.set(job);
      if (ctx.env.SVC_SKIP_CRON === "1") ctx.logger.warn("cron: no job is run: SVC_SKIP_CRON is 1");
      // A later instance of this plugin misses the moment at which the gateway became ready.
      await begin();
    },
    async stop() {
      isStopping = true;
      scheduler.stop();
      await settledWithin(scheduler.idle(), STOP_MS);
      await role.release();
    },
  };
}

/** Before anything is fired: what was missed is written down, and what runs is spread out. */
async function takeStock(ctx: PluginContext, { scheduler, rows, role, load, store }: LifeParts): Promise<void> {
  const now = ctx.clock.now();
  const jobs = await load();
  for (const job of jobs) scheduler.set(job);
  // Runs of this very process go on by themselves: the scheduler was only switched off and on.
  const idle = jobs.filter(({ id }) => !scheduler.isActive(id));
  for (const { job, inMs, isCutOff } of missedJobs(idle, now, ctx.snapshot().cron)) {
    const run = isCutOff && job.state.runId !== undefined ? await store().runs.get(job.state.runId) : undefined;
    const hasEnded = run !== undefined && run.state !== "queued" && run.state !== "running" && run.state !== "interrupted";
    const goes = inMs !== undefined || hasEnded;
    if (!hasEnded) {
      const change = (present: Job) => recordMiss(present, { goes, now, wasInterrupted: run !== undefined });
      const changed = await rows.change(job.id, change, role.fence());
      if (changed) scheduler.set(changed.job);
    }
    // The end of a run that is known only has to be stored.
    if (goes) scheduler.hold(job.id, hasEnded ? 0 : (inMs ?? 0), isCutOff);
  }
}

/** Jobs that another gateway has changed; the embedded store has no other. */
function followOthers(ctx: PluginContext, { scheduler, load, store }: LifeParts): void {
  let isPlanned = false;
  const reread = async () => {
    isPlanned = false;
    const jobs = await load();
    const present = new Set(jobs.map(({ id }) => id));
    for (const { id } of [...scheduler.jobs]) if (!present.has(id) && !scheduler.isActive(id)) scheduler.delete(id);
    for (const job of jobs) if (!scheduler.isActive(job.id)) scheduler.set(job);
  };
  const changes = store().changes((change) => {
    const isOurs = change === "resync" || (change.kind === "kv" && change.keys.includes(CRON_SCOPE));
    if (!isOurs || isPlanned || store().status().backend === "sqlite") return;
    isPlanned = true;
    const failed = (error: unknown) => ctx.logger.debug("cron: jobs are read again later", { error: messageOf(error) });
    ctx.timers.setTimeout(() => void reread().catch(failed), RELOAD_MS);
  });
  ctx.onDispose(() => changes.dispose());
}
