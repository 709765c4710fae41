import { z } from "zod";
import { durationMs } from "../../../sdk/config/amounts.ts";
import { defaulted } from "../../../sdk/config/fields.ts";

/** `env.*`: variables for those who do not have them from outside. */
export const envSchema = z
  .strictObject({
    vars: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "expected the name of an environment variable"), z.string())
      .default({})
      .describe("Environment variables; one that is already set stays"),
    shellEnv: z
      .strictObject({
        enabled: z.boolean().default(false).describe("Read missing credentials from a login shell"),
        timeoutMs: defaulted(durationMs(1, 600_000), 15_000, "15s").describe("Time limit for starting that shell"),
      })
      .prefault({}),
  })
  .meta({ reload: "restart" });
