import { randomUUID } from "node:crypto";
import type { Agents, ParamsOf, PluginContext } from "svc/sdk";
import { cronErrors } from "./errors.ts";
import { forcedRunId, slotOf, slotRunId } from "./fire.ts";
import { defined, type Job } from "./job.ts";
import { planNext } from "./outcome.ts";
import type { JobRows } from "./rows.ts";
import { checkSchedule } from "./schedule.ts";
import type { Scheduler } from "./scheduler.ts";

/** Rows of one list of the store. */
const MAX_JOBS = 1_000;

/** Origin of the one who asks, where that is not the operator. */
type Asker = Pick<Job, "origin">;
export type NewJob = ParamsOf<"cron.add"> & Asker;
export type JobPatch = ParamsOf<"cron.update">["patch"] & Asker;

interface Deps {
  ctx: PluginContext;
  rows: JobRows;
  scheduler: Scheduler;
  agents: () => Pick<Agents, "resolve" | "checkModel">;
  tell(job: Job, action: "added" | "updated" | "removed"): void;
}

/** Acts of operators and agents on jobs: each change is stored before it is answered. */
export class Jobs {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** @throws {SvcError} `cron-job-not-found` */
  get(id: string): Job {
    const job = this.#deps.scheduler.get(id);
    if (!job) throw cronErrors.cronJobNotFound({ jobId: id });
    return job;
  }

  /** @throws {SvcError} `cron-job`, `cron-schedule`, `cron-jobs-full`, `unknown-agent`, `invalid-model`, `model-not-allowed`, `storage-*` */
  async add(wanted: NewJob, { max = MAX_JOBS }: { max?: number } = {}): Promise<Job> {
    const { ctx, rows, scheduler, tell } = this.#deps;
    if (scheduler.count >= max) throw cronErrors.cronJobsFull({ max });
    const now = ctx.clock.now();
    await this.#check(wanted, now);
    const { schedule, enabled = true, ...rest } = wanted;
    const made = { ...defined(rest), id: randomUUID(), enabled, schedule: anchored(schedule, now), createdAtMs: now, updatedAtMs: now };
    const job = planned({ ...made, configRevision: 1, state: { consecutiveErrors: 0 }, log: { first: 0, next: 0, bytes: 0 } } as Job, now);
    await rows.insert(job);
    scheduler.set(job);
    tell(job, "added");
    return job;
  }

  /** @throws {SvcError} `cron-job-not-found`, and as `add` */
  async update(id: string, patch: JobPatch): Promise<Job> {
    const { ctx, rows, scheduler, tell } = this.#deps;
    const now = ctx.clock.now();
    const before = this.get(id);
    const isNewTime = patch.schedule !== undefined || (patch.enabled === true && !before.enabled);
    await this.#check(merged(before, patch, now), now, isNewTime);
    const result = await rows.change(id, (job) => {
      const next = { ...merged(job, patch, now), updatedAtMs: now, configRevision: job.configRevision + 1 };
      if (!isNewTime) return { job: next };
      const { tries: _, ...state } = next.state;
      // Switching a job on is a fresh start, also for a run that nobody carries on.
      const { runningAtMs: __, runId: ___, resumes: ____, ...free } = state;
      const base = scheduler.isActive(id) ? state : free;
      return { job: planned({ ...next, state: { ...base, consecutiveErrors: 0 } }, now) };
    });
    if (!result) throw cronErrors.cronJobNotFound({ jobId: id });
    scheduler.set(result.job);
    tell(result.job, "updated");
    return result.job;
  }

  /** @throws {SvcError} `cron-job-not-found` when there is neither a job nor a row that should have been one */
  async remove(id: string): Promise<boolean> {
    const { rows, scheduler, tell } = this.#deps;
    const job = scheduler.get(id);
    const removed = await rows.remove(id);
    scheduler.delete(id);
    if (!removed) throw cronErrors.cronJobNotFound({ jobId: id });
    if (job) tell(job, "removed");
    return removed;
  }

  /** Wants a run, as soon as there is a place. @throws {SvcError} `cron-job-not-found`, `cron-off` */
  async run(id: string, mode: "due" | "force"): Promise<{ runId: string } | { reason: "not-due" | "already-running" }> {
    const { ctx, rows, scheduler } = this.#deps;
    const now = ctx.clock.now();
    const present = this.get(id);
    const { state, enabled } = present;
    if (!scheduler.isOn) throw cronErrors.cronOff();
    if (scheduler.isActive(id) || state.runningAtMs !== undefined) return { reason: "already-running" };
    if (mode === "due") {
      const slot = enabled && (state.nextRunAtMs ?? Number.POSITIVE_INFINITY) <= now ? slotOf(present, now) : undefined;
      if (slot === undefined) return { reason: "not-due" };
      scheduler.nudge();
      return { runId: slotRunId(present, slot) };
    }
    const result = await rows.change(id, (job) =>
      job.state.forcedAtMs === undefined ? { job: { ...job, state: { ...job.state, forcedAtMs: now } } } : undefined,
    );
    if (!result) throw cronErrors.cronJobNotFound({ jobId: id });
    scheduler.set(result.job);
    return { runId: forcedRunId(id, result.job.state.forcedAtMs ?? now) };
  }

  async #check(job: NewJob, now: number, isNewTime = true): Promise<void> {
    const { schedule, payload, sessionTarget, delivery, agentId } = job;
    const isMain = sessionTarget === "main";
    const expected = isMain ? "systemEvent" : "agentTurn";
    if (payload.kind !== expected)
      throw cronErrors.cronJob({ reason: `sessionTarget "${sessionTarget}" takes a payload of kind "${expected}", not "${payload.kind}"` });
    if (isMain && delivery?.mode === "announce")
      throw cronErrors.cronJob({
        reason: 'delivery is for sessionTarget "isolated"; what the main session says goes where its heartbeats go',
      });
    if (delivery?.mode === "none" && (delivery.channel ?? delivery.to ?? delivery.threadId ?? delivery.accountId) !== undefined)
      throw cronErrors.cronJob({ reason: 'delivery.mode "none" takes no channel and no recipient; choose "announce"' });
    checkSchedule(schedule, now);
    if (isNewTime && job.enabled !== false && schedule.kind === "at" && Date.parse(schedule.at) <= now)
      throw cronErrors.cronSchedule({ reason: `schedule.at: ${schedule.at} is past; it is ${new Date(now).toISOString()} now` });
    const agents = this.#deps.agents();
    agents.resolve(defined({ agentId }));
    if (payload.kind === "agentTurn" && payload.model !== undefined)
      await agents.checkModel(defined({ agentId, model: payload.model }) as { agentId?: string; model: string });
  }
}

/** An interval is counted from when the job was made, so that an update of anything else moves nothing. */
function anchored(schedule: Job["schedule"], now: number): Job["schedule"] {
  return schedule.kind === "every" && schedule.anchorMs === undefined ? { ...schedule, anchorMs: now } : schedule;
}

function merged(job: Job, patch: JobPatch, now: number): Job {
  const { agentId, delivery, schedule, ...rest } = patch;
  const next = { ...job, ...defined(rest), ...(schedule === undefined ? {} : { schedule: anchored(schedule, now) }) };
  if (agentId === null) delete next.agentId;
  else if (agentId !== undefined) next.agentId = agentId;
  if (delivery === null) delete next.delivery;
  else if (delivery !== undefined) next.delivery = delivery;
  return next as Job;
}

function planned(job: Job, now: number): Job {
  return { ...job, state: defined({ ...job.state, nextRunAtMs: job.enabled ? planNext(job, now) : undefined }) } as Job;
}
