import { z } from "zod";
import { messageOf } from "../../sdk/errors.ts";
import { toJsonSchema } from "../../sdk/json-schema.ts";
import type { PluginProtocol } from "../../sdk/protocol/methods/spec.ts";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import type { MethodDocument } from "../../sdk/types/protocol-document.ts";
import type { JsonSchema, Schema } from "../../sdk/types/schema.ts";

/** Name of the file beside the manifest that holds a plugin's part of the protocol. */
export const PROTOCOL_FILE = "svc.protocol.json";

/** Content of `svc.protocol.json`. */
export interface ProtocolDocument {
  methods: Record<string, MethodDocument>;
}

const jsonSchema = z.record(z.string(), z.unknown());
const documentSchema = z.strictObject({
  methods: z.record(
    z.string().regex(/^[a-z][\w-]*(\.[a-z][\w-]*)+$/, 'expected the name of a method such as "notes.list"'),
    z.strictObject({
      scope: z.enum(["read", "write", "approvals", "pairing", "admin"]),
      about: z.string(),
      waits: z.literal(true).optional(),
      params: jsonSchema,
      result: jsonSchema,
    }),
  ),
});

/** Writes a plugin's part of the protocol as JSON Schema. What a schema cannot say (refinements) is checked by the running plugin alone. */
export function protocolDocument({ methods, results }: PluginProtocol): ProtocolDocument {
  const rows = Object.entries(methods).map(([name, { scope, about, waits, params }]) => {
    const result = results[name];
    if (!result) throw new Error(`no result for the method ${name}`);
    return [name, { scope, about, ...(waits ? { waits } : {}), params: plain(params), result: plain(result) }] as const;
  });
  return { methods: Object.fromEntries(rows) };
}

/**
 * Checks the parsed content of a `svc.protocol.json`.
 * @throws {Error} with what is wrong in it
 */
export function parseProtocolDocument(value: unknown, { plugin, isBundled }: { plugin: string; isBundled: boolean }): ProtocolDocument {
  const parsed = documentSchema.safeParse(value);
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error).replaceAll("\n", " "));
  const foreign = Object.keys(parsed.data.methods).find((name) => !isBundled && !name.startsWith(`${plugin}.`));
  if (foreign !== undefined) throw new Error(`the method ${foreign} is not the plugin's own; expected ${plugin}.<verb>`);
  return parsed.data as ProtocolDocument;
}

/** Text of the file. */
export function protocolText(document: ProtocolDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Reads the text of the file. @throws {Error} with the name of the file and what is wrong in it */
export function readProtocolDocument(text: string, owner: { plugin: string; isBundled: boolean }): ProtocolDocument {
  try {
    return parseProtocolDocument(JSON.parse(text), owner);
  } catch (error) {
    throw new Error(`${PROTOCOL_FILE}: ${messageOf(error)}`);
  }
}

/** Row of a method in the table of the plugin that serves it, whether it runs or not. */
export function methodRowOf(
  candidates: readonly PluginCandidate[],
  name: string,
): (MethodDocument & { plugin: string; isBundled: boolean }) | undefined {
  for (const { id, methods = {}, origin } of candidates) {
    const row = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (row) return { ...row, plugin: id, isBundled: origin === "bundled" };
  }
  return undefined;
}

function plain(schema: z.ZodType): JsonSchema {
  const { $schema: _, "~standard": __, ...rest } = toJsonSchema(schema as unknown as Schema) as JsonSchema & Record<string, unknown>;
  return rest;
}
