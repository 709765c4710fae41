import { z } from "zod";
import { sharedSections } from "../../sdk/config/root.ts";
import { readBundledSections, SECTIONS_FILE } from "./bundled-sections.ts";
import type { PluginSections, PluginSectionsInput } from "./section-types.ts";
import { commandsSchema } from "./sections/commands.ts";
import { cronSchema } from "./sections/cron.ts";
import { diagnosticsSchema } from "./sections/diagnostics.ts";
import { envSchema } from "./sections/env.ts";
import { gatewaySchema } from "./sections/gateway.ts";
import { loggingSchema } from "./sections/logging.ts";
import { pluginsSchema } from "./sections/plugins.ts";
import { secretsSchema } from "./sections/secrets.ts";

const metaSchema = z
  .strictObject({
    lastTouchedVersion: z.string().optional().describe("Version that wrote the file last; written by svc"),
    lastTouchedAt: z.string().optional().describe("Time of that, ISO 8601; written by svc"),
  })
  .meta({ reload: "none" });

/** Sections that the gateway itself serves, and `cron`, which several plugins read. */
const ownSections = {
  $schema: z.string().optional().meta({ reload: "none" }).describe("Address of the JSON Schema, for editors"),
  gateway: gatewaySchema.prefault({}),
  plugins: pluginsSchema.prefault({}),
  logging: loggingSchema.prefault({}),
  diagnostics: diagnosticsSchema.prefault({}),
  secrets: secretsSchema.prefault({}),
  commands: commandsSchema.prefault({}),
  env: envSchema.prefault({}),
  cron: cronSchema.prefault({}),
  meta: metaSchema.optional(),
};

type Own = z.ZodObject<typeof ownSections, z.core.$strict>;

declare module "../../sdk/config/root.ts" {
  interface SvcConfig extends z.output<Own>, PluginSections {}
  interface SvcConfigInput extends z.input<Own>, PluginSectionsInput {}
}

/** Sections that one plugin owns; their types are written from the same files. */
type Owned = { [K in keyof PluginSections]: z.ZodType<PluginSections[K], PluginSectionsInput[K]> };

const common = { ...ownSections, ...sharedSections };
const sections = { ...common, ...(readBundledSections(Object.keys(common)) as unknown as Owned) };

/** Order of the documents; a section that is not named here follows. Each that is named has to be there: the gateway itself reads them. */
const order = [
  ...["$schema", "gateway", "hooks", "agents", "memory", "models", "tools", "session", "messages", "cron", "logging"],
  ...["diagnostics", "secrets", "plugins", "channels", "commands", "bindings", "env", "meta"],
];
const missing = order.find((name) => !Object.hasOwn(sections, name));
if (missing !== undefined) throw new Error(`no ${SECTIONS_FILE} of a plugin has the section ${missing}; the installation is incomplete`);
const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
const ordered = Object.entries(sections).sort(([a], [b]) => place(a) - place(b));

/** The whole key tree; the only list of config keys. Unknown keys are errors. */
export const rootSchema = z.strictObject(Object.fromEntries(ordered) as typeof sections);
