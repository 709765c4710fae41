import { z } from "zod";
import { sharedSections } from "../../sdk/config/root.ts";
import { commandsSchema } from "./sections/commands.ts";
import { diagnosticsSchema } from "./sections/diagnostics.ts";
import { envSchema } from "./sections/env.ts";
import { loggingSchema } from "./sections/logging.ts";
import { secretsSchema } from "./sections/secrets.ts";

const metaSchema = z
  .strictObject({
    lastTouchedVersion: z.string().optional().describe("Version that wrote the file last; written by svc"),
    lastTouchedAt: z.string().optional().describe("Time of that, ISO 8601; written by svc"),
  })
  .meta({ reload: "none" });

/** Sections that only the gateway reads. */
const ownSections = {
  $schema: z.string().optional().meta({ reload: "none" }).describe("Address of the JSON Schema, for editors"),
  logging: loggingSchema.prefault({}),
  diagnostics: diagnosticsSchema.prefault({}),
  secrets: secretsSchema.prefault({}),
  commands: commandsSchema.prefault({}),
  env: envSchema.prefault({}),
  meta: metaSchema.optional(),
};

type Own = z.ZodObject<typeof ownSections, z.core.$strict>;

declare module "../../sdk/config/root.ts" {
  interface SvcConfig extends z.output<Own> {}
  interface SvcConfigInput extends z.input<Own> {}
}

const { plugins, channels, bindings, ...earlier } = sharedSections;
const { $schema, logging, diagnostics, secrets, commands, env, meta } = ownSections;

/** The whole key tree, in the order of the documents; the only list of config keys. Unknown keys are errors. */
export const rootSchema = z.strictObject({
  $schema,
  ...earlier,
  logging,
  diagnostics,
  secrets,
  plugins,
  channels,
  commands,
  bindings,
  env,
  meta,
});
