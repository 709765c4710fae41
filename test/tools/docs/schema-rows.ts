/** The parts of JSON Schema that our schemas produce. */
export interface SchemaNode {
  /** `#/$defs/<Name>`: a shape that is described in one place. */
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, SchemaNode>;
  additionalProperties?: boolean | SchemaNode;
  required?: string[];
  items?: SchemaNode;
  anyOf?: SchemaNode[];
  oneOf?: SchemaNode[];
  allOf?: SchemaNode[];
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
  /** Effect of a live change; holds for everything below that has none of its own. */
  reload?: string;
  /** The key, or these values of it, are not part of this release. */
  notInRelease?: boolean | string[];
}

export interface SchemaRow {
  /** Dotted; `<name>` for keys of a record, `[]` for members of a list. */
  path: string;
  type: string;
  required: boolean;
  default: string;
  /** Reload class, `""` where the schema names none. */
  reload: string;
  note: string;
}

/** One row for each value that can be written; objects only show through their members. */
export function schemaRows(schema: SchemaNode): SchemaRow[] {
  return merged(optionsOf(schema).length > 0 ? membersOfAll(optionsOf(schema), "", "") : members(schema, "", ""));
}

/** Alternatives may have a key in common: one row, with the types and remarks of all. */
function merged(rows: SchemaRow[]): SchemaRow[] {
  const byPath = new Map<string, SchemaRow>();
  for (const row of rows) {
    const known = byPath.get(row.path);
    const join = (a: string, b: string, by: string) => [...new Set([...a.split(by), ...b.split(by)].filter(Boolean))].join(by);
    byPath.set(row.path, known ? { ...known, type: join(known.type, row.type, " or "), note: join(known.note, row.note, "; ") } : row);
  }
  return [...byPath.values()];
}

function members(node: SchemaNode, path: string, reload: string): SchemaRow[] {
  const own = node.reload ?? reload;
  const named = Object.entries(node.properties ?? {}).flatMap(([key, child]) =>
    rowsOf(child, { path: path === "" ? key : `${path}.${key}`, required: node.required?.includes(key) ?? false, reload: own }),
  );
  const rest = node.additionalProperties;
  const any =
    rest && typeof rest === "object" && Object.keys(rest).length > 0
      ? rowsOf(rest, { path: path === "" ? "<name>" : `${path}.<name>`, required: false, reload: own })
      : [];
  return [...named, ...any];
}

interface At {
  path: string;
  required: boolean;
  reload: string;
}

/** Rows of a choice: a key that one of the forms lacks is not always there. */
function membersOfAll(options: readonly SchemaNode[], path: string, reload: string): SchemaRow[] {
  const lists = options.map((option) => (option.properties ? members(option, path, reload) : []));
  const always = (row: SchemaRow) => lists.every((rows) => rows.some((one) => one.path === row.path && one.required));
  return lists.flat().map((row) => ({ ...row, required: always(row) }));
}

function rowsOf(node: SchemaNode, at: At): SchemaRow[] {
  const here = { ...at, reload: node.reload ?? at.reload };
  const { path, reload } = here;
  if (node.sensitive || isOpenObject(node)) return [row(node, here)];
  if (node.properties || node.type === "object") {
    const inner = members(node, path, reload);
    if (!isMap(node) || !node.description) return inner.length > 0 ? inner : [row(node, here)];
    const value = node.additionalProperties as SchemaNode;
    // A described map has a row of its own above its members; a map of plain values is a single row.
    return value.properties || inner.length !== 1
      ? [row(node, here), ...inner]
      : [row({ ...value, description: value.description ?? node.description }, { ...here, path: `${path}.<name>` })];
  }
  if (node.type === "array" && node.items && (node.items.properties || optionsOf(node.items).some((n) => n.properties))) {
    return [row({ ...node, items: { type: "object" } }, here), ...objectMembers(node.items, `${path}[]`, reload)];
  }
  const inner = membersOfAll(optionsOf(node), path, reload);
  return optionsOf(node).length > 0 && optionsOf(node).every((option) => option.properties) ? inner : [row(node, here), ...inner];
}

function optionsOf(node: SchemaNode): SchemaNode[] {
  return node.anyOf ?? node.oneOf ?? [];
}

/** Names are the operator's own. */
function isMap(node: SchemaNode): boolean {
  return !node.properties && typeof node.additionalProperties === "object";
}

function objectMembers(node: SchemaNode, path: string, reload: string): SchemaRow[] {
  return node.properties ? members(node, path, reload) : membersOfAll(optionsOf(node), path, reload);
}

function isOpenObject(node: SchemaNode): boolean {
  return node.type === "object" && !node.properties && node.additionalProperties === true;
}

function row(node: SchemaNode, { path, required, reload }: At): SchemaRow {
  return {
    path,
    type: typeOf(node),
    required,
    reload,
    default: node.default === undefined ? "" : JSON.stringify(node.default),
    note: [releaseOf(node), node.description ?? "", node.sensitive ? "secret" : "", amountOf(node)].filter(Boolean).join("; "),
  };
}

/** Says which part of a key this release does not serve: all of it, some values, or none. */
function releaseOf({ notInRelease }: SchemaNode): string {
  if (Array.isArray(notInRelease)) return `not part of this release: ${notInRelease.map((value) => `\`${value}\``).join(", ")}`;
  return notInRelease === true ? "**not part of this release**" : "";
}

/** `integer or string`, `"a" or "b"`, `list of string`. */
export function typeOf(node: SchemaNode): string {
  const named = shapeOf(node);
  if (named !== undefined) return named;
  const options = node.anyOf ?? node.oneOf;
  if (options && node.sensitive) return "string or SecretRef";
  if (options) return [...new Set(options.map(typeOf))].join(" or ");
  if (node.enum) return node.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.type === "array") return node.items ? `list of ${typeOf(node.items)}` : "list";
  if (Array.isArray(node.type)) return node.type.join(" or ");
  return node.type ?? "any";
}

/** Name of the shape that a node stands for. */
export function shapeOf(node: SchemaNode): string | undefined {
  return (node.$ref ?? node.allOf?.[0]?.$ref)?.replace("#/$defs/", "");
}

/** Range of a value; of one that may be written as a number or a text, that of the number. */
function amountOf(node: SchemaNode): string {
  return rangeOf(node) || rangeOf(optionsOf(node).find((option) => option.type === "integer") ?? {});
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
