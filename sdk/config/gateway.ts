import { z } from "zod";
import { durationMs, secret, sizeBytes } from "./fields.ts";

const endpoint = z.strictObject({ enabled: z.boolean().default(true) }).prefault({});

/** `gateway.*`: the port, who may use it, and how it stops. */
export const gatewaySchema = z.strictObject({
  mode: z.enum(["local", "remote"]).optional(),
  port: z.number().int().min(1).max(65535).optional(),
  bind: z.enum(["loopback", "lan", "tailnet", "auto", "custom"]).optional(),
  customBindHost: z.ipv4().optional(),
  auth: z
    .strictObject({
      mode: z.enum(["token", "password", "none"]).optional(),
      token: secret().optional(),
      password: secret().optional(),
      rateLimit: z
        .strictObject({
          maxAttempts: z.number().int().min(1).max(1000).default(10),
          windowMs: durationMs(1000, 3_600_000).default(60_000),
          lockoutMs: durationMs(1000, 86_400_000).default(300_000),
          exemptLoopback: z.boolean().default(true),
        })
        .prefault({}),
    })
    .prefault({}),
  controlUi: z
    .strictObject({
      enabled: z.boolean().default(true),
      basePath: z
        .string()
        .regex(/^\/([\w.-]+(\/[\w.-]+)*)?$/, 'expected an absolute path without a trailing slash, such as "/" or "/ui"')
        .default("/"),
      allowedOrigins: z.array(z.string()).optional(),
    })
    .prefault({}),
  http: z
    .strictObject({
      maxBodyBytes: sizeBytes(1024, 1_000_000_000).default(20_000_000),
      endpoints: z.strictObject({ models: endpoint, chatCompletions: endpoint }).prefault({}),
      securityHeaders: z.strictObject({ strictTransportSecurity: z.union([z.string(), z.literal(false)]).optional() }).prefault({}),
    })
    .prefault({}),
  shutdown: z.strictObject({ drainMs: durationMs(0, 600_000).default(20_000) }).prefault({}),
});
