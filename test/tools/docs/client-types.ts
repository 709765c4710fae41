import type { MethodDocument } from "../../../sdk/types/protocol-document.ts";
import type { JsonSchema } from "../../../sdk/types/schema.ts";

/** Writes `sdk/protocol/plugin-methods.ts`: the types of the methods that bundled plugins serve, from their JSON Schemas. */
export function clientTypes(methods: Readonly<Record<string, MethodDocument>>): string {
  const rows = Object.entries(methods).map(
    ([name, { params, result }]) =>
      `  ${JSON.stringify(name)}: {\n    params: ${typeOf(params, " | undefined")};\n    result: ${typeOf(result, "")};\n  };\n`,
  );
  return [
    "// Written by npm run docs; do not edit.\n\n",
    "/** Methods that bundled plugins serve, from the tables beside their manifests. */\n",
    `export interface PluginMethods {\n${rows.join("")}}\n`,
  ].join("");
}

/** @param absent what an optional member may be besides absent: params may be given as undefined, answers never are */
function typeOf(schema: JsonSchema | true | undefined, absent: string): string {
  if (typeof schema !== "object") return "unknown";
  const node = schema as Node;
  const options = node.anyOf ?? node.oneOf;
  if (options) return [...new Set(options.map((option) => typeOf(option, absent)))].join(" | ");
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.enum) return node.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (node.type === "string" || node.type === "boolean" || node.type === "null") return node.type;
  if (node.type === "integer" || node.type === "number") return "number";
  if (node.type === "array") return `Array<${typeOf(node.items, absent)}>`;
  if (node.type !== "object") return "unknown";
  const members = Object.entries(node.properties ?? {}).map(([key, child]) => {
    const isRequired = node.required?.includes(key);
    return `${key}${isRequired ? "" : "?"}: ${typeOf(child, absent)}${isRequired ? "" : absent}`;
  });
  if (members.length > 0) return `{ ${members.join("; ")} }`;
  return node.additionalProperties === false ? "Record<string, never>" : `Record<string, ${typeOf(node.additionalProperties, absent)}>`;
}

interface Node {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | false;
}
