import { isRecord, type JsonSchema, type LocalSchema } from "svc/sdk";

/**
 * JSON Schema in the part of it that the runtime has a grammar for. There, every property of an object is written. In `arguments` of a tool an optional one
 * may be null, and `withoutNulls` takes it out again; in an `answer`, which goes out as it is, it has a value of its own type, or no place when it may hold
 * more of the same without end.
 */
export type SchemaUse = "arguments" | "answer";

/** Nesting beyond is not held to anything. */
const MAX_DEPTH = 24;
/** Repetitions that a grammar can count; longer limits are left to whoever checks the value. */
const MAX_REPEAT = 200;
const MAX_ALTERNATIVES = 64;
const formats = new Set(["date-time", "time", "date"]);
const scalars = new Set(["string", "number", "integer", "boolean", "null"]);

/** Any JSON value. */
const anything: LocalSchema = {
  oneOf: [{ type: ["string", "number", "boolean", "null"] }, { type: "object", additionalProperties: true }, { type: "array" }],
};

/** Pure. */
export function toGrammarSchema(schema: JsonSchema, use: SchemaUse): LocalSchema {
  const defs = definitionsOf(schema);
  const scope: Scope = { use, defs: new Set(Object.keys(defs)) };
  const root = convert(schema, scope, 0);
  const $defs = Object.fromEntries(Object.entries(defs).map(([name, def]) => [name, convert(def, scope, 1)]));
  return Object.keys($defs).length === 0 ? root : { ...root, $defs };
}

interface Scope {
  use: SchemaUse;
  /** Names of the definitions that may be referred to. */
  defs: ReadonlySet<string>;
}

function convert(schema: unknown, scope: Scope, depth: number): LocalSchema {
  if (!isRecord(schema) || depth > MAX_DEPTH) return anything;
  const description = typeof schema.description === "string" ? { description: schema.description } : {};
  return { ...shapeOf(schema, scope, depth), ...description };
}

function shapeOf(schema: JsonSchema, scope: Scope, depth: number): LocalSchema {
  const name = referenceOf(schema);
  if (name !== undefined) return scope.defs.has(name) ? { $ref: `#/$defs/${name}` } : anything;
  if (schema.const !== undefined) return isScalar(schema.const) ? { const: schema.const } : anything;
  if (Array.isArray(schema.enum)) {
    const values = schema.enum.filter(isScalar);
    return values.length > 0 ? { enum: values } : anything;
  }
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives) && alternatives.length > 0)
    return { oneOf: alternatives.slice(0, MAX_ALTERNATIVES).map((one) => convert(one, scope, depth + 1)) };
  if (Array.isArray(schema.allOf) && schema.allOf.length > 0) return convert(merged(schema), scope, depth + 1);
  return ofType(schema, scope, depth);
}

function ofType(schema: JsonSchema, scope: Scope, depth: number): LocalSchema {
  const { type } = schema;
  if (Array.isArray(type)) {
    if (type.length > 0 && type.every((one) => scalars.has(one as string))) return { type };
    return type.length > 0 ? { oneOf: type.map((one) => ofType({ ...schema, type: one }, scope, depth)) } : anything;
  }
  if (type === "object" || (type === undefined && isRecord(schema.properties))) return objectOf(schema, scope, depth);
  if (type === "array" || (type === undefined && schema.items !== undefined)) return arrayOf(schema, scope, depth);
  if (type === "string") return stringOf(schema);
  return typeof type === "string" && scalars.has(type) ? { type } : anything;
}

function objectOf(schema: JsonSchema, scope: Scope, depth: number): LocalSchema {
  const required = requiredOf(schema);
  const properties = Object.entries(isRecord(schema.properties) ? schema.properties : {}).flatMap(([name, property]) => {
    const value = convert(property, scope, depth + 1);
    if (required.has(name)) return [[name, value] as const];
    if (scope.use === "arguments") return [[name, allowsNull(property) ? value : { oneOf: [value, { type: "null" }] }] as const];
    return refersToAny(value) ? [] : [[name, value] as const];
  });
  const { additionalProperties } = schema;
  const others = isRecord(additionalProperties)
    ? convert(additionalProperties, scope, depth + 1)
    : (additionalProperties ?? !isRecord(schema.properties)) === true;
  return { type: "object", properties: Object.fromEntries(properties), ...(others === false ? {} : { additionalProperties: others }) };
}

