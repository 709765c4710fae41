import { z } from "zod";
import { commonChannelKeys } from "../../sdk/config/channels.ts";
import type { Manifest, UiHint } from "../../sdk/types/manifest.ts";
import type { JsonSchema } from "../../sdk/types/schema.ts";
import { rootSchema } from "./root-schema.ts";
import { isObjectSchema, type SchemaTree } from "./schema-tree.ts";
import { uiHintsOf } from "./ui-hints.ts";
import { isUnservedKey, unservedValues } from "./unserved.ts";

/** The config schema with everything that plugins add to it. */
export interface ComposedSchema {
  /** JSON Schema 2020-12 of the file as written: defaulted keys are not required. */
  schema: SchemaTree;
  /** Dotted path (`*` for names and list members) → how a form shows it. */
  uiHints: Record<string, UiHint>;
}

/** Sections of the core schema once made: they never change. */
const sections = new Map<string, SchemaTree>();

/** JSON Schema of the key tree alone. `description`, `sensitive` and `reload` stand at their keys. Shared: not to be changed. */
export function coreConfigSchema(): SchemaTree {
  const properties = Object.fromEntries(Object.keys(rootSchema.shape).map((section) => [section, sectionSchema(section)]));
  return { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", properties, additionalProperties: false };
}

/** Makes the core schema bit by bit, so that the first {@link composeConfigSchema} of a running gateway does not hold everybody up. */
export async function warmConfigSchema(): Promise<void> {
  for (const section of Object.keys(rootSchema.shape)) {
    if (sections.has(section)) continue;
    sectionSchema(section);
    await new Promise((resume) => setImmediate(resume));
  }
}

function sectionSchema(section: string): SchemaTree {
  const known = sections.get(section);
  if (known) return known;
  const { $schema: _, ...made } = z.toJSONSchema(rootSchema.shape[section as keyof typeof rootSchema.shape], {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      // Defaults of amounts are left out by zod, because they are written as one type and read as another.
      const shown = shownDefault(zodSchema);
      if (shown !== undefined) jsonSchema.default = shown as NonNullable<typeof jsonSchema.default>;
    },
  });
  const marked = markUnserved(made as SchemaTree, [section]);
  sections.set(section, marked);
  return marked;
}

/** Refuses what this release does not serve. `notInRelease`: `true` at a key that this release does not serve and at everything below, a list of values at one that it serves in part. */
function markUnserved(node: SchemaTree, path: readonly string[]): SchemaTree {
  const values = unservedValues(path);
  const isServed = (value: unknown) => !(values as unknown[]).includes(value);
  const below = (child: SchemaTree, step: string) => markUnserved(child, [...path, step]);
  const same = (option: SchemaTree) => markUnserved(option, path);
  const { properties, additionalProperties: rest, items, anyOf, oneOf } = node;
  return {
    ...node,
    ...(properties ? { properties: Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, below(child, key)])) } : {}),
    ...(isObjectSchema(rest) && Object.keys(rest).length > 0 ? { additionalProperties: below(rest, "*") } : {}),
    ...(items ? { items: below(items, "*") } : {}),
    ...(anyOf ? { anyOf: anyOf.map(same) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(same) } : {}),
    ...(values.length > 0 ? { notInRelease: values } : {}),
    ...(values.length > 0 && node.enum ? { enum: node.enum.filter(isServed) } : {}),
    ...(isUnservedKey(path) ? { notInRelease: true, not: {} } : {}),
  };
}

function shownDefault(schema: unknown): unknown {
  const { def } = schema as { def: { type: string; defaultValue?: unknown } };
  return z.globalRegistry.get(schema as z.ZodType)?.default ?? (def.type === "default" ? def.defaultValue : undefined);
}

