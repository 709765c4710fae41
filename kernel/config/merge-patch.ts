import { forbiddenConfigKeys, idsOf, ownValue, type Tree } from "../../sdk/config/tree.ts";
import { formatConfigPath } from "../../sdk/internal/config-paths.ts";
import { sharedErrors } from "../../sdk/internal/errors.ts";
import { isRecord } from "../../sdk/is-record.ts";

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
      throw sharedErrors.configPathInvalid({ path: formatConfigPath([...here.path, key]), reason: `the key ${key} is not allowed` });
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
    throw sharedErrors.configEntriesLost({
      path,
      lost: `${target.length - patch.length} of ${target.length} list entries`,
      advice: `name ${path} in replacePaths (--replace-path)`,
    });
  }
  return fresh();
}
