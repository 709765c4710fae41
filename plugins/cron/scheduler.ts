import { type Clock, type Disposable, type Logger, messageOf, type Timers } from "svc/sdk";
import type { Job } from "./job.ts";
import { planNext } from "./outcome.ts";

/** Longest timer: far below the 2^31-1 ms that a timer can hold, and how soon a changed clock is noticed. */
const MAX_WAIT_MS = 60_000;
const JUMP_MS = 60_000;
/** Pause after a firing that the storage, or a fault, ended. */
const RETRY_MS = 5_000;

export interface SchedulerDeps {
  clock: Clock;
  timers: Pick<Timers, "setTimeout">;
  logger: Logger;
  maxRuns(): number;
  /** Fires one job. @returns it afterwards; undefined when it is gone */
  fire(id: string): Promise<Job | undefined>;
  /** Stores the new time of a job after the clock has changed. */
  replan(id: string): Promise<Job | undefined>;
}

/** Jobs in memory, with one timer for the next of them. Reading never changes a time; only what is fired moves on. */
export class Scheduler {
  readonly #deps: SchedulerDeps;
  readonly #jobs = new Map<string, Job>();
  readonly #active = new Map<string, Promise<void>>();
  /** Times, by the steady clock, before which a job is not fired. */
  readonly #notBefore = new Map<string, number>();
  /** Jobs whose run an earlier process, or a fault, cut off. */
  readonly #cutOff = new Set<string>();
  #timer: Disposable | undefined;
  #isOn = false;
  #drift = 0;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  get jobs(): Iterable<Job> {
    return this.#jobs.values();
  }

  get count(): number {
    return this.#jobs.size;
  }

  get running(): number {
    return this.#active.size;
  }

  get(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  isActive(id: string): boolean {
    return this.#active.has(id);
  }

  /** Runs that nobody carries on. */
  stuck(): Job[] {
    return [...this.#jobs.values()].filter(
      ({ id, state }) => state.runningAtMs !== undefined && !this.#active.has(id) && !this.#cutOff.has(id),
    );
  }

  nextAt(): number | undefined {
    let next: number | undefined;
    for (const { enabled, state } of this.#jobs.values())
      if (enabled && state.nextRunAtMs !== undefined && (next === undefined || state.nextRunAtMs < next)) next = state.nextRunAtMs;
    return next;
  }

  set(job: Job): void {
    this.#jobs.set(job.id, job);
    this.#arm();
  }

  delete(id: string): void {
    this.#jobs.delete(id);
    this.#notBefore.delete(id);
    this.#cutOff.delete(id);
    this.#arm();
  }

  /** Postpones the next firing of a job; `isCutOff`: its run goes on then. */
  hold(id: string, delayMs: number, isCutOff: boolean): void {
    this.#notBefore.set(id, this.#deps.clock.monotonic() + delayMs);
    if (isCutOff) this.#cutOff.add(id);
  }

  start(): void {
    this.#isOn = true;
    this.#drift = this.#readDrift();
    this.#tick();
  }

  /** No job begins any more. */
  stop(): void {
    this.#isOn = false;
    void this.#timer?.dispose();
    this.#timer = undefined;
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await Promise.all(this.#active.values());
  }

  /** Looks at the clock and the jobs now. */
  nudge(): void {
    if (this.#isOn) this.#tick();
  }

  #readDrift(): number {
    return this.#deps.clock.now() - this.#deps.clock.monotonic();
  }

  #tick(): void {
    this.#watchClock();
    const now = this.#deps.clock.now();
    const due = [...this.#jobs.values()]
      .filter((job) => this.#isDue(job, now))
      .sort((a, b) => (a.state.nextRunAtMs ?? 0) - (b.state.nextRunAtMs ?? 0));
    for (const job of due) if (this.#hasPlace(job)) this.#begin(job.id);
    this.#arm();
  }

  #isDue({ id, enabled, state }: Job, now: number): boolean {
    if (this.#active.has(id) || (this.#notBefore.get(id) ?? 0) > this.#deps.clock.monotonic()) return false;
    if (state.runningAtMs !== undefined) return this.#cutOff.has(id);
    return state.forcedAtMs !== undefined || (enabled && state.nextRunAtMs !== undefined && state.nextRunAtMs <= now);
  }

  /** Events cost no place: they are a row. */
  #hasPlace({ payload }: Job): boolean {
    return payload.kind === "systemEvent" || this.#turns() < this.#deps.maxRuns();
  }

  #turns(): number {
    let count = 0;
    for (const id of this.#active.keys()) if (this.#jobs.get(id)?.payload.kind !== "systemEvent") count += 1;
    return count;
  }

  #begin(id: string): void {
    this.#notBefore.delete(id);
    const work = this.#deps.fire(id).then(
      (job) => {
        this.#cutOff.delete(id);
        // A change that came meanwhile is newer than what the run left.
        if (!job) this.delete(id);
        else if (this.#jobs.has(id)) this.#jobs.set(id, job);
      },
      (error: unknown) => {
        if (!this.#isOn) return;
        this.#deps.logger.warn("cron: a job could not be carried out; it is tried again", { jobId: id, error: messageOf(error) });
        this.hold(id, RETRY_MS, true);
      },
    );
    this.#active.set(
      id,
      work.finally(() => {
        this.#active.delete(id);
        this.nudge();
      }),
    );
  }

  #arm(): void {
    if (!this.#isOn) return;
    void this.#timer?.dispose();
    this.#timer = this.#deps.timers.setTimeout(() => this.#tick(), this.#waitMs());
  }

  #waitMs(): number {
    const [now, steady] = [this.#deps.clock.now(), this.#deps.clock.monotonic()];
    const isFull = this.#turns() >= this.#deps.maxRuns();
    let wait = MAX_WAIT_MS;
    for (const job of this.#jobs.values()) {
      const { id, state, payload, enabled } = job;
      if (this.#active.has(id) || (isFull && payload.kind !== "systemEvent")) continue;
      const isCutOff = state.runningAtMs !== undefined;
      if (isCutOff && !this.#cutOff.has(id)) continue;
      const planned = enabled ? state.nextRunAtMs : undefined;
      const at = isCutOff || state.forcedAtMs !== undefined ? now : planned;
      if (at !== undefined) wait = Math.min(wait, Math.max(at - now, (this.#notBefore.get(id) ?? 0) - steady));
    }
    return Math.max(0, wait);
  }

  /** The wall clock moved by itself: times that lie ahead were counted from another now. */
  #watchClock(): void {
    const drift = this.#readDrift();
    if (Math.abs(drift - this.#drift) <= JUMP_MS) return;
    this.#deps.logger.warn(`cron: the clock jumped by ${Math.round((drift - this.#drift) / 1_000)} s; times of jobs are worked out anew`);
    this.#drift = drift;
    const now = this.#deps.clock.now();
    for (const job of this.#jobs.values()) {
      const { id, enabled, state, schedule } = job;
      if (!enabled || schedule.kind === "at" || state.nextRunAtMs === undefined || state.nextRunAtMs <= now) continue;
      if (planNext(job, now) === state.nextRunAtMs || this.#active.has(id)) continue;
      void this.#deps
        .replan(id)
        .then((changed) => changed && this.#jobs.has(id) && this.set(changed))
        .catch((error: unknown) => this.#deps.logger.warn("cron: a time was not stored", { jobId: id, error: messageOf(error) }));
    }
  }
}
