import { z } from "zod";
import { type ErrorSpec, errorSpecsOf, messageOf, type RpcCode } from "../../sdk/errors.ts";
import { toJsonSchema } from "../../sdk/json-schema.ts";
import type { EventSpec } from "../../sdk/protocol/events.ts";
import type { PluginProtocol } from "../../sdk/protocol/methods/spec.ts";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import type { EventDocument, MethodDocument } from "../../sdk/types/protocol-document.ts";
import type { JsonSchema, Schema } from "../../sdk/types/schema.ts";

/** Name of the file beside the manifest that holds a plugin's part of the protocol. */
export const PROTOCOL_FILE = "svc.protocol.json";

/** One error of a plugin as `svc.protocol.json` has it. */
export interface ErrorDocument extends Omit<ErrorSpec, "details" | "expose"> {
  /** Schema of `error.details`; a field whose value the code does not declare may hold anything. */
  details?: JsonSchema;
}

/** Content of `svc.protocol.json`. */
export interface ProtocolDocument {
  methods: Record<string, MethodDocument>;
  events?: Record<string, EventDocument>;
  errors?: Record<string, ErrorDocument>;
  /** Shapes with a name, which the schemas of methods and events refer to as `#/$defs/<Name>`. */
  $defs?: Record<string, JsonSchema>;
}

const jsonSchema = z.record(z.string(), z.unknown());
const nameOf = (example: string) => z.string().regex(/^[a-z][\w-]*(\.[a-z][\w-]*)*$/, `expected a name such as "${example}"`);
const documentSchema = z.strictObject({
  methods: z.record(
    nameOf("notes.list"),
    z.strictObject({
      scope: z.enum(["read", "write", "approvals", "pairing", "admin"]),
      about: z.string(),
      waits: z.literal(true).optional(),
      params: jsonSchema,
      result: jsonSchema,
    }),
  ),
  events: z
    .record(
      nameOf("notes.changed"),
      z.strictObject({
        scope: z.enum(["none", "read", "write", "approvals", "pairing", "admin"]),
        droppable: z.boolean(),
        nodes: z.literal("subscribed").optional(),
        about: z.string(),
        payload: jsonSchema,
      }),
    )
    .optional(),
  errors: z
    .record(
      z.string().regex(/^[a-z][a-z0-9-]*$/, 'expected a code such as "notes-full"'),
      z.strictObject({
        message: z.string(),
        http: z.number().int(),
        rpc: z.enum(["INVALID_REQUEST", "FORBIDDEN", "NOT_PAIRED", "APPROVAL_NOT_FOUND", "UNAVAILABLE"] satisfies RpcCode[]),
        details: jsonSchema.optional(),
        exit: z.number().int().optional(),
        retryable: z.boolean().optional(),
      }),
    )
    .optional(),
  $defs: z.record(z.string(), jsonSchema).optional(),
});

/** Writes a plugin's part of the protocol as JSON Schema. What a schema cannot say (refinements) is checked by the running plugin alone. */
export function protocolDocument({ methods = {}, results = {}, events = {}, errors = [] }: PluginProtocol): ProtocolDocument {
  const $defs: Record<string, JsonSchema> = {};
  const methodRows = Object.entries(methods).map(([name, { scope, about, waits, params }]) => {
    const result = results[name];
    if (!result) throw new Error(`no result for the method ${name}`);
    return [name, { scope, about, ...(waits ? { waits } : {}), params: plain(params, $defs), result: plain(result, $defs) }] as const;
  });
  const eventRows = Object.entries(events).map(
    ([name, { payload, ...row }]) => [name, { ...row, payload: plain(payload, $defs) }] as const,
  );
  return {
    methods: Object.fromEntries(methodRows),
    ...(eventRows.length > 0 ? { events: Object.fromEntries(eventRows) } : {}),
    ...(errors.length > 0 ? { errors: errorRows(errors) } : {}),
    ...(Object.keys($defs).length > 0 ? { $defs } : {}),
  };
}

function errorRows(tables: readonly object[]): Record<string, ErrorDocument> {
  const rows: Record<string, ErrorDocument> = {};
  for (const table of tables) {
    const specs = errorSpecsOf(table);
    if (!specs) throw new Error("errors: expected tables made by defineErrors");
    for (const [code, { details, expose, ...row }] of Object.entries(specs)) {
      if (Object.hasOwn(rows, code)) throw new Error(`two errors have the code ${code}`);
      rows[code] = { ...row, ...(details !== undefined || expose ? { details: detailsSchema(details, expose ?? {}) } : {}) };
    }
  }
  return rows;
}

