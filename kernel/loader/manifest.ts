import { z } from "zod";
import { messageOf } from "../../sdk/errors.ts";
import { toSchema } from "../../sdk/json-schema.ts";
import type { Manifest, Permission } from "../../sdk/types/manifest.ts";
import type { JsonSchema } from "../../sdk/types/schema.ts";
import { toConfigIssues } from "../config/issues.ts";
import { amountFault } from "../config/own-config.ts";
import { pluginIdPattern } from "../process/plugin-id.ts";
import { isVersion, isVersionRange } from "./version.ts";

/** Name of the manifest in a plugin's folder. */
export const MANIFEST_FILE = "svc.plugin.json";
/** A manifest is read whole before anything is known about its plugin. */
export const MANIFEST_MAX_BYTES = 1_048_576;

/** Every permission there is. */
export const permissions = [
  "hooks.conversation",
  "hooks.prompt",
  "hooks.gate",
  "auth.provider",
  "http.public",
  "rpc.admin",
  "fs.workspace",
  "exec",
  "net",
] as const satisfies readonly Permission[];

/** Owners that are no plugins, as listings name them. */
const reservedIds = new Set(["kernel"]);

const range = z.string().refine(isVersionRange, 'expected a version range such as "^1.0.0"');
const ids = z.array(z.string().min(1)).optional();
const service = z.string().regex(/^[a-z][a-z0-9.-]*@[1-9]\d*$/, 'expected a service with its major version such as "store@2"');
const prefixes = z.array(z.string().min(1)).optional();
const jsonSchema = z.record(z.string(), z.unknown());
const insidePath = z
  .string()
  .min(1)
  .refine(
    (path) => !/^([/\\]|[a-zA-Z]:)/.test(path) && !path.split(/[/\\]/).includes(".."),
    "expected a path relative to the plugin's folder that stays inside it",
  );

/** Id of a plugin, checked for its form and that it is nobody else's. */
const pluginId = z
  .string()
  .regex(pluginIdPattern, "expected 2 to 48 lower-case letters, digits or -, starting with a letter")
  .refine((id) => !reservedIds.has(id), "this id is reserved");

const manifestSchema = z.strictObject({
  $schema: z.string().optional(),
  id: pluginId,
  version: z.string().refine(isVersion, 'expected a version such as "1.0.0"'),
  svc: z.strictObject({ api: range }),
  // Where it leads is judged with the links on the way (`checkPluginPaths`).
  entry: z.string().min(1).optional(),
  name: z.string().min(1).max(80).optional(),
  description: z.string().max(1_000).optional(),
  homepage: z.url({ protocol: /^https?$/ }).optional(),
  configSchema: jsonSchema.refine((schema) => schema.type === "object", 'expected a JSON Schema with "type": "object"').optional(),
  channelConfigs: z.record(z.string().min(1), jsonSchema).optional(),
  contributes: z
    .strictObject({
      channels: ids,
      embeddingAdapters: ids,
      modelProviders: ids,
      memoryBackends: ids,
      doctor: ids,
      tools: ids,
      rpc: ids,
      http: ids,
      hookPresets: ids,
      cli: ids,
      services: ids,
      events: ids,
    })
    .optional(),
  permissions: z.array(z.enum(permissions)).optional(),
  dependencies: z.record(z.string().regex(pluginIdPattern, "expected the id of a plugin"), range).optional(),
  after: z.array(z.string().regex(pluginIdPattern, "expected the id of a plugin")).optional(),
  provides: z.array(service).optional(),
  requires: z
    .array(z.string().regex(/^[a-z][a-z0-9.-]*@[1-9]\d*\??$/, 'expected a service such as "store@2", or "store@2?" when it is optional'))
    .optional(),
  slot: z.literal("memory").optional(),
  activation: z
    .union([
      z.literal("startup"),
      z
        .array(
          z
            .string()
            .regex(
              /^(channel|rpc|http|cli|embedding|model|tool|service):\S+$/,
              'expected what loads it, such as "channel:irc" or "rpc:notes.*"',
            ),
        )
        .min(1),
    ])
    .optional(),
  enabledByDefault: z.boolean().optional(),
  optionalPackages: z.boolean().optional(),
  reload: z
    .strictObject({
      hotPrefixes: prefixes,
      restartPrefixes: prefixes,
      noopPrefixes: prefixes,
      exclusive: z.boolean().optional(),
      restartOnServiceChange: z.array(service).optional(),
    })
    .optional(),
  secrets: z
    .array(
      z.strictObject({
        path: z.string().regex(/^[^.\s]+(\.[^.\s]+)+$/, 'expected a config path such as "channels.irc.password"'),
        env: z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "expected the name of an environment variable")).optional(),
      }),
    )
    .optional(),
  uiHints: z
    .record(
      z.string().min(1),
      z.strictObject({
        label: z.string().optional(),
        help: z.string().optional(),
        sensitive: z.boolean().optional(),
        placeholder: z.string().optional(),
        advanced: z.boolean().optional(),
      }),
    )
    .optional(),
  cli: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z][\w-]*( [a-z][\w-]*)*$/, 'expected the words of a command such as "notes add"'),
        description: z.string(),
        module: insidePath,
      }),
    )
    .optional(),
  protocol: insidePath.optional(),
  sections: insidePath.optional(),
  deprecated: z.string().min(1).optional(),
});

export type ManifestResult = { ok: true; manifest: Manifest } | { ok: false; reason: string };

/** Checks the parsed content of a `svc.plugin.json`; the reason names each field that is wrong and what was expected of it. */
export function parseManifest(value: unknown): ManifestResult {
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) {
    const issues = toConfigIssues(parsed.error, {
      file: MANIFEST_FILE,
      value,
      schema: manifestSchema,
      locate: () => ({ line: 1, column: 1 }),
    });
    const told = issues.map(({ path, message, hint }) => `${path ? `${path}: ` : ""}${message}${hint ? `; ${hint}` : ""}`);
    return { ok: false, reason: `${MANIFEST_FILE}: ${told.join("; ")}` };
  }
  const manifest = parsed.data as Manifest;
  const unusable = unusableSchema(manifest);
  return unusable ? { ok: false, reason: `${MANIFEST_FILE}: ${unusable}` } : { ok: true, manifest };
}

/** A JSON Schema that no validator can be made of, as a reason. */
function unusableSchema(manifest: Manifest): string | undefined {
  const schemas: Array<[string, JsonSchema | undefined]> = [
    ["configSchema", manifest.configSchema],
    ...Object.entries(manifest.channelConfigs ?? {}).map(([id, schema]): [string, JsonSchema] => [`channelConfigs.${id}`, schema]),
  ];
  for (const [path, schema] of schemas) {
    if (!schema) continue;
    try {
      toSchema(schema);
    } catch (error) {
      return `${path}: not a JSON Schema of draft 2020-12: ${messageOf(error)}`;
    }
    const fault = amountFault(schema, path);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
