/** A node of a JSON Schema, as far as forms, types and look-ups need it. */
export interface SchemaTree {
  $ref?: string;
  $defs?: Record<string, SchemaTree>;
  type?: string | string[];
  properties?: Record<string, SchemaTree>;
  additionalProperties?: boolean | SchemaTree;
  required?: string[];
  items?: SchemaTree;
  prefixItems?: SchemaTree[];
  anyOf?: SchemaTree[];
  oneOf?: SchemaTree[];
  allOf?: SchemaTree[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  description?: string;
  title?: string;
  sensitive?: boolean;
  advanced?: boolean;
  label?: string;
  placeholder?: string;
  reload?: string;
  /** The key, or these values of it, are not part of this release. */
  notInRelease?: boolean | string[];
  [keyword: string]: unknown;
}

/** Is it a schema with named members? */
export function isObjectSchema(node: unknown): node is SchemaTree {
  return typeof node === "object" && node !== null && !Array.isArray(node);
}

/** Alternatives of a node; the node itself when it has none. */
export function alternatives(node: SchemaTree): SchemaTree[] {
  const options = node.anyOf ?? node.oneOf ?? node.allOf;
  return options ? [...options.flatMap(alternatives), ...(node.properties ? [node] : [])] : [node];
}

/** Schema of one key or index, through alternatives and local references; undefined where the schema knows none. */
export function childNode(node: SchemaTree, key: string, root: SchemaTree = node): SchemaTree | undefined {
  for (const option of alternatives(deref(node, root))) {
    const at = deref(option, root);
    const named = at.properties && Object.hasOwn(at.properties, key) ? at.properties[key] : undefined;
    if (named) return named;
    if (at.items && /^(\*|\d+|\[.*\])$/.test(key)) return at.items;
    if (isObjectSchema(at.additionalProperties) && Object.keys(at.additionalProperties).length > 0) return at.additionalProperties;
  }
  return undefined;
}

/** The node a reference within the document names: `#/$defs/x`. */
export function deref(node: SchemaTree, root: SchemaTree): SchemaTree {
  let at = node;
  for (let hops = 0; at.$ref !== undefined && hops < 16; hops++) {
    const path = at.$ref.startsWith("#/") ? at.$ref.slice(2).split("/") : [];
    const found = path.reduce<unknown>(
      (seen, step) => (seen as Record<string, unknown> | undefined)?.[step.replace(/~1/g, "/").replace(/~0/g, "~")],
      root,
    );
    if (!isObjectSchema(found)) return {};
    at = found;
  }
  return at;
}

/** Named members through alternatives, with whether they are required; a name of several alternatives is given once. */
export function membersOf(node: SchemaTree, root: SchemaTree): Array<{ key: string; node: SchemaTree; required: boolean }> {
  const found = new Map<string, { key: string; node: SchemaTree; required: boolean }>();
  const options = alternatives(deref(node, root)).map((option) => deref(option, root));
  for (const option of options) {
    for (const [key, child] of Object.entries(option.properties ?? {})) {
      if (!found.has(key)) found.set(key, { key, node: child, required: option.required?.includes(key) ?? false });
    }
  }
  return [...found.values()];
}
