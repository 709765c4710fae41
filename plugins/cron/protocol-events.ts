import { type PluginProtocol, z } from "svc/sdk";
import { cronJob } from "./protocol-results.ts";

const epochMs = z.number().int().min(0);

/** Event about jobs. */
export const cronEvents = {
  cron: {
    scope: "read",
    droppable: true,
    about: "a job was added, changed or removed, or a run of it began or ended",
    payload: z.object({
      jobId: z.string(),
      action: z.enum(["added", "updated", "removed", "started", "finished"]),
      job: cronJob.exactOptional(),
      runAtMs: epochMs.exactOptional(),
      status: z.enum(["ok", "error", "skipped"]).exactOptional(),
      error: z.string().exactOptional(),
      durationMs: epochMs.exactOptional(),
      nextRunAtMs: epochMs.exactOptional(),
    }),
  },
} as const satisfies NonNullable<PluginProtocol["events"]>;
