import { methodSpec, z } from "svc/sdk";

/** The gateway's log. */
export const logsMethods = {
  "logs.tail": methodSpec(
    "read",
    "lines of the log file: the newest, or those after the cursor of an earlier answer",
    z.strictObject({
      cursor: z.number().int().min(0).optional(),
      limit: z.number().int().min(1).max(5_000).optional(),
      maxBytes: z.number().int().min(1).max(1_000_000).optional(),
    }),
  ),
} as const;
