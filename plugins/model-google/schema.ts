type Schema = Record<string, unknown>;

/** Formats that the vendor takes; it refuses a request for any other. */
const formats: ReadonlySet<unknown> = new Set(["enum", "date-time", "int32", "int64", "float", "double"]);
/** Nothing that a person writes is deeper. */
const MAX_DEPTH = 32;

/**
 * A JSON schema without what the vendor's subset has no words for: other formats go, `oneOf` becomes `anyOf`, `allOf` is put together. The package
 * leaves out the rest (`$schema`, `additionalProperties`, ranges) and turns `null` into `nullable`. Pure.
 */
export function toGoogleSchema(schema: object): object {
  return reduced(schema, 0) as object;
}

function reduced(value: unknown, depth: number): unknown {
  if (!isSchema(value) || depth > MAX_DEPTH) return value;
  const { oneOf, allOf, format, ...rest } = value;
  const parts = Array.isArray(allOf) ? allOf.map((one) => reduced(one, depth + 1)).filter(isSchema) : [];
  const merged = parts.reduce(mergeInto, rest);
  return Object.fromEntries([
    ...Object.entries(merged).map(([key, member]) => [key, reducedMember(key, member, depth + 1)] as const),
    ...(formats.has(format) ? [["format", format] as const] : []),
    ...(Array.isArray(oneOf) ? [["anyOf", oneOf.map((one) => reduced(one, depth + 1))] as const] : []),
  ]);
}

function reducedMember(key: string, member: unknown, depth: number): unknown {
  switch (key) {
    case "properties":
    case "$defs":
    case "definitions":
      return isSchema(member) ? Object.fromEntries(Object.entries(member).map(([name, one]) => [name, reduced(one, depth)])) : member;
    case "items":
      return Array.isArray(member) ? member.map((one) => reduced(one, depth)) : reduced(member, depth);
    case "anyOf":
      return Array.isArray(member) ? member.map((one) => reduced(one, depth)) : member;
    default:
      return member;
  }
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

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
