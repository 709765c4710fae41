import type { ComposedSchema } from "./compose-schema.ts";
import { deref, isObjectSchema, type SchemaTree } from "./schema-tree.ts";

/** Deepest level that gets a type of its own; below it everything is `unknown`. */
const MAX_DEPTH = 12;

/**
 * Files for `svc config types`: TypeScript declarations with one interface for each plugin and channel, and the JSON Schema that a config
 * file names in `$schema`. Pure.
 *
 * @returns `dts`: text of `svc-config.d.ts`, exporting `SvcConfig`; `json`: text of `svc.schema.json`
 */
export function configTypes({ schema }: Pick<ComposedSchema, "schema">): { dts: string; json: string } {
  const entries = Object.entries(schema.properties?.plugins?.properties?.entries?.properties ?? {});
  const channels = Object.entries(schema.properties?.channels?.properties ?? {}).filter(([id]) => id !== "defaults");
  const named = new Map<SchemaTree, string>();
  const taken = new Set(["SvcConfig"]);
  const declare = (kind: string, id: string, node: SchemaTree | undefined) => {
    if (!node) return [];
    const name = unusedName(`${kind}${pascal(id)}Config`, taken);
    named.set(node, name);
    return [{ name, node, about: `\`${kind === "Plugin" ? `plugins.entries.${id}.config` : `channels.${id}`}\`` }];
  };
  const parts = [
    ...entries.flatMap(([id, entry]) => declare("Plugin", id, entry.properties?.config)),
    ...channels.flatMap(([id, body]) => declare("Channel", id, body)),
  ];
  const whole = { name: "SvcConfig", node: schema, about: "The config file, as written" };
  const texts = [whole, ...parts].map(({ name, node, about }) => {
    const body = objectType(node, { root: node.$id === undefined ? schema : node, named, depth: 0 });
    return `/** ${about}. */\nexport ${body.startsWith("{") ? `interface ${name} ${body}` : `type ${name} = ${body};`}\n`;
  });
  return { dts: `// Written by svc config types; do not edit.\n\n${texts.join("\n")}`, json: `${JSON.stringify(schema, null, 2)}\n` };
}

interface Writing {
  root: SchemaTree;
  named: ReadonlyMap<SchemaTree, string>;
  depth: number;
}

function typeOf(node: SchemaTree, at: Writing): string {
  const name = at.named.get(node);
  if (name) return name;
  const root = node.$id === undefined ? at.root : node;
  const target = deref(node, root);
  if (at.depth > MAX_DEPTH) return "unknown";
  const inner = { ...at, root, depth: at.depth + 1 };
  const options = target.anyOf ?? target.oneOf;
  if (options) return [...new Set(options.map((option) => typeOf(option, inner)))].join(" | ");
  if (target.allOf) return target.allOf.map((option) => typeOf(option, inner)).join(" & ");
  if (target.const !== undefined) return JSON.stringify(target.const);
  if (target.enum) return target.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(target.type)) return target.type.map((type) => simpleType(type, target, inner)).join(" | ");
  return simpleType(target.type, target, inner);
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
    return `${about}${indent}${isName(key) ? key : JSON.stringify(key)}${optional}: ${typeOf(child, at)};`;
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
