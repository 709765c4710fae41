import type { JsonObject } from "svc/sdk";
import { isIdField, toIdField } from "../actions/id-fields.ts";
import { mappingFailed } from "../actions/refusal.ts";

const texts = ["agentId", "sessionKey"] as const;
const wakeFields = { text: "string", mode: "string" } as const;
const agentTexts = ["message", "name", "wakeMode", "sessionMode", "channel", "to", "model", "thinking"] as const;

type FieldType = "string" | "boolean" | "number";

/** Fields that a transform may set, by the kind of action, with their type. Everything else it returns means nothing. */
const settable: Readonly<Record<"wake" | "agent", Readonly<Record<string, FieldType>>>> = {
  wake: { ...ofType(texts, "string"), ...wakeFields },
  agent: { ...ofType([...texts, ...agentTexts], "string"), deliver: "boolean", timeoutSeconds: "number" },
};

function ofType(names: readonly string[], type: FieldType): Record<string, FieldType> {
  return Object.fromEntries(names.map((name) => [name, type]));
}

/** Fields of a transform that override the templates. */
export interface TransformFields {
  kind: "wake" | "agent";
  fields: JsonObject;
}

/**
 * The fields of a transform's answer that count, each of its type; whether their values may be used is asked later.
 * @param standard kind of the mapping
 * @throws {SvcError} `hook-mapping-failed`
 */
export function readTransformFields(answer: JsonObject, standard: "wake" | "agent"): TransformFields {
  const kind = Object.hasOwn(answer, "kind") ? answer.kind : standard;
  if (kind !== "wake" && kind !== "agent") throw mappingFailed('the transform returned a "kind" that is neither "wake" nor "agent"');
  const fields: JsonObject = {};
  for (const [name, type] of Object.entries(settable[kind])) {
    if (!Object.hasOwn(answer, name)) continue;
    const value = answer[name];
    if (typeof value !== type) throw mappingFailed(`the transform returned ${kindOf(value)} as "${name}"; expected a ${type}`);
    fields[name] = isIdField(name) ? toIdField(name, value as string) : value;
  }
  return { kind, fields };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
