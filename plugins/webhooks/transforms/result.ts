import type { TransformResult } from "../mappings/mapping.ts";
import { transformErrors } from "./errors.ts";

/** Keys that would reach into an object's machinery when they are copied. */
const machinery = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Interprets the answer of a transform. The fields themselves are not yet checked.
 * @param value plain JSON, null or `undefined`
 * @throws {SvcError} `transform-failed`
 */
export function toTransformResult(module: string, value: unknown): TransformResult {
  if (value === undefined) return { kind: "keep" };
  if (value === null) return { kind: "skip" };
  if (typeof value !== "object" || Array.isArray(value)) {
    const got = Array.isArray(value) ? "a list" : `a ${typeof value}`;
    throw transformErrors.transformFailed({ module, reason: `${module}: expected null, undefined or an object, got ${got}` });
  }
  return { kind: "fields", fields: Object.fromEntries(Object.entries(value).filter(([key]) => !machinery.has(key))) };
}
