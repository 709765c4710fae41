import { type Cron, type CronJobRequest, isSvcError, type Logger, messageOf, type PlannedCronJob } from "svc/sdk";

/** Id under which the plugin takes the event of its job; `cron` reads it from the text of the event. */
export const SWEEP_HANDLER = "memory-core.dreaming";
const MARKER = `[managed-by=${SWEEP_HANDLER}]`;

/** Wanted state of the job: none while dreaming is off. */
export interface JobPlan {
  enabled: boolean;
  frequency: string;
  timeZone?: string | undefined;
}

/** State of the job, as status and doctor show it. */
export type JobState =
  | { state: "off" }
  | { state: "scheduled"; id: string; nextRunAt?: number }
  /** `problem` ends a sentence. */
  | { state: "missing"; problem: string };

/** Keeps the one job of dreaming as the config wants it. */
export class ManagedJob {
  readonly #cron: () => Cron;
  readonly #logger: Pick<Logger, "info" | "warn" | "debug">;
  #tail: Promise<unknown> = Promise.resolve();
  #problem: string | undefined;

  constructor(cron: () => Cron, logger: Pick<Logger, "info" | "warn" | "debug">) {
    this.#cron = cron;
    this.#logger = logger;
  }

  /** Adds, changes or removes the job, and removes further ones. Calls take turns; a failure is told by `state`. */
  reconcile(plan: JobPlan): Promise<void> {
    const work = this.#tail.then(async () => {
      try {
        await this.#apply(plan);
        this.#problem = undefined;
      } catch (error) {
        const problem = isSvcError(error, "service-unavailable") ? NO_CRON : messageOf(error);
        if (plan.enabled && problem !== this.#problem) this.#logger.warn(`dreaming: the job could not be registered: ${problem}`);
        this.#problem = problem;
      }
    });
    this.#tail = work;
    return work;
  }

  state({ enabled }: Pick<JobPlan, "enabled">): JobState {
    if (!enabled) return { state: "off" };
    try {
      const cron = this.#cron();
      const [job] = ours(cron);
      if (!job) return { state: "missing", problem: this.#problem ?? "its job is not in the list of jobs yet" };
      if (!cron.isOn())
        return { state: "missing", problem: "no job is run: cron.enabled is false, SVC_SKIP_CRON is 1, or another gateway runs them" };
      if (!job.enabled) return { state: "missing", problem: `its job ${job.id} is switched off; svc cron enable ${job.id} switches it on` };
      return { state: "scheduled", id: job.id, ...(job.nextRunAtMs === undefined ? {} : { nextRunAt: job.nextRunAtMs }) };
    } catch (error) {
      return { state: "missing", problem: isSvcError(error, "service-unavailable") ? NO_CRON : messageOf(error) };
    }
  }

  async #apply({ enabled, frequency, timeZone }: JobPlan): Promise<void> {
    const cron = this.#cron();
    const [present, ...others] = ours(cron);
    for (const { id } of enabled ? others : ours(cron)) await cron.remove(id);
    if (!enabled) return;
    const wanted = jobOf(frequency, timeZone);
    if (!present) {
      await cron.add(wanted);
      this.#logger.info("dreaming: its job is registered", { frequency, ...(timeZone === undefined ? {} : { timeZone }) });
    } else if (!isSame(present, wanted)) {
      const { name, schedule, payload, sessionTarget, wakeMode } = wanted;
      await cron.update(present.id, { name, schedule, payload, sessionTarget, wakeMode });
    }
  }
}

const NO_CRON = "the plugin cron is not running; enable it, or run svc memory dream run yourself";

function jobOf(expr: string, tz: string | undefined): CronJobRequest {
  return {
    name: `Dreaming: sweep of the short-term memory ${MARKER}`,
    schedule: { kind: "cron", expr, ...(tz === undefined ? {} : { tz }) },
    sessionTarget: "main",
    // A heartbeat would be a call of a model; the plugin takes the event before.
    wakeMode: "next-heartbeat",
    payload: { kind: "systemEvent", text: `${MARKER} Sweep of the short-term memory.` },
  };
}

/** Jobs with the marker, the oldest first. */
function ours(cron: Cron): PlannedCronJob[] {
  return cron.list().filter(({ payload }) => payload.kind === "systemEvent" && payload.text.startsWith(MARKER));
}

function isSame(present: PlannedCronJob, { schedule, payload, name }: CronJobRequest): boolean {
  return JSON.stringify([present.schedule, present.payload, present.name]) === JSON.stringify([schedule, payload, name]);
}
