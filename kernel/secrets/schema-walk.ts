import { z } from "zod";

/** The parts of a zod schema that a walk needs. */
export interface SchemaNode {
  def: {
    type?: string;
    innerType?: unknown;
    in?: unknown;
    element?: unknown;
    valueType?: unknown;
    shape?: Record<string, unknown>;
    catchall?: unknown;
    options?: unknown[];
  };
}

/** Metadata of a schema node in the key tree. */
export interface KeyMeta {
  description?: string;
  sensitive?: boolean;
  reload?: string;
  default?: unknown;
  label?: string;
  placeholder?: string;
  advanced?: boolean;
}

/** The schema below optionals, defaults and transforms. */
export function unwrapSchema(schema: unknown): SchemaNode | undefined {
  let at = schema as SchemaNode | undefined;
  while (at?.def && (at.def.innerType || at.def.type === "pipe")) at = (at.def.innerType ?? at.def.in) as SchemaNode | undefined;
  return at;
}

/** Metadata by schema, neither of which changes: each walk over a config asks for hundreds, and zod puts every answer together anew. */
const metaOf = new WeakMap<object, Readonly<KeyMeta>>();

/** Metadata of a schema and of everything it wraps; the outer one wins. */
export function schemaMeta(schema: unknown): Readonly<KeyMeta> {
  if (typeof schema !== "object" || schema === null || !("def" in schema)) return {};
  const known = metaOf.get(schema);
  if (known) return known;
  const { def } = schema as SchemaNode;
  const inner = def.innerType ?? (def.type === "pipe" ? def.in : undefined);
  const found = { ...schemaMeta(inner), ...(z.globalRegistry.get(schema as unknown as z.ZodType) as KeyMeta | undefined) };
  metaOf.set(schema, found);
  return found;
}

/** The schema of one key or index, or undefined where none is known; an open body knows its named keys only. */
export function childSchema(schema: unknown, key: PropertyKey): unknown {
  const def = unwrapSchema(schema)?.def;
  if (def?.type === "object") return Object.hasOwn(def.shape ?? {}, key) ? def.shape?.[String(key)] : catchallOf(def.catchall);
  if (def?.type === "array") return def.element;
  if (def?.type === "record") return def.valueType;
  if (def?.type === "union") return def.options?.map((option) => childSchema(option, key)).find(Boolean);
  return undefined;
}

/** Everything that may stand below a schema, whatever its key. */
export function schemasBelow(schema: unknown): unknown[] {
  const { shape, element, valueType, options, catchall } = unwrapSchema(schema)?.def ?? {};
  return [...Object.values(shape ?? {}), element, valueType, catchallOf(catchall), ...(options ?? [])].filter(Boolean);
}

/** Keys that an object schema names, or any of its alternatives. */
export function knownKeys(schema: unknown): string[] {
  const { shape, options = [] } = unwrapSchema(schema)?.def ?? {};
  return [...new Set([...Object.keys(shape ?? {}), ...options.flatMap(knownKeys)])];
}

/** May there be keys that the schema knows nothing of? */
export function isOpenBody(schema: unknown): boolean {
  const { type, catchall, valueType } = unwrapSchema(schema)?.def ?? {};
  const typeOf = (node: unknown) => (node as SchemaNode | undefined)?.def.type;
  return (type === "object" && typeOf(catchall) === "unknown") || (type === "record" && typeOf(valueType) === "unknown");
}

/** The catch-all of an object that takes further keys of one shape; `strictObject` and open bodies have none. */
function catchallOf(catchall: unknown): unknown {
  const type = (catchall as SchemaNode | undefined)?.def.type;
  return type === undefined || type === "never" || type === "unknown" ? undefined : catchall;
}
