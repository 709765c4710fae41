import { z } from "zod";
import type { JsonSchema } from "../types/schema.ts";
import type { Manifest, UiHint } from "../types/manifest.ts";
import { commonChannelKeys } from "./channels.ts";
import { rootSchema } from "./root.ts";
import { isObjectSchema, type SchemaTree } from "./schema-tree.ts";
import { uiHintsOf } from "./ui-hints.ts";

/** The config schema with everything that plugins add to it. */
export interface ComposedSchema {
  /** JSON Schema 2020-12 of the file as written: defaulted keys are not required. */
  schema: SchemaTree;
  /** Dotted path (`*` for names and list members) → how a form shows it. */
  uiHints: Record<string, UiHint>;
}

/** JSON Schema of the key tree alone. `description`, `sensitive` and `reload` stand at their keys. */
export function coreConfigSchema(): SchemaTree {
  return z.toJSONSchema(rootSchema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      // Defaults of amounts are left out by zod, because they are written as one type and read as another.
      const shown = shownDefault(zodSchema);
      if (shown !== undefined) jsonSchema.default = shown as NonNullable<typeof jsonSchema.default>;
    },
  }) as SchemaTree;
}

function shownDefault(schema: unknown): unknown {
  const { def } = schema as { def: { type: string; defaultValue?: unknown } };
  return z.globalRegistry.get(schema as z.ZodType)?.default ?? (def.type === "default" ? def.defaultValue : undefined);
}

/** The whole schema: core, `plugins.entries.<id>.config` and `channels.<id>` of every manifest. Pure. */
export function composeConfigSchema(manifests: readonly Manifest[]): ComposedSchema {
  const core = coreConfigSchema();
  const channels = manifests.flatMap((m) => Object.entries(m.channelConfigs ?? {}));
  const schema = withSections(core, {
    entries: Object.fromEntries(manifests.map((m) => [m.id, m.configSchema ?? emptyConfig])),
    channels: Object.fromEntries(channels),
  });
  return { schema, uiHints: uiHintsOf(schema, manifests) };
}

const emptyConfig: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

interface Sections {
  entries: Record<string, JsonSchema>;
  channels: Record<string, JsonSchema>;
}

function withSections(core: SchemaTree, { entries, channels }: Sections): SchemaTree {
  const plugins = part(core, "plugins");
  const entryMap = part(plugins, "entries");
  const entry = entryMap.additionalProperties as SchemaTree;
  const channelMap = part(core, "channels");
  const body = channelMap.additionalProperties as SchemaTree;
  const named = Object.entries(entries).map(([id, own]) => [
    id,
    { ...entry, properties: { ...entry.properties, config: { ...asResource(`plugin:${id}`, own), description: `Config of the plugin ${id}` } } },
  ]);
  return replaceParts(core, {
    plugins: replaceParts(plugins, { entries: { ...entryMap, properties: Object.fromEntries(named) } }),
    channels: replaceParts(channelMap, Object.fromEntries(Object.entries(channels).map(([id, own]) => [id, channelBodySchema(id, own, body)]))),
  });
}

function part(schema: SchemaTree, key: string): SchemaTree {
  return schema.properties?.[key] as SchemaTree;
}

function replaceParts(schema: SchemaTree, parts: Record<string, SchemaTree>): SchemaTree {
  return { ...schema, properties: { ...schema.properties, ...parts } };
}

/** A schema of its own within the whole: its local `$ref`s keep their meaning. */
function asResource(name: string, schema: JsonSchema): SchemaTree {
  const { $schema: _, ...rest } = schema;
  return (rest.$ref !== undefined || rest.$defs !== undefined || rest.definitions !== undefined ? { $id: `svc:${name}`, ...rest } : rest) as SchemaTree;
}

/**
 * Schema of `channels.<id>`: what every channel has, and the plugin's own keys, which win. Keys of neither are refused if the plugin's schema
 * refuses unknown ones.
 * @param common body of a channel that nobody describes; the core schema's when absent
 */
export function channelBodySchema(id: string, own: JsonSchema, common?: SchemaTree): SchemaTree {
  const base = common ?? (part(coreConfigSchema(), "channels").additionalProperties as SchemaTree);
  const mine = asResource(`channel:${id}`, own);
  const account = base.properties?.accounts?.additionalProperties;
  // An account takes the channel's own keys too: base keys are inherited by accounts.
  const accounts = isObjectSchema(account)
    ? { ...base.properties?.accounts, additionalProperties: { ...account, properties: { ...account.properties, ...mine.properties } } }
    : undefined;
  return {
    ...mine,
    type: "object",
    properties: { ...base.properties, ...(accounts ? { accounts } : {}), ...mine.properties },
    ...(mine.additionalProperties === undefined ? { additionalProperties: {} } : { additionalProperties: mine.additionalProperties }),
    ...(base.reload ? { reload: base.reload } : {}),
  } as SchemaTree;
}

/** What of a channel's body the plugin's own schema has to judge: everything that is not common to all channels, unless the schema names it itself. */
export function ownChannelConfig(body: Readonly<Record<string, unknown>>, own: JsonSchema): Record<string, unknown> {
  const named = Object.keys((own as SchemaTree).properties ?? {});
  return Object.fromEntries(Object.entries(body).filter(([key]) => named.includes(key) || !commonChannelKeys.includes(key)));
}