function detailsSchema(code: string | undefined, expose: NonNullable<ErrorSpec["expose"]>): JsonSchema {
  const fields = Array.isArray(expose) ? Object.fromEntries(expose.map((name) => [name, {}])) : expose;
  return { type: "object", properties: { ...(code === undefined ? {} : { code: { const: code } }), ...fields } };
}

/**
 * Checks the parsed content of a `svc.protocol.json`.
 * @throws {Error} with what is wrong in it
 */
export function parseProtocolDocument(value: unknown, { plugin, isBundled }: { plugin: string; isBundled: boolean }): ProtocolDocument {
  const parsed = documentSchema.safeParse(value);
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error).replaceAll("\n", " "));
  const { methods, events = {}, errors = {} } = parsed.data;
  if (isBundled) return parsed.data as ProtocolDocument;
  const foreign = Object.keys(methods).find((name) => !name.startsWith(`${plugin}.`));
  if (foreign !== undefined) throw new Error(`the method ${foreign} is not the plugin's own; expected ${plugin}.<verb>`);
  const [event] = Object.keys(events);
  if (event !== undefined)
    throw new Error(`the event ${event} is not the plugin's own; it sends plugin.${plugin}.<name>, which needs no row`);
  const code = Object.keys(errors).find((name) => !name.startsWith(`${plugin}-`));
  if (code !== undefined) throw new Error(`the error ${code} is not the plugin's own; expected ${plugin}-<what went wrong>`);
  return parsed.data as ProtocolDocument;
}

/** Text of the file. */
export function protocolText(document: ProtocolDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/**
 * Reads the text of the file.
 * @param owner `isChecked`: its form has been checked before, as that of a release is
 * @throws {Error} with the name of the file and what is wrong in it
 */
export function readProtocolDocument(text: string, owner: { plugin: string; isBundled: boolean; isChecked?: boolean }): ProtocolDocument {
  try {
    const content = JSON.parse(text);
    return owner.isChecked ? (content as ProtocolDocument) : parseProtocolDocument(content, owner);
  } catch (error) {
    throw new Error(`${PROTOCOL_FILE}: ${messageOf(error)}`);
  }
}

/** A schema of the document that stands alone: with the named shapes it refers to. */
export function standalone(schema: JsonSchema, { $defs }: ProtocolDocument): JsonSchema {
  return $defs ? { ...schema, $defs } : schema;
}

/** Row of a method, and whose table it stands in. */
type OwnedRow = MethodDocument & { plugin: string; isBundled: boolean };

/** Rows of the methods of the protocol that bundled plugins serve, whether they run or not. No other plugin's table changes or hides one of them. */
export function bundledMethodRows(candidates: readonly PluginCandidate[]): ReadonlyMap<string, OwnedRow> {
  const bundled = candidates.filter(({ origin }) => origin === "bundled");
  return new Map(
    bundled.flatMap(({ id, methods = {} }) =>
      Object.entries(methods).map(([name, row]) => [name, { ...row, plugin: id, isBundled: true }] as const),
    ),
  );
}

/** Row of a method in the table of the plugin that serves it, whether it runs or not. */
export function methodRowOf(candidates: readonly PluginCandidate[], name: string): OwnedRow | undefined {
  for (const { id, methods = {}, origin } of candidates) {
    const row = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (row) return { ...row, plugin: id, isBundled: origin === "bundled" };
  }
  return undefined;
}

/** Rows of the events of the protocol that bundled plugins send, whether they run or not. */
export function eventRowsOf(candidates: readonly PluginCandidate[]): ReadonlyMap<string, EventSpec> {
  const bundled = candidates.filter(({ origin }) => origin === "bundled");
  return new Map(bundled.flatMap(({ events = {} }) => Object.entries(events)));
}

/** JSON Schema of a part of the document. Shapes with a name go to `$defs`, so that each of them is written once. */
function plain(schema: z.ZodType, $defs: Record<string, JsonSchema>): JsonSchema {
  // As a member even a schema that has a name itself becomes a reference.
  const whole = toJsonSchema(z.object({ it: schema }) as unknown as Schema) as JsonSchema & {
    properties: { it: JsonSchema };
    $defs?: Record<string, JsonSchema & { id?: string }>;
  };
  for (const [name, { id: _, ...shape }] of Object.entries(whole.$defs ?? {})) {
    if ($defs[name] && JSON.stringify($defs[name]) !== JSON.stringify(shape)) throw new Error(`two shapes are called ${name}`);
    $defs[name] = shape;
  }
  return whole.properties.it;
}
