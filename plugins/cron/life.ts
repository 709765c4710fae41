import { type Lease, messageOf, type PluginContext, type PluginLife, type Store, settledWithin } from "svc/sdk";
import { CRON_SCOPE } from "svc/sdk/internal";
import type { Job } from "./job.ts";
import type { JobRows } from "./rows.ts";
import type { Scheduler } from "./scheduler.ts";
import { missedJobs, recordMiss } from "./startup.ts";

/** Changes of other gateways are read together. */
const RELOAD_MS = 250;
/** Runs go on without this instance; only what is being stored is waited for. */
const STOP_MS = 3_000;
const RETRY_MS = 5_000;

export type Role = ReturnType<typeof createRole>;

/** The role of the one gateway that fires. */
export function createRole(ctx: PluginContext) {
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
  role: Role;
  retention: { sweep(): Promise<void> };
  load(): Promise<Job[]>;
  store: () => Pick<Store, "status" | "runs" | "changes">;
}

export function createLife(ctx: PluginContext, parts: LifeParts): PluginLife {
  const { scheduler, role, load } = parts;
  const gateway = ctx.service("gateway@1");
  let isStopping = false;
  let isBeginning = false;
  const isWanted = () => !isStopping && ctx.snapshot().cron.enabled && ctx.env.SVC_SKIP_CRON !== "1" && gateway.info().phase === "ready";
  const begin = async () => {
    if (!isWanted() || scheduler.isOn || isBeginning) return;
    isBeginning = true;
    try {
      await beginFiring(ctx, parts, isWanted);
    } catch (error) {
      ctx.logger.warn("cron: jobs are not run yet; trying again", { error: messageOf(error) });
      ctx.timers.setTimeout(() => void begin(), RETRY_MS);
    } finally {
      isBeginning = false;
    }
  };
  const stop = () => {
    isStopping = true;
    scheduler.stop();
  };
  ctx.on("gateway.ready", begin);
  ctx.on("gateway.resumed", () => scheduler.nudge());
  ctx.on("gateway.stopping", stop);
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
      stop();
      await settledWithin(scheduler.idle(), STOP_MS);
      await role.release();
    },
  };
}

async function beginFiring(ctx: PluginContext, parts: LifeParts, isWanted: () => boolean): Promise<void> {
  const lost = await parts.role.acquire();
  lost.addEventListener("abort", () => parts.scheduler.stop(), { once: true });
  await takeStock(ctx, parts);
  if (isWanted() && !lost.aborted) parts.scheduler.start();
  void parts.retention.sweep();
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
