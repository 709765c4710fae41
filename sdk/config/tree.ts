import { isRecord } from "../is-record.ts";

/** Keys that would reach an object's prototype; refused wherever config comes in. */
export const forbiddenConfigKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** An object of a config tree. */
export type Tree = Record<string, unknown>;

/** Equality of JSON5 values; a key whose value is `undefined` counts as absent. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === "number" && typeof b === "number") return Number.isNaN(a) && Number.isNaN(b);
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((value, i) => sameValue(value, b[i]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const present = (tree: Tree) => Object.keys(tree).filter((key) => tree[key] !== undefined);
  const keys = present(a);
  return keys.length === present(b).length && keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]));
}

/** Own value under a key or index; never one of a prototype. */
export function ownValue(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return typeof key === "number" || /^\d+$/.test(key) ? value[Number(key)] : undefined;
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Ids of a list whose members are all objects with an `id` of their own, each once; undefined for any other list. */
export function idsOf(list: readonly unknown[]): string[] | undefined {
  const ids = list.map((item) => (isRecord(item) && typeof item.id === "string" ? item.id : undefined));
  if (ids.some((id) => id === undefined) || new Set(ids).size !== ids.length) return undefined;
  return ids as string[];
}
