import { z } from "zod";
import { agentsSchema } from "./agents.ts";
import { channelsSchema } from "./channels.ts";
import { modelsSchema } from "./models.ts";
import { sessionSchema } from "./session.ts";

/** Sections of the config that several plugins read. The gateway's own stand beside its code, those of one plugin in that plugin. */
export const sharedSections = {
  agents: agentsSchema.prefault({}),
  models: modelsSchema.prefault({}),
  session: sessionSchema.prefault({}),
  channels: channelsSchema.prefault({}),
};

/** Sections as parsed and as written; `undefined` counts as absent. */
type Shared = z.ZodObject<typeof sharedSections, z.core.$strict>;

/** Effective config: parsed, defaults applied. The gateway adds its own sections and those of single plugins by declaration merging. */
export interface SvcConfig extends z.output<Shared> {}
/** Config as written. */
export interface SvcConfigInput extends z.input<Shared> {}

/** Parses the sections that several plugins read, for a command that finds no config and for tests. @throws {ZodError} */
export function parseSharedConfig(input: z.input<Shared> = {}): SvcConfig {
  return z.strictObject(sharedSections).parse(input) as SvcConfig;
}
