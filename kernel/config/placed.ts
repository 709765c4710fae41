import { isActiveSecret, secretOwner } from "../secrets/owner.ts";
import { asSecretRef } from "../secrets/ref.ts";
import type { ResolvedRef, SecretFault } from "../secrets/state.ts";
import { sensitiveTexts } from "./sensitive-texts.ts";

/** A copy with every ref replaced by its value; one without a value is left out. */
export function placed(tree: unknown, refs: ReadonlyMap<string, ResolvedRef>): unknown {
  const walk = (value: unknown, path: string): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (asSecretRef(value)) return refs.get(path)?.value;
    const entries = Object.entries(value).map(([key, inner]) => [key, walk(inner, path === "" ? key : `${path}.${key}`)] as const);
    const present = entries.filter(([, inner]) => inner !== undefined);
    return Array.isArray(value) ? present.map(([, inner]) => inner) : Object.fromEntries(present);
  };
  return walk(tree, "");
}

/** Resolved values by path: of refs, and of everything that is redacted when it is shown. */
export function secretValues(resolved: unknown, refs: ReadonlyMap<string, ResolvedRef>): Map<string, string> {
  const found = new Map(sensitiveTexts(resolved).map(({ path, text }) => [path.join("."), text]));
  for (const [path, { value }] of refs) if (value !== undefined) found.set(path, value);
  return found;
}

/** Secrets in use that are written with a variable which has no value: whoever needs one is as badly off as with a reference that failed. */
export function variableFaults(source: unknown, unresolved: ReadonlyArray<{ path: string; reason: string }>): SecretFault[] {
  if (unresolved.length === 0) return [];
  const reasons = new Map(unresolved.map(({ path, reason }) => [path, reason]));
  return sensitiveTexts(source).flatMap(({ path }) => {
    const reason = reasons.get(path.join("."));
    return reason && isActiveSecret(path, source) ? [{ path: path.join("."), owner: secretOwner(path, source), reason }] : [];
  });
}
