import { isRecord } from "svc/sdk";
import { formatConfigPath, idsOf, sameValue, type Tree } from "svc/sdk/internal";

type Path = ReadonlyArray<string | number>;

/** The merge patch that makes `next` of `current`, with the lists that must be replaced as a whole. */
export function createMergePatch(current: unknown, next: unknown): { patch: unknown; replacePaths: string[] } {
  const replacePaths: string[] = [];
  const differing = (a: unknown, b: unknown, path: Path): unknown => {
    if (Array.isArray(b)) {
      if (Array.isArray(a) && a.length > 0) replacePaths.push(formatConfigPath(path));
      return b;
    }
    if (!isRecord(b)) return b;
    const old = isRecord(a) ? a : {};
    const patch: Tree = {};
    for (const key of Object.keys(old)) if (b[key] === undefined && old[key] !== undefined) patch[key] = null;
    for (const [key, value] of Object.entries(b)) {
      if (value !== undefined && !sameValue(old[key], value)) patch[key] = differing(old[key], value, [...path, key]);
    }
    return patch;
  };
  return { patch: differing(current, next, []), replacePaths };
}

/** Keys and list members (by id) that stand below a path in one tree and no longer in the other. */
export function lostEntries(before: unknown, after: unknown): string[] {
  const names = (value: unknown): string[] =>
    Array.isArray(value) ? (idsOf(value) ?? value.map((_, i) => `[${i}]`)) : isRecord(value) ? Object.keys(value) : [];
  const left = new Set(names(after));
  return names(before).filter((name) => !left.has(name));
}
