import { z } from "zod";
import type { JsonSchema, Schema } from "./types/schema.ts";

/** JSON Schema of a tool input, whichever way it was declared. Unknown schema libraries get the open object. */
export function toJsonSchema(schema: Schema | JsonSchema): JsonSchema {
  if (!("~standard" in schema)) return schema;
  if (schema instanceof z.ZodType) return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema;
  const own = (schema as { toJSONSchema?: () => JsonSchema }).toJSONSchema;
  return typeof own === "function" ? own.call(schema) : { type: "object" };
}

/** A validator for whichever form the schema has. */
export function toSchema(schema: Schema | JsonSchema): Schema {
  return "~standard" in schema
    ? (schema as Schema)
    : (z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]) as unknown as Schema);
}

/** Issues of a validation as `path: reason; …`. */
export function formatIssues(
  issues: ReadonlyArray<{
    message: string;
    path?: ReadonlyArray<PropertyKey | { key: PropertyKey }> | undefined;
    code?: string;
    keys?: string[];
  }>,
): string {
  return issues
    .map((issue) => {
      const path = (issue.path ?? []).map((p) => String(typeof p === "object" ? p.key : p)).join(".");
      const message =
        issue.code === "unrecognized_keys" && issue.keys
          ? `unexpected property '${issue.keys.join("', '")}'`
          : issue.message.replace(/^Invalid input: /, "");
      return `at ${path || "root"}: ${message}`;
    })
    .join("; ");
}
