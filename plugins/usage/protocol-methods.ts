import { methodSpec, z } from "svc/sdk";
import { MAX_DAYS } from "./counter.ts";

const agentId = z.string().min(1).max(64);

/** Methods of the protocol that this plugin serves. */
export const usageMethods = {
  "usage.summary": methodSpec(
    "read",
    "tokens and cost of the newest days, today included, by day, agent or model",
    z.strictObject({
      days: z.number().int().min(1).max(MAX_DAYS).optional(),
      by: z.enum(["day", "agent", "model"]).optional(),
      agentId: agentId.optional(),
    }),
  ),
  "usage.sessions": methodSpec(
    "read",
    "tokens and cost of the present transcripts, the one used last first",
    z.strictObject({ limit: z.number().int().min(1).max(200).optional(), agentId: agentId.optional() }),
  ),
} as const;
