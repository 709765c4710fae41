import { z } from "zod";
import { agentsSchema } from "./agents.ts";
import { bindingsSchema } from "./bindings.ts";
import { channelsSchema } from "./channels.ts";
import { cronSchema } from "./cron.ts";
import { gatewaySchema } from "./gateway.ts";
import { hooksSchema } from "./hooks.ts";
import { memorySchema } from "./memory.ts";
import { messagesSchema } from "./messages.ts";
import { modelsSchema } from "./models.ts";
import { pluginsSchema } from "./plugins.ts";
import { sessionSchema } from "./session.ts";
import { toolsSchema } from "./tools.ts";

/** Sections of the config that plugins read. The gateway's own, which none of them needs, stand beside its code. */
export const sharedSections = {
  gateway: gatewaySchema.prefault({}),
  hooks: hooksSchema.prefault({}),
  agents: agentsSchema.prefault({}),
  memory: memorySchema.prefault({}),
  models: modelsSchema.prefault({}),
  tools: toolsSchema.prefault({}),
  session: sessionSchema.prefault({}),
  messages: messagesSchema.prefault({}),
  cron: cronSchema.prefault({}),
  plugins: pluginsSchema.prefault({}),
  channels: channelsSchema.prefault({}),
  bindings: bindingsSchema.default([]),
};

/** Sections as parsed and as written; `undefined` counts as absent. */
type Shared = z.ZodObject<typeof sharedSections, z.core.$strict>;

/** Effective config: parsed, defaults applied. The gateway adds its own sections by declaration merging. */
export interface SvcConfig extends z.output<Shared> {}
/** Config as written. */
export interface SvcConfigInput extends z.input<Shared> {}

/** Parses the sections that plugins read, for a command that finds no config and for tests. @throws {ZodError} */
export function parseSharedConfig(input: z.input<Shared> = {}): SvcConfig {
  return z.strictObject(sharedSections).parse(input) as SvcConfig;
}
