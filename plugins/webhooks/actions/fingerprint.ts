import { hash } from "node:crypto";

/** SHA-256, hex, over resolved fields in a fixed order; a field that is absent is unlike any value. */
export function fingerprintOf(fields: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return hash("sha256", JSON.stringify(sorted.filter(([, value]) => value !== undefined)), "hex");
}
