import { z } from "zod";
import { rootSchema } from "./root.ts";

export const REDACTED_VALUE = "__SVC_REDACTED__";

/** Values below plugin and header maps whose names speak of secrets. */
const sensitiveName = /(token|password|secret|api_?key|authorization|credential|cookie)/i;

/** The same tree with every sensitive value replaced; the one function for every output path. */
export function redactConfig(value: unknown): unknown {
  return walk(value, rootSchema, "");
}

function walk(value: unknown, schema: unknown, name: string): unknown {
  if (value === undefined || value === null) return value;
  if (isSensitive(schema) || (typeof value === "string" && sensitiveName.test(name))) return REDACTED_VALUE;
  const inner = unwrap(schema);
  if (Array.isArray(value)) return value.map((v) => walk(v, inner?.def.element, name));
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, walk(v, inner?.def.shape?.[key] ?? inner?.def.valueType, key)]));
}

/** Every sensitive value present, for the logger. */
export function secretsIn(value: unknown): string[] {
  const found: string[] = [];
  const redacted = redactConfig(value);
  const compare = (a: unknown, b: unknown): void => {
    if (typeof a === "string" && b === REDACTED_VALUE) found.push(a);
    else if (typeof a === "object" && a !== null) for (const [k, v] of Object.entries(a)) compare(v, (b as Record<string, unknown>)?.[k]);
  };
  compare(value, redacted);
  return found;
}

/** The text with every known secret replaced; comments and layout stay. */
export function redactText(text: string, source: unknown): string {
  return secretsIn(source).reduce((out, secret) => out.replaceAll(secret, REDACTED_VALUE), text);
}

interface ZodNode {
  def: { type?: string; innerType?: unknown; in?: unknown; element?: unknown; valueType?: unknown; shape?: Record<string, unknown> };
}

function unwrap(schema: unknown): ZodNode | undefined {
  let at = schema as ZodNode | undefined;
  while (at?.def && (at.def.innerType || at.def.type === "pipe")) at = (at.def.innerType ?? at.def.in) as ZodNode | undefined;
  return at;
}

function isSensitive(schema: unknown): boolean {
  for (let at = schema as ZodNode | undefined; at?.def; at = (at.def.innerType ?? at.def.in) as ZodNode | undefined) {
    if (z.globalRegistry.get(at as unknown as z.ZodType)?.sensitive === true) return true;
  }
  return false;
}
