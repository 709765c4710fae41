import { z } from "zod";
import { agentsSchema } from "./agents.ts";
import { bindingsSchema } from "./bindings.ts";
import { channelsSchema } from "./channels.ts";
import { commandsSchema } from "./commands.ts";
import { cronSchema } from "./cron.ts";
import { diagnosticsSchema } from "./diagnostics.ts";
import { envSchema } from "./env.ts";
import { gatewaySchema } from "./gateway.ts";
import { hooksSchema } from "./hooks.ts";
import { loggingSchema } from "./logging.ts";
import { memorySchema } from "./memory.ts";
import { messagesSchema } from "./messages.ts";
import { modelsSchema } from "./models.ts";
import { pluginsSchema } from "./plugins.ts";
import { secretsSchema } from "./secrets.ts";
import { sessionSchema } from "./session.ts";
import { toolsSchema } from "./tools.ts";

const metaSchema = z
  .strictObject({
    lastTouchedVersion: z.string().optional().describe("Version that wrote the file last; written by svc"),
    lastTouchedAt: z.string().optional().describe("Time of that, ISO 8601; written by svc"),
  })
  .meta({ reload: "none" });

/** The whole key tree; the only list of config keys. Unknown keys are errors. */
export const rootSchema = z.strictObject({
  $schema: z.string().optional().meta({ reload: "none" }).describe("Address of the JSON Schema, for editors"),
  gateway: gatewaySchema.prefault({}),
  hooks: hooksSchema.prefault({}),
  agents: agentsSchema.prefault({}),
  memory: memorySchema.prefault({}),
  models: modelsSchema.prefault({}),
  tools: toolsSchema.prefault({}),
  session: sessionSchema.prefault({}),
  messages: messagesSchema.prefault({}),
  cron: cronSchema.prefault({}),
  logging: loggingSchema.prefault({}),
  diagnostics: diagnosticsSchema.prefault({}),
  secrets: secretsSchema.prefault({}),
  plugins: pluginsSchema.prefault({}),
  channels: channelsSchema.prefault({}),
  commands: commandsSchema.prefault({}),
  bindings: bindingsSchema.default([]),
  env: envSchema.prefault({}),
  meta: metaSchema.optional(),
});

/** Effective config: parsed, defaults applied. */
export type SvcConfig = z.output<typeof rootSchema>;
/** Config as written. */
export type SvcConfigInput = z.input<typeof rootSchema>;
