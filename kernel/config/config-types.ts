import type { ComposedSchema } from "./compose-schema.ts";
import { deref, isObjectSchema, type SchemaTree } from "./schema-tree.ts";

/**
 * Files for `svc config types`: TypeScript declarations with one interface for each plugin and channel, and the JSON Schema that a config
 * file names in `$schema`. Pure.
 *
 * @returns `dts`: text of `svc-config.d.ts`, exporting `SvcConfig`; `json`: text of `svc.schema.json`
 */
export function configTypes({ schema }: Pick<ComposedSchema, "schema">): { dts: string; json: string } {
  const entries = Object.entries(schema.properties?.plugins?.properties?.entries?.properties ?? {});
  const channels = Object.entries(schema.properties?.channels?.properties ?? {}).filter(([id]) => id !== "defaults");
  const taken = new Set(["SvcConfig"]);
  const names = new Map<SchemaTree, string>();
  const declare = (kind: string, id: string, node: SchemaTree | undefined) => {
    if (!node) return [];
    const name = unusedName(`${kind}${pascal(id)}`, taken);
    names.set(node, name);
    return [{ name, node }];
  };
  const parts = [
    ...entries.flatMap(([id, entry]) => declare("Plugin", `${id}-config`, entry.properties?.config)),
    ...channels.flatMap(([id, body]) => declare("Channel", `${id}-config`, body)),
    ...Object.entries(schema.$defs ?? {}).flatMap(([key, node]) => (names.has(node) ? [] : declare("", key, node))),
  ];
  const texts = [{ name: "SvcConfig", node: schema }, ...parts].map(({ name, node }) => {
    const body = bodyOf(node, { root: schema, names, depth: 0 });
    return `export ${body.startsWith("{") ? `interface ${name} ${body}` : `type ${name} = ${body};`}\n`;
  });
  return { dts: `// Written by svc config types; do not edit.\n\n${texts.join("\n")}`, json: `${JSON.stringify(schema, null, 2)}\n` };
}

interface Writing {
  root: SchemaTree;
  /** Nodes with a declaration of their own. */
  names: ReadonlyMap<SchemaTree, string>;
  depth: number;
}

function typeOf(node: SchemaTree, at: Writing): string {
  const target = deref(node, at.root);
  return at.names.get(node) ?? at.names.get(target) ?? bodyOf(target, at);
}

function bodyOf(node: SchemaTree, at: Writing): string {
  if (node.notInRelease === true) return "never";
  if (node.$ref !== undefined) return typeOf(node, at);
  const options = node.anyOf ?? node.oneOf;
  if (options) return [...new Set(options.map((option) => typeOf(option, at)))].join(" | ");
  if (node.allOf) return node.allOf.map((option) => typeOf(option, at)).join(" & ");
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.enum) return node.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(node.type)) return node.type.map((type) => simpleType(type, node, at)).join(" | ");
  return simpleType(node.type, node, at);
}

function simpleType(type: string | undefined, node: SchemaTree, at: Writing): string {
  if (type === "string" || type === "boolean" || type === "null") return type;
  if (type === "integer" || type === "number") return "number";
  if (type === "array") return `Array<${node.items ? typeOf(node.items, at) : "unknown"}>`;
  if (type === "object" || node.properties) return objectType(node, at);
  return "unknown";
}

function objectType(node: SchemaTree, at: Writing): string {
  const indent = "  ".repeat(at.depth + 1);
  const members = Object.entries(node.properties ?? {}).map(([key, child]) => {
    const optional = node.required?.includes(key) ? "" : "?";
    const about = child.description ? `${indent}/** ${child.description.replaceAll("*/", "*\\/")} */\n` : "";
    return `${about}${indent}${isName(key) ? key : JSON.stringify(key)}${optional}: ${typeOf(child, { ...at, depth: at.depth + 1 })};`;
  });
  const rest = node.additionalProperties;
  if (members.length === 0) return `Record<string, ${isObjectSchema(rest) ? typeOf(rest, at) : rest === false ? "never" : "unknown"}>`;
  // An index signature must admit the types of the named keys beside it; only `unknown` admits them all.
  const open = rest === true || isObjectSchema(rest) ? [`${indent}[key: string]: unknown;`] : [];
  return `{\n${[...members, ...open].join("\n")}\n${"  ".repeat(at.depth)}}`;
}

function isName(key: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(key);
}

function pascal(id: string): string {
  const words = id.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** Two ids may become one name: `a-b` and `a.b`. */
function unusedName(name: string, taken: Set<string>): string {
  let free = name;
  for (let i = 2; taken.has(free); i++) free = `${name}${i}`;
  taken.add(free);
  return free;
}
