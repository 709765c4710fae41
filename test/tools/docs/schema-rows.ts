/** The parts of JSON Schema that our schemas produce. */
export interface SchemaNode {
  type?: string | string[];
  properties?: Record<string, SchemaNode>;
  additionalProperties?: boolean | SchemaNode;
  required?: string[];
  items?: SchemaNode;
  anyOf?: SchemaNode[];
  oneOf?: SchemaNode[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  format?: string;
  description?: string;
  sensitive?: boolean;
}

export interface SchemaRow {
  /** Dotted; `<name>` for keys of a record, `[]` for members of a list. */
  path: string;
  type: string;
  required: boolean;
  default: string;
  note: string;
}

/** One row for each value that can be written; objects only show through their members. */
export function schemaRows(schema: SchemaNode): SchemaRow[] {
  return members(schema, "");
}

function members(node: SchemaNode, path: string): SchemaRow[] {
  const named = Object.entries(node.properties ?? {}).flatMap(([key, child]) =>
    rowsOf(child, path === "" ? key : `${path}.${key}`, node.required?.includes(key) ?? false),
  );
  const rest = node.additionalProperties;
  const any =
    rest && typeof rest === "object" && Object.keys(rest).length > 0 ? rowsOf(rest, path === "" ? "<name>" : `${path}.<name>`, false) : [];
  return [...named, ...any];
}

function rowsOf(node: SchemaNode, path: string, required: boolean): SchemaRow[] {
  if (isOpenObject(node)) return [row(node, path, required)];
  if (node.properties || node.type === "object") {
    const inner = members(node, path);
    return inner.length > 0 ? inner : [row(node, path, required)];
  }
  if (node.type === "array" && node.items && (node.items.properties || node.items.anyOf?.some((n) => n.properties))) {
    return [row({ ...node, items: { type: "object" } }, path, required), ...objectMembers(node.items, `${path}[]`)];
  }
  return [row(node, path, required), ...(node.anyOf ?? []).flatMap((option) => (option.properties ? members(option, path) : []))];
}

function objectMembers(node: SchemaNode, path: string): SchemaRow[] {
  return node.properties ? members(node, path) : (node.anyOf ?? []).flatMap((option) => members(option, path));
}

function isOpenObject(node: SchemaNode): boolean {
  return node.type === "object" && !node.properties && node.additionalProperties === true;
}

function row(node: SchemaNode, path: string, required: boolean): SchemaRow {
  return {
    path,
    type: typeOf(node),
    required,
    default: node.default === undefined ? "" : JSON.stringify(node.default),
    note: [node.sensitive ? "secret" : "", rangeOf(node), node.description ?? ""].filter(Boolean).join("; "),
  };
}

/** `integer or string`, `"a" or "b"`, `list of string`. */
export function typeOf(node: SchemaNode): string {
  const options = node.anyOf ?? node.oneOf;
  if (options) return [...new Set(options.map(typeOf))].join(" or ");
  if (node.enum) return node.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.type === "array") return node.items ? `list of ${typeOf(node.items)}` : "list";
  if (Array.isArray(node.type)) return node.type.join(" or ");
  return node.type ?? "any";
}

function rangeOf(node: SchemaNode): string {
  const unlimited = Number.MAX_SAFE_INTEGER;
  const low = node.minimum ?? node.minLength ?? node.minItems;
  const high = node.maximum ?? node.maxLength ?? node.maxItems;
  const unit = node.minLength !== undefined || node.maxLength !== undefined ? " characters" : node.type === "array" ? " entries" : "";
  const lower = low !== undefined && low > -unlimited && !(low === 0 && high === undefined) ? low : undefined;
  const upper = high !== undefined && high < unlimited ? high : undefined;
  if (lower !== undefined && upper !== undefined) return `${lower} to ${upper}${unit}`;
  if (lower !== undefined) return `at least ${lower}${unit.replace(/s$/, lower === 1 ? "" : "s").replace(/entrie$/, "entry")}`;
  return upper === undefined ? "" : `at most ${upper}${unit}`;
}
