/** A job as a plugin asks for it; the same as `cron.add` takes. */
export interface CronJobRequest {
  name: string;
  agentId?: string;
  enabled?: boolean;
  schedule: { kind: "at"; at: string } | { kind: "every"; everyMs: number } | { kind: "cron"; expr: string; tz?: string };
  sessionTarget: "main" | "isolated";
  wakeMode: "now" | "next-heartbeat";
  payload: { kind: "systemEvent"; text: string } | { kind: "agentTurn"; message: string };
}

/** A job that is stored. `nextRunAtMs`: unset while it is switched off. */
export type PlannedCronJob = CronJobRequest & { id: string; enabled: boolean; nextRunAtMs?: number };

/** Service `cron@1`: jobs, for plugins that keep one of their own. */
export interface Cron {
  /** False while this gateway runs no job: `cron.enabled` is false, `SVC_SKIP_CRON` is 1, or another gateway does it. */
  isOn(): boolean;
  /** Every job, the oldest first. */
  list(): PlannedCronJob[];
  /** @throws {SvcError} `cron-job`, `cron-schedule`, `cron-jobs-full`, `unknown-agent`, `storage-*` */
  add(job: CronJobRequest): Promise<PlannedCronJob>;
  /** @throws {SvcError} `cron-job-not-found`, and as `add` */
  update(id: string, patch: Partial<CronJobRequest>): Promise<PlannedCronJob>;
  /** @throws {SvcError} `cron-job-not-found` */
  remove(id: string): Promise<void>;
}

/**
 * Takes events of jobs in the place of an agent, offered at the contribution point `cronEvent`: those of the main session whose text begins with `[managed-by=<id>]`, before
 * anything is queued and any model is called.
 */
export interface CronEventHandler {
  /**
   * Does the work; called again after a restart that cut it off, three times at most. Resolves with a line for the log of runs; what it throws is an error of
   * the job.
   */
  run(event: { jobId: string; signal: AbortSignal }): Promise<string>;
}
