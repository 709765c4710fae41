import { cleanExternalLine, type JsonSchema, type Schema } from "svc/sdk";
import type { ListedTool } from "./library.ts";

const MAX_DESCRIPTION_CHARS = 1_000;
const MAX_NOTE_CHARS = 300;
const MAX_NAME_CHARS = 128;
const MAX_SCHEMA_CHARS = 16_000;
const MAX_DEPTH = 12;
const MAX_NODES = 2_000;
/** Keys without use for a model. Nobody here runs the patterns of a foreign schema: the server checks the arguments itself. */
const dropped = new Set([
  "$schema",
  "$id",
  "$comment",
  "examples",
  "pattern",
  "patternProperties",
  "__proto__",
  "constructor",
  "prototype",
]);
const notes = new Set(["description", "title"]);

/** Describes a tool of a server to models: by its own words, cleaned, on one line and cut. Pure. */
export function describeTool(server: string, { name, title, description }: ListedTool): string {
  const words = [description, title, name].find((text) => typeof text === "string" && text.trim() !== "") ?? "";
  return `Tool of the MCP server ${server}. ${cleanExternalLine(words, MAX_DESCRIPTION_CHARS)}`.trim();
}

/**
 * Arguments of a tool as its server declares them, for models only: any object passes, since the server checks what it gets. A schema that is too large or too
 * deep is the open object.
 */
export function toolInput(declared: unknown): Schema<Record<string, unknown>> {
  const shown = shownSchema(declared);
  const own = {
    "~standard": {
      version: 1 as const,
      vendor: "mcp",
      validate: (value: unknown) =>
        isObject(value)
          ? { value }
          : { issues: [{ message: `expected an object, received ${Array.isArray(value) ? "array" : typeof value}` }] },
    },
    toJSONSchema: () => shown,
  };
  return own;
}

/** The schema without what a model has no use for, its texts cleaned and cut. Pure. */
export function shownSchema(declared: unknown): JsonSchema {
  const open = { type: "object", properties: {} };
  const left = { nodes: MAX_NODES };
  try {
    const schema = isObject(declared) ? cleaned(declared, 0, left) : undefined;
    if (!isObject(schema)) return open;
    const shown = { ...schema, type: "object", properties: isObject(schema.properties) ? schema.properties : {} };
    return JSON.stringify(shown).length > MAX_SCHEMA_CHARS ? open : shown;
  } catch (error) {
    if (error === tooLarge) return open;
    throw error;
  }
}

const tooLarge = new Error("the schema is too large");

function cleaned(value: unknown, depth: number, left: { nodes: number }): unknown {
  left.nodes--;
  if (depth > MAX_DEPTH || left.nodes < 0) throw tooLarge;
  if (typeof value === "string") return cleanExternalLine(value, MAX_NOTE_CHARS);
  if (Array.isArray(value)) return value.map((one) => cleaned(one, depth + 1, left));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, one]): Array<[string, unknown]> => {
    if (dropped.has(key) || key.length > MAX_NAME_CHARS || cleanExternalLine(key) !== key) return [];
    // A property may be called `description`; then it holds a schema.
    if (notes.has(key) && typeof one !== "string" && !isObject(one)) return [];
    return [[key, cleaned(one, depth + 1, left)]];
  });
  return Object.fromEntries(entries);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