/** The whole schema: core, `plugins.entries.<id>.config` and `channels.<id>` of every manifest. Pure. */
export function composeConfigSchema(manifests: readonly Manifest[]): ComposedSchema {
  const core = coreConfigSchema();
  const parts: Parts = { defs: {}, entries: {}, channels: {} };
  for (const manifest of manifests) {
    parts.entries[manifest.id] = embedded(`plugin.${manifest.id}`, manifest.configSchema ?? emptyConfig, parts.defs);
    for (const [id, own] of Object.entries(manifest.channelConfigs ?? {})) parts.channels[id] = embedded(`channel.${id}`, own, parts.defs);
  }
  const schema = withParts(core, parts);
  return { schema, uiHints: uiHintsOf(schema, manifests) };
}

const emptyConfig: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

interface Parts {
  /** Definitions of all parts, which the whole must carry: references lead from its root. */
  defs: Record<string, SchemaTree>;
  entries: Record<string, SchemaTree>;
  channels: Record<string, SchemaTree>;
}

function withParts(core: SchemaTree, { defs, entries, channels }: Parts): SchemaTree {
  const plugins = part(core, "plugins");
  const entryMap = part(plugins, "entries");
  const entry = entryMap.additionalProperties as SchemaTree;
  const channelMap = part(core, "channels");
  const body = channelMap.additionalProperties as SchemaTree;
  const named = Object.entries(entries).map(([id, config]) => [
    id,
    { ...entry, properties: { ...entry.properties, config: { description: `Config of the plugin ${id}`, ...config } } },
  ]);
  const whole = replaceParts(core, {
    plugins: replaceParts(plugins, { entries: { ...entryMap, properties: Object.fromEntries(named) } }),
    channels: replaceParts(channelMap, Object.fromEntries(Object.entries(channels).map(([id, own]) => [id, joinedBody(own, body)]))),
  });
  return Object.keys(defs).length === 0 ? whole : { ...whole, $defs: defs };
}

function part(schema: SchemaTree, key: string): SchemaTree {
  return schema.properties?.[key] as SchemaTree;
}

function replaceParts(schema: SchemaTree, parts: Record<string, SchemaTree>): SchemaTree {
  return { ...schema, properties: { ...schema.properties, ...parts } };
}

/** A schema that becomes a part of another: its definitions move to `defs` under a name of their own, and its references follow. */
function embedded(name: string, schema: JsonSchema, defs: Record<string, SchemaTree>): SchemaTree {
  const { $schema: _, $id: __, $defs, definitions, ...rest } = schema;
  let isRecursive = false;
  const moved = (ref: string): string => {
    const [, inner] = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(ref) ?? [];
    if (inner !== undefined) return `#/$defs/${name}.${inner}`;
    if (!ref.startsWith("#")) return ref;
    isRecursive = true;
    return `#/$defs/${name}${ref.slice(1)}`;
  };
  const copy = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(copy);
    return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, key === "$ref" && typeof v === "string" ? moved(v) : copy(v)]));
  };
  const own = copy(rest) as SchemaTree;
  for (const [key, def] of Object.entries({ ...(definitions as object), ...($defs as object) }))
    defs[`${name}.${key}`] = copy(def) as SchemaTree;
  if (isRecursive) defs[name] = own;
  return own;
}

/** Common keys of a channel's body and those of its plugin, which win. */
function joinedBody(own: SchemaTree, common: SchemaTree): SchemaTree {
  const accounts = common.properties?.accounts;
  const account = accounts?.additionalProperties as SchemaTree;
  // An account takes the channel's own keys too: base keys are inherited by accounts.
  const joined = { ...accounts, additionalProperties: { ...account, properties: { ...account.properties, ...own.properties } } };
  return {
    ...own,
    type: "object",
    properties: { ...common.properties, accounts: joined, ...own.properties },
    additionalProperties: own.additionalProperties ?? {},
    reload: "channel",
  };
}

/** Part of a channel's section that the plugin's own schema validates: everything that is not common to all channels, unless the schema names it itself. */
export function ownChannelConfig(body: Readonly<Record<string, unknown>>, own: JsonSchema): Record<string, unknown> {
  const named = Object.keys((own as SchemaTree).properties ?? {});
  return Object.fromEntries(Object.entries(body).filter(([key]) => named.includes(key) || !commonChannelKeys.includes(key)));
}
