import { createHash } from "node:crypto";

/** A short name for a value: the same for equal ones. */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}
