import { z } from "zod";
import { none } from "./fields.ts";
import { method } from "./spec.ts";

const restart = z.strictObject({
  reason: z.string().min(1).max(200).optional(),
  delayMs: z.number().int().min(0).max(60_000).optional(),
  waitMs: z
    .number()
    .int()
    .min(0)
    .max(3_600_000)
    .optional()
    .describe("longest wait for active runs and pending sends; 0: only two seconds for the sends"),
});

/** The gateway itself: health, presence, restart. */
export const gatewayMethods = {
  health: method("read", "health snapshot; `probe` collects a fresh one", z.strictObject({ probe: z.boolean().optional() })),
  status: method("read", "overview of the gateway", none),
  "system-presence": method("read", "who is connected, the gateway first", none),
  "gateway.doctor": method(
    "admin",
    "findings of the doctor checks of all plugins: id, severity, message, path, fix, fixable",
    z.strictObject({ deep: z.boolean().optional() }),
  ),
  "gateway.identity.get": method("read", "device id and public key of the gateway itself", none),
  "gateway.restart.request": method("admin", "requests a graceful restart, once active runs have ended", restart),
  "gateway.restart": method("admin", "the same as `gateway.restart.request`", restart),
  "gateway.exitSafeMode": method("admin", "ends safe mode: everything that was kept off after a crash loop starts now", none),
} as const;
