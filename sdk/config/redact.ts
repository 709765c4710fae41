import { z } from "zod";
import { rootSchema } from "./root.ts";

export const REDACTED_VALUE = "__SVC_REDACTED__";

/** Values in maps this schema does not know (plugin config, headers) whose names speak of secrets. */
const sensitiveName = /(token|password|secret|api[-_]?key|authorization|credential|cookie)/i;

/** The same tree with every sensitive value replaced; the one function for every output path. */
export function redactConfig(value: unknown): unknown {
  return walk(value, rootSchema, "");
}

/** @param name of the key, where the schema does not know it; a name that speaks of secrets covers everything below it */
function walk(value: unknown, schema: unknown, name: string): unknown {
  if (value === undefined || value === null) return value;
  if (isSensitive(schema) || (typeof value === "string" && sensitiveName.test(name))) return REDACTED_VALUE;
  const inner = unwrap(schema);
  if (Array.isArray(value)) return value.map((v) => walk(v, inner?.def.element, name));
  if (typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, v]) => {
      const known = inner?.def.shape?.[key];
      return [key, known ? walk(v, known, "") : walk(v, inner?.def.valueType, sensitiveName.test(name) ? name : key)];
    }),
  );
}

/** Every sensitive value present, longest first, so that replacing one leaves no rest of another. */
export function secretsIn(value: unknown): string[] {
  const found: string[] = [];
  const redacted = redactConfig(value);
  const compare = (a: unknown, b: unknown): void => {
    if (typeof a === "string" && b === REDACTED_VALUE) found.push(a);
    else if (typeof a === "object" && a !== null) for (const [k, v] of Object.entries(a)) compare(v, (b as Record<string, unknown>)?.[k]);
  };
  compare(value, redacted);
  return found.sort((a, b) => b.length - a.length);
}

/**
 * The text with every known secret replaced; comments and layout stay.
 * When a secret does not stand in the text as it is (it was written with escapes), the redacted tree is given instead.
 */
export function redactText(text: string, source: unknown): string {
  const secrets = secretsIn(source);
  if (secrets.some((secret) => !text.includes(secret))) return JSON.stringify(redactConfig(source), null, 2);
  return secrets.reduce((out, secret) => out.replaceAll(secret, REDACTED_VALUE), text);
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
