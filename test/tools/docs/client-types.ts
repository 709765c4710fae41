import type { ProtocolDocument } from "../../../kernel/loader/protocol-document.ts";
import type { JsonSchema } from "../../../sdk/types/schema.ts";
import type { ReferenceInput } from "./pages.ts";

/** Writes `sdk/protocol/plugin-methods.ts`: the types of the methods that bundled plugins serve and the events that they send, from their JSON Schemas. */
export function clientTypes(documents: readonly ProtocolDocument[]): string {
  const methods = documents.flatMap((document) => Object.entries(document.methods));
  const events = documents.flatMap(({ events = {} }) => Object.entries(events));
  const shapes = documents.flatMap(({ $defs = {} }) => Object.entries($defs));
  const methodRows = methods.map(
    ([name, { params, result }]) =>
      `  ${JSON.stringify(name)}: { params: ${typeOf(params, " | undefined")}; result: ${typeOf(result, "")} };\n`,
  );
  const eventRows = events.map(([name, { payload }]) => `  ${JSON.stringify(name)}: ${typeOf(payload, "")};\n`);
  return [
    "// Written by npm run docs; do not edit.\n\n",
    ...shapes.map(([name, shape]) => `type ${name} = ${typeOf(shape, "")};\n\n`),
    "/** Methods that bundled plugins serve, from the tables beside their manifests. */\n",
    `export interface PluginMethods {\n${methodRows.join("")}}\n\n`,
    "/** Payloads of the events that bundled plugins send, from the same tables. */\n",
    `export interface PluginEvents {\n${eventRows.join("")}}\n`,
  ].join("");
}

type Fields = ReferenceInput["errors"][number]["fields"];

/**
 * Writes `sdk/protocol/error-details.ts`: the fields of `error.details` by its code, from the schemas of the errors. A code that several errors carry has the
 * fields of all.
 */
export function errorDetailsTypes({ errors, chosenDetailsCodes }: Pick<ReferenceInput, "errors" | "chosenDetailsCodes">): string {
  const byCode = new Map<string, Fields>();
  let withoutCode: Fields = {};
  for (const { code, details, fields } of errors) {
    const codes = details === undefined ? Object.keys(chosenDetailsCodes[code] ?? {}) : [details];
    for (const one of codes) byCode.set(one, { ...byCode.get(one), ...fields });
    if (codes.length === 0) withoutCode = { ...withoutCode, ...fields };
  }
  const typeOfFields = (properties: Fields) =>
    Object.keys(properties).length === 0 ? "unknown" : typeOf({ type: "object", properties } as JsonSchema, "");
  const rows = [...byCode].sort(([a], [b]) => (a < b ? -1 : 1)).map(([code, fields]) => `  ${code}: ${typeOfFields(fields)};\n`);
  return [
    "// Written by npm run docs; do not edit.\n\n",
    "/** Fields of `error.details` beside its `code`, by that code. */\n",
    `export interface ErrorDetailsByCode {\n${rows.join("")}}\n\n`,
    "/** Fields of `error.details` of errors that have no `details.code`. */\n",
    `export type DetailsWithoutCode = ${typeOfFields(withoutCode)};\n`,
  ].join("");
}

/** @param absent what an optional member may be besides absent: params may be given as undefined, answers never are */
function typeOf(schema: JsonSchema | true | undefined, absent: string): string {
  if (typeof schema !== "object") return "unknown";
  const node = schema as Node;
  if (node.$ref !== undefined) return node.$ref.slice("#/$defs/".length);
  const options = node.anyOf ?? node.oneOf;
  if (options) return [...new Set(options.map((option) => typeOf(option, absent)))].join(" | ");
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.enum) return node.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(node.type)) return node.type.map((type) => typeOf({ ...node, type }, absent)).join(" | ");
  if (node.type === "string" || node.type === "boolean" || node.type === "null") return node.type;
  if (node.type === "integer" || node.type === "number") return "number";
  if (node.type === "array") return `Array<${typeOf(node.items, absent)}>`;
  if (node.type !== "object") return "unknown";
  const members = Object.entries(node.properties ?? {}).map(([key, child]) => {
    const isRequired = node.required?.includes(key);
    return `${key}${isRequired ? "" : "?"}: ${typeOf(child, absent)}${isRequired ? "" : absent}`;
  });
  const rest = node.additionalProperties;
  if (members.length === 0) return rest === false ? "Record<string, never>" : `Record<string, ${typeOf(rest, absent)}>`;
  // A loose object has an empty schema for the rest; one that says nothing of it is closed to whoever reads it.
  return `{ ${[...members, ...(typeof rest === "object" ? ["[key: string]: unknown"] : [])].join("; ")} }`;
}

interface Node {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | false;
}
