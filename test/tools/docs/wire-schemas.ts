import { z } from "zod";
import type { SchemaNode } from "./schema-rows.ts";

/** JSON Schemas of a table; shapes that have a name of their own are `{$ref: "#/$defs/<Name>"}` and stand in `named`. */
export interface WireSchemas {
  byName: Record<string, SchemaNode>;
  named: Record<string, SchemaNode>;
}

/** JSON Schema (draft 7) of what goes over the wire, open objects left open. Deterministic: tables in their order, names sorted. */
export function toWireSchemas(table: Readonly<Record<string, z.ZodType>>): WireSchemas {
  const whole = z.toJSONSchema(z.object(table), {
    io: "input",
    target: "draft-7",
    unrepresentable: "any",
    override: ({ jsonSchema }) => withoutNoise(jsonSchema as Record<string, unknown>),
  }) as SchemaNode & { definitions?: Record<string, SchemaNode> };
  const text = JSON.stringify({ byName: whole.properties ?? {}, named: whole.definitions ?? {} });
  const { byName, named } = JSON.parse(text.replaceAll('"#/definitions/', '"#/$defs/')) as WireSchemas;
  return { byName, named: sorted(named) };
}

/** Bounds that only say "an integer", and the key by which a shape was named. */
function withoutNoise(schema: Record<string, unknown>): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (isEmpty(schema.additionalProperties)) delete schema.additionalProperties;
  delete schema.id;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function sorted<T>(table: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)));
}
