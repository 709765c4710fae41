import { z } from "zod";
import { agentsSchema } from "./agents.ts";
import { secret } from "./fields.ts";
import { gatewaySchema } from "./gateway.ts";

const modelsSchema = z.strictObject({
  providers: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/),
      z.strictObject({
        baseUrl: z.url({ protocol: /^https?$/ }).optional(),
        apiKey: secret().optional(),
        api: z.enum(["openai-completions"]).optional(),
        auth: z.enum(["api-key", "none"]).optional(),
        headers: z.record(z.string(), z.string()).optional(),
        timeoutSeconds: z.number().int().min(1).max(3600).optional(),
        models: z
          .array(
            z.strictObject({
              id: z.string().min(1),
              name: z.string().optional(),
              input: z.array(z.enum(["text", "image"])).optional(),
              contextWindow: z.number().int().min(1).optional(),
              maxTokens: z.number().int().min(1).optional(),
              reasoning: z.boolean().optional(),
            }),
          )
          .optional(),
      }),
    )
    .default({}),
});

const pluginEntry = z.strictObject({
  enabled: z.boolean().optional(),
  config: z.record(z.string(), z.unknown()).optional(),
  grants: z.array(z.string()).optional(),
  required: z.boolean().optional(),
  limits: z
    .strictObject({
      setupTimeoutMs: z.number().int().min(100).max(600_000).optional(),
      startTimeoutMs: z.number().int().min(100).max(600_000).optional(),
      stopTimeoutMs: z.number().int().min(100).max(600_000).optional(),
    })
    .optional(),
  hooks: z
    .strictObject({
      timeoutMs: z.number().int().min(1).max(600_000).optional(),
      timeouts: z.record(z.string(), z.number().int().min(1).max(600_000)).optional(),
    })
    .optional(),
});

const pluginsSchema = z.strictObject({
  enabled: z.boolean().default(true),
  allow: z.array(z.string()).optional(),
  deny: z.array(z.string()).default([]),
  load: z.strictObject({ paths: z.array(z.string().min(1)).default([]) }).prefault({}),
  slots: z.strictObject({ memory: z.string().default("memory-core") }).prefault({}),
  entries: z.record(z.string(), pluginEntry).default({}),
});

const loggingSchema = z.strictObject({
  level: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  consoleLevel: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).optional(),
});

/** The whole key tree; the only list of config keys. Unknown keys are errors. */
export const rootSchema = z.strictObject({
  $schema: z.string().optional(),
  gateway: gatewaySchema.prefault({}),
  agents: agentsSchema.prefault({}),
  models: modelsSchema.prefault({}),
  memory: z
    .strictObject({ backend: z.enum(["builtin"]).default("builtin"), citations: z.enum(["auto", "on", "off"]).default("auto") })
    .prefault({}),
  tools: z
    .strictObject({
      profile: z.enum(["minimal", "coding", "messaging", "full"]).default("full"),
      allow: z.array(z.string()).default([]),
      deny: z.array(z.string()).default([]),
    })
    .prefault({}),
  session: z.strictObject({ scope: z.enum(["per-sender", "global"]).default("per-sender") }).prefault({}),
  plugins: pluginsSchema.prefault({}),
  logging: loggingSchema.prefault({}),
  meta: z.looseObject({}).optional(),
});

/** Effective config: parsed, defaults applied. */
export type SvcConfig = z.output<typeof rootSchema>;
/** Config as written. */
export type SvcConfigInput = z.input<typeof rootSchema>;
