import { z } from "zod";
import { durationMs } from "../../../sdk/config/amounts.ts";
import { defaulted, httpUrl, secret } from "../../../sdk/config/fields.ts";

/** `diagnostics.*`: figures for other systems. */
export const diagnosticsSchema = z
  .strictObject({
    enabled: z.boolean().default(true).describe("Count requests, runs, queues and delays"),
    flags: z
      .array(z.string().regex(/^[a-z][a-z0-9.*-]{0,63}$/, "expected a name such as hooks.trace"))
      .max(100)
      .default([])
      .describe(
        "Subsystems that write more into the log file than `logging.level` says: `plugin.messaging`, `plugin.*`; with `.trace` at the end each frame, too",
      ),
    otel: z
      .strictObject({
        enabled: z.boolean().default(false).describe("Export metrics and traces by OTLP over HTTP"),
        endpoint: httpUrl().optional().describe("Address of the collector"),
        headers: z.record(z.string().min(1), secret()).optional().describe("Headers of those requests"),
        serviceName: z.string().min(1).max(200).default("svc").describe("Service name of the gateway"),
        sampleRate: z.number().min(0).max(1).default(1).describe("Share of traces that is sent"),
        flushIntervalMs: defaulted(durationMs(1_000, 3_600_000), 60_000, "1m").describe("Export interval"),
      })
      .prefault({})
      .meta({ reload: "plugin" }),
    prometheus: z
      .strictObject({ enabled: z.boolean().default(false).describe("Serve `GET /metrics` to operators") })
      .prefault({})
      .meta({ reload: "plugin" }),
  })
  .meta({ reload: "hot" });
