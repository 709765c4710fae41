import { z } from "svc/sdk";
import { cronJobFields, cronJobState, cronPayload, cronSchedule } from "svc/sdk/internal";

const text = z.string();
const count = z.number().int().min(0);
const epochMs = count;
const { sessionTarget, wakeMode } = cronJobFields;

/** A job as clients see it. */
export const cronJob = z
  .object({
    id: text,
    name: text,
    agentId: text.exactOptional(),
    enabled: z.boolean(),
    origin: z
      .literal("person")
      .exactOptional()
      .describe("an owner planned or changed it on a channel: its runs have no more rights than that conversation"),
    deleteAfterRun: z.boolean().exactOptional(),
    schedule: cronSchedule,
    sessionTarget,
    wakeMode,
    payload: cronPayload,
    delivery: z
      .object({
        mode: z.enum(["none", "announce"]),
        channel: text.exactOptional(),
        to: text.exactOptional(),
        accountId: text.exactOptional(),
        threadId: text.exactOptional(),
        bestEffort: z.boolean().exactOptional(),
      })
      .exactOptional(),
    state: cronJobState.extend({ consecutiveErrors: count }),
    createdAtMs: epochMs,
    updatedAtMs: epochMs,
    configRevision: z.number().int().min(1).describe("grows with each change of what the job is"),
    nextRunAtMs: epochMs.exactOptional(),
  })
  .meta({ id: "CronJob" });

/** The end of one run, or a slot that was let go. */
export const cronRun = z
  .object({
    ts: epochMs,
    jobId: text,
    action: z.literal("finished"),
    status: z.enum(["ok", "error", "skipped"]),
    error: text.exactOptional(),
    summary: text.exactOptional().describe("the beginning of the answer"),
    runId: text,
    runAtMs: epochMs,
    durationMs: count,
  })
  .meta({ id: "CronRun" });

const page = { total: count, offset: count, limit: count, hasMore: z.boolean(), nextOffset: count.nullable() };

/** Payloads of the answers of these methods; for documents, types and tests: the running plugin never loads them. */
export const cronResults = {
  "cron.status": z.object({
    enabled: z.boolean().describe("jobs are run"),
    storePath: text,
    jobs: count,
    running: count,
    nextWakeAtMs: epochMs.exactOptional(),
    broken: z.array(text).exactOptional().describe("ids of rows that cannot be read; those jobs do not run"),
  }),
  "cron.list": z.object({
    jobs: z.array(cronJob),
    snapshotRevision: text.describe("changes with the set of jobs that the question means"),
    ...page,
  }),
  "cron.get": cronJob,
  "cron.add": cronJob,
  "cron.update": cronJob,
  "cron.remove": z.object({ ok: z.literal(true), removed: z.boolean() }),
  "cron.run": z.union([
    z.object({ ok: z.literal(true), enqueued: z.literal(true), runId: text }),
    z.object({ ok: z.literal(true), ran: z.literal(false), reason: z.enum(["not-due", "already-running"]) }),
  ]),
  "cron.runs": z.object({ entries: z.array(cronRun), ...page }),
};
