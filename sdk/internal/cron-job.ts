import { z } from "zod";
import { idText } from "../config/fields.ts";

/** Rows of the store that hold jobs and what became of them. */
export const CRON_SCOPE = "gateway/cron";

/** Row of one job. */
export function cronJobKey(id: string): string {
  return `job/${id}`;
}

const epochMs = z.number().int().min(0).max(8.64e15);
/** At most what a system event may hold. */
const jobText = z.string().min(1).max(32_768);

/** A moment with its zone: `2026-03-01T09:00:00+01:00`. */
const moment = z.iso
  .datetime({ offset: true, error: "expected a time with its zone, such as 2026-03-01T09:00:00+01:00 or …Z" })
  .max(40)
  .describe("ISO 8601 with a zone");

/** When a job is due. */
export const cronSchedule = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("at"), at: moment }),
  z.strictObject({
    kind: z.literal("every"),
    everyMs: z
      .number()
      .int()
      .min(1_000)
      .max(366 * 86_400_000),
    anchorMs: epochMs.optional().describe("a moment that the times are counted from, forward and back; default: when the job was made"),
  }),
  z.strictObject({
    kind: z.literal("cron"),
    expr: z.string().min(1).max(256).describe("five fields: minute, hour, day, month, weekday"),
    tz: z.string().min(1).max(64).optional().describe("IANA time zone; default: that of the gateway"),
    staggerMs: z.number().int().min(0).max(3_600_000).optional().describe("spreads jobs of the same time over so many milliseconds"),
  }),
]);

/** Work of a job: an event that an agent reads, or a message that it answers. */
export const cronPayload = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("systemEvent"), text: jobText }),
  z.strictObject({
    kind: z.literal("agentTurn"),
    message: jobText,
    model: z.string().min(1).max(256).optional(),
    thinking: z.enum(["off", "minimal", "low", "medium", "high"]).optional(),
    timeoutSeconds: z.number().int().min(1).max(86_400).optional(),
  }),
]);

/** Where the answer of a run goes besides its session. */
const cronDelivery = z.strictObject({
  mode: z.enum(["none", "announce"]),
  channel: idText(128).optional().describe("`last`, or the id of a channel; default `last`"),
  to: idText(512).optional(),
  accountId: idText(128).optional(),
  threadId: idText(256).optional(),
  bestEffort: z.boolean().optional().describe("a message that no channel takes is no error of the job"),
});

/** Fields of a job, as it is asked for. */
export const cronJobFields = {
  name: idText(200),
  agentId: idText(64).optional(),
  enabled: z.boolean().optional(),
  deleteAfterRun: z.boolean().optional().describe("removed once it has succeeded"),
  schedule: cronSchedule,
  sessionTarget: z.enum(["main", "isolated"]),
  wakeMode: z.enum(["now", "next-heartbeat"]),
  payload: cronPayload,
  delivery: cronDelivery.optional(),
};

/** How things stand with a job. */
export const cronJobState = z.object({
  nextRunAtMs: epochMs.optional(),
  lastRunAtMs: epochMs.optional(),
  lastStatus: z.enum(["ok", "error", "skipped", "interrupted"]).optional(),
  lastError: z.string().max(2_000).optional(),
  lastDurationMs: z.number().int().min(0).optional(),
  runningAtMs: epochMs.optional().describe("since when it runs"),
  runId: z.string().max(200).optional().describe("the run that is under way"),
  consecutiveErrors: z.number().int().min(0).default(0),
  lastSlotMs: epochMs.optional().describe("the newest time of its schedule that was taken on; none runs twice"),
  tries: z.number().int().min(0).optional().describe("tries of the slot that is being retried"),
  resumes: z.number().int().min(0).optional().describe("times that the run under way was continued after a restart"),
  forcedAtMs: epochMs.optional().describe("since when a run waits that somebody asked for"),
  lastAlertAtMs: epochMs.optional(),
});

/** Positions of the stored runs of a job: entries `first` to `next - 1`. */
const logPlace = z.object({ first: z.number().int().min(0), next: z.number().int().min(0), bytes: z.number().int().min(0) });

/** The row of a job. Foreign rows are read with it, so unknown fields are dropped. */
export const cronJobRow = z.object({
  ...cronJobFields,
  id: z.string().regex(/^[\w-]{1,64}$/),
  enabled: z.boolean(),
  origin: z.literal("person").optional(),
  state: cronJobState.default({ consecutiveErrors: 0 }),
  createdAtMs: epochMs,
  updatedAtMs: epochMs,
  configRevision: z.number().int().min(1),
  log: logPlace.default({ first: 0, next: 0, bytes: 0 }),
});

export type CronSchedule = z.output<typeof cronSchedule>;
export type CronJobRow = z.output<typeof cronJobRow>;
export type CronLogPlace = z.output<typeof logPlace>;
