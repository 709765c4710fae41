export type Schema = Record<string, unknown>;

/** Definitions of a schema by their pointers, as `#/$defs/name`. */
export type Definitions = ReadonlySet<string>;

const text = { type: "string" };
/** Words that say what a value is. */
const telling = ["type", "anyOf", "oneOf", "enum", "const", "properties", "$ref"];

/** Returns what references of a schema may name: the package knows the direct members of `$defs` and `definitions` at its root. */
export function definitionsOf(root: Schema): Definitions {
  const pointers = ["$defs", "definitions"].flatMap((key) => {
    const member = root[key];
    return isSchema(member) ? Object.keys(member).map((name) => `#/${key}/${name}`) : [];
  });
  return new Set(pointers);
}

/** A schema without what makes the package or the vendor refuse the whole request: references to nowhere, values of several kinds, arrays of anything. Pure. */
export function acceptable(schema: Schema, definitions: Definitions): Schema {
  return withItems(withValuesOfOneKind(withKnownReference(schema, definitions)));
}

/** Leaves out a reference to nowhere, and beside another what may say another kind than the definition does. */
function withKnownReference(schema: Schema, definitions: Definitions): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...rest } = schema;
  if (!isKnown($ref, definitions)) return typed(rest, "object");
  const { type: _type, enum: _enum, const: _const, ...beside } = rest;
  return { ...beside, $ref };
}

function isKnown(ref: unknown, definitions: Definitions): boolean {
  if (typeof ref !== "string" || ref.split("/").length !== 3) return false;
  try {
    const pointer = decodeURIComponent(ref);
    if (pointer.split("/").length !== 3 || /~(?![01])/.test(pointer)) return false;
    return definitions.has(pointer.replace(/~[01]/g, (mark) => (mark === "~1" ? "/" : "~")));
  } catch {
    return false;
  }
}

function withValuesOfOneKind(schema: Schema): Schema {
  const { enum: values, const: value, ...rest } = schema;
  return typed(
    {
      ...rest,
      ...(isOfOneKind(values, schema.type) ? { enum: values } : {}),
      ...(value !== undefined && isOfOneKind([value], schema.type) ? { const: value } : {}),
    },
    values === undefined && value === undefined ? undefined : "string",
  );
}

/** True for values that the package takes: all of one primitive kind that the type allows, or null where it may be. */
function isOfOneKind(values: unknown, type: unknown): boolean {
  if (!Array.isArray(values) || values.length === 0) return false;
  const allowed = type === undefined ? ["string", "number", "boolean", "null"] : [type].flat();
  const others = allowed.includes("null") ? values.filter((value) => value !== null) : values;
  if (others.length === 0) return true;
  if (others.every((value) => Number.isInteger(value)) && allowed.includes("integer")) return true;
  if (others.every((value) => Number.isFinite(value))) return allowed.includes("number");
  return ["string", "boolean"].some((kind) => allowed.includes(kind) && others.every((value) => typeof value === kind));
}

/** The vendor takes no array without a word on its items, and looks for that word beside each single type. */
function withItems(schema: Schema): Schema {
  const { type, items, ...rest } = schema;
  if (![type].flat().includes("array")) return schema;
  const known = Array.isArray(items) || (isSchema(items) && Object.keys(items).length > 0) ? items : text;
  const isUnion = Array.isArray(type) && type.filter((kind) => kind !== "null").length > 1;
  if (!isUnion || ["enum", "const", "anyOf", "oneOf"].some((key) => key in rest)) return { ...rest, type, items: known };
  return { ...rest, anyOf: type.map((kind: unknown) => (kind === "array" ? { type: kind, items: known } : { type: kind })) };
}

function typed(schema: Schema, type: string | undefined): Schema {
  return type === undefined || telling.some((key) => schema[key] !== undefined) ? schema : { ...schema, type };
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
