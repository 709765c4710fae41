import { z } from "zod";
import { durationMs, durationText, sizeBytes } from "../../../sdk/config/amounts.ts";
import { defaulted } from "../../../sdk/config/fields.ts";

const transient = ["rate_limit", "overloaded", "timeout", "network"] as const;

/** `cron.*`: jobs at fixed times; the plugin `cron` runs them, `agents` has the places for their runs. */
export const cronSchema = z
  .strictObject({
    enabled: z.boolean().default(true).describe("Run jobs; while it is false they wait, and their times pass"),
    maxConcurrentRuns: z.number().int().min(1).max(64).default(2).describe("Maximum concurrent jobs"),
    skipMissedJobs: z.boolean().default(false).describe("Do not run jobs that were missed while the gateway was off"),
    sessionRetention: defaulted(durationText(), 86_400_000, "24h").describe(
      "How long sessions of job runs are kept; 0: as long as other sessions",
    ),
    runLog: z
      .strictObject({
        maxBytes: defaulted(sizeBytes(1_000, 1_000_000_000), 2_000_000, "2mb").describe("Maximum size of the stored runs of one job"),
        keepLines: z.number().int().min(1).max(1_000_000).default(2_000).describe("Stored runs of one job"),
      })
      .prefault({}),
    retry: z
      .strictObject({
        maxAttempts: z.number().int().min(1).max(20).default(3).describe("Attempts of a job that runs once"),
        backoffMs: z
          .array(durationMs(0, 86_400_000))
          .min(1)
          .max(20)
          .default([30_000, 60_000, 300_000])
          .describe("Waits between attempts; the last one repeats"),
        retryOn: z
          .array(z.enum(transient))
          .default([...transient])
          .describe("Failures that are retried"),
      })
      .prefault({}),
    failureAlert: z
      .strictObject({
        enabled: z
          .boolean()
          .default(false)
          .describe("Send an alert about failing jobs; that a job was switched off after ten failures is sent in any case"),
        after: z.number().int().min(1).max(1_000).default(2).describe("Consecutive failures before an alert"),
        cooldownMs: defaulted(durationMs(0, 7 * 86_400_000), 3_600_000, "1h").describe("Minimum time between two alerts of a job"),
        channel: z.string().min(1).default("last").describe("`last`, or a channel id"),
        to: z.string().min(1).optional().describe("Recipient on that channel"),
      })
      .prefault({}),
  })
  .meta({ reload: "hot" });
