import { isRecord } from "../is-record.ts";
import { configErrors } from "./errors.ts";
import { formatConfigPath } from "./paths.ts";
import { forbiddenConfigKeys, idsOf, ownValue, sameValue, type Tree } from "./tree.ts";

type Path = ReadonlyArray<string | number>;

/**
 * JSON merge patch (RFC 7396) with one addition: a list of `{id}` is merged into one by id, its new members go to the end.
 * @param replacePaths paths, as `formatConfigPath` writes them, of lists that are taken as they stand in the patch and may lose members
 * @throws {SvcError} `config-entries-lost` when a list would lose members that way is not open to, `config-path-invalid` for forbidden keys
 */
export function applyMergePatch(target: unknown, patch: unknown, replacePaths: readonly string[] = []): unknown {
  return merged(target, patch, { path: [], replace: new Set(replacePaths) });
}

interface Here {
  path: Path;
  replace: ReadonlySet<string>;
}

function merged(target: unknown, patch: unknown, here: Here): unknown {
  if (Array.isArray(patch)) return mergedList(Array.isArray(target) ? target : undefined, patch, here);
  if (!isRecord(patch)) return patch;
  const out: Tree = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (forbiddenConfigKeys.has(key)) {
      throw configErrors.configPathInvalid({ path: formatConfigPath([...here.path, key]), reason: `the key ${key} is not allowed` });
    }
    if (value === null) delete out[key];
    else out[key] = merged(ownValue(target, key), value, { ...here, path: [...here.path, key] });
  }
  return out;
}

function mergedList(target: readonly unknown[] | undefined, patch: readonly unknown[], here: Here): unknown {
  const fresh = () => patch.map((value, i) => merged(undefined, value, { ...here, path: [...here.path, i] }));
  if (!target || here.replace.has(formatConfigPath(here.path))) return fresh();
  const [oldIds, newIds] = [idsOf(target), idsOf(patch)];
  if (oldIds && newIds && (oldIds.length > 0 || newIds.length > 0)) {
    const byId = new Map(newIds.map((id, i) => [id, patch[i]]));
    const kept = target.map((value, i) => {
      const id = oldIds[i] as string;
      return byId.has(id) ? merged(value, byId.get(id), { ...here, path: [...here.path, i] }) : value;
    });
    const added = patch.filter((_, i) => !oldIds.includes(newIds[i] as string));
    return [...kept, ...added.map((value, i) => merged(undefined, value, { ...here, path: [...here.path, kept.length + i] }))];
  }
  if (patch.length < target.length) {
    const path = formatConfigPath(here.path);
    throw configErrors.configEntriesLost({
      path,
      lost: `${target.length - patch.length} of ${target.length} list entries`,
      advice: `name ${path} in replacePaths (--replace-path)`,
    });
  }
  return fresh();
}

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
