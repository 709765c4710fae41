import { acceptable, type Definitions, definitionsOf, isSchema, type Schema } from "./schema-rules.ts";

/** Formats that the vendor takes; it refuses a request for any other. */
const formats: ReadonlySet<unknown> = new Set(["enum", "date-time", "int32", "int64", "float", "double"]);
/** Nothing that a person writes is deeper. */
const MAX_DEPTH = 32;

/**
 * A JSON schema without what the vendor's subset has no words for: other formats go, `oneOf` becomes `anyOf`, `allOf` is put together. The package
 * leaves out the rest (`$schema`, `additionalProperties`, ranges) and turns `null` into `nullable`. Pure.
 */
export function toGoogleSchema(schema: object): object {
  const root = flattened(schema as Schema, 0);
  return reduced(root, 0, definitionsOf(root)) as object;
}

function reduced(value: unknown, depth: number, definitions: Definitions): unknown {
  if (!isSchema(value) || depth > MAX_DEPTH) return value;
  const { oneOf, format, $defs, definitions: older, ...merged } = acceptable(flattened(value, depth), definitions);
  const roots = depth === 0 ? Object.entries({ $defs, definitions: older }).filter(([, member]) => member !== undefined) : [];
  return Object.fromEntries([
    ...[...Object.entries(merged), ...roots].map(([key, member]) => [key, reducedMember(key, member, depth + 1, definitions)] as const),
    ...(formats.has(format) ? [["format", format] as const] : []),
    ...(Array.isArray(oneOf) ? [["anyOf", oneOf.map((one) => reduced(one, depth + 1, definitions))] as const] : []),
  ]);
}

function reducedMember(key: string, member: unknown, depth: number, definitions: Definitions): unknown {
  const inner = (one: unknown) => reduced(one, depth, definitions);
  switch (key) {
    case "properties":
    case "$defs":
    case "definitions":
      return isSchema(member) ? Object.fromEntries(Object.entries(member).map(([name, one]) => [name, inner(one)])) : member;
    case "items":
      return Array.isArray(member) ? member.map(inner) : inner(member);
    case "anyOf":
      return Array.isArray(member) ? member.map(inner) : member;
    default:
      return member;
  }
}

/** A schema with the parts of its `allOf` in it. */
function flattened(schema: Schema, depth: number): Schema {
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf) || depth > MAX_DEPTH) return rest;
  return allOf
    .filter(isSchema)
    .map((one) => flattened(one, depth + 1))
    .reduce(mergeInto, rest);
}

function mergeInto(into: Schema, one: Schema): Schema {
  const properties = { ...(into.properties as object | undefined), ...(one.properties as object | undefined) };
  const required = [...new Set([into.required ?? [], one.required ?? []].flat())];
  return {
    ...into,
    ...one,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}