function arrayOf(schema: JsonSchema, scope: Scope, depth: number): LocalSchema {
  const items = isRecord(schema.items) ? { items: convert(schema.items, scope, depth + 1) } : {};
  const prefix = Array.isArray(schema.prefixItems) ? { prefixItems: schema.prefixItems.map((one) => convert(one, scope, depth + 1)) } : {};
  return { type: "array", ...items, ...prefix, ...countOf(schema, "minItems"), ...countOf(schema, "maxItems") };
}

function stringOf(schema: JsonSchema): LocalSchema {
  if (typeof schema.format === "string" && formats.has(schema.format)) return { type: "string", format: schema.format };
  return { type: "string", ...countOf(schema, "minLength"), ...countOf(schema, "maxLength") };
}

function countOf(schema: JsonSchema, key: string): Record<string, number> {
  const value = schema[key];
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_REPEAT ? { [key]: value } : {};
}

/** A schema and what it is combined with, as one. */
function merged({ allOf, ...schema }: JsonSchema): JsonSchema {
  const parts = [schema, ...(allOf as unknown[])].filter(isRecord);
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap((part) => [...requiredOf(part)]),
  };
}

function refersToAny(schema: LocalSchema): boolean {
  return JSON.stringify(schema).includes('"$ref":');
}

function definitionsOf(schema: JsonSchema): Record<string, unknown> {
  return { ...(isRecord(schema.definitions) ? schema.definitions : {}), ...(isRecord(schema.$defs) ? schema.$defs : {}) };
}

function referenceOf({ $ref }: JsonSchema): string | undefined {
  return typeof $ref === "string" ? (/^#\/(?:\$defs|definitions)\/([^/]+)$/.exec($ref)?.[1] ?? $ref) : undefined;
}

function requiredOf({ required }: JsonSchema): ReadonlySet<unknown> {
  return new Set(Array.isArray(required) ? required : []);
}

function isScalar(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

const constraints = ["type", "const", "enum", "anyOf", "oneOf", "allOf", "$ref", "properties", "items"];

/** Whether null is a value by the schema's own word. */
function allowsNull(schema: unknown): boolean {
  if (!isRecord(schema)) return true;
  if (schema.type === "null" || schema.const === null || !constraints.some((key) => schema[key] !== undefined)) return true;
  if (Array.isArray(schema.type) && schema.type.includes("null")) return true;
  if (Array.isArray(schema.enum)) return schema.enum.includes(null);
  const alternatives = schema.anyOf ?? schema.oneOf;
  return Array.isArray(alternatives) && alternatives.some(allowsNull);
}

/**
 * Arguments of a tool without the nulls that stand for "left out". Pure.
 * @param schema the tool's own, not the one of the grammar
 */
export function withoutNulls(value: unknown, schema: JsonSchema): unknown {
  return stripped(value, schema, definitionsOf(schema));
}

function stripped(value: unknown, schema: unknown, defs: Record<string, unknown>): unknown {
  if (!isRecord(schema)) return value;
  const name = referenceOf(schema);
  if (name !== undefined) return Object.hasOwn(defs, name) ? stripped(value, defs[name], defs) : value;
  if (Array.isArray(value)) return value.map((item) => stripped(item, schema.items, defs));
  if (!isRecord(value)) return value;
  const whole = Array.isArray(schema.allOf) ? merged(schema) : schema;
  const properties = isRecord(whole.properties) ? whole.properties : {};
  const required = requiredOf(whole);
  const isLeftOut = (key: string, one: unknown) =>
    one === null && Object.hasOwn(properties, key) && !required.has(key) && !allowsNull(properties[key]);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => (isLeftOut(key, one) ? [] : [[key, stripped(one, properties[key], defs)]])),
  );
}
