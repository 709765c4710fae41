import { isRecord } from "svc/sdk";
import { formatConfigPath, idsOf, parseConfigPath, resolveConfigPath, sameValue, type Tree, valueAt, withValueAt } from "svc/sdk/internal";
import type { LeftOut } from "./left-out.ts";

/** A config with additions, and the additions that were not needed or not possible. */
export interface Merged {
  config: Tree;
  leftOut: LeftOut[];
}

const KEPT = "it is set here to another value, which stays";

/** Adds values that are not set yet. A value that is set stays; lists of objects with ids are merged by id, other lists count as one value. */
export function mergeConfig(present: Tree, wanted: Tree): Merged {
  const merged: Merged = { config: present, leftOut: [] };
  merged.config = mergeTree(present, wanted, { path: [], merged });
  return merged;
}

interface Place {
  path: ReadonlyArray<string | number>;
  merged: Merged;
}

function mergeTree(present: Tree, wanted: Tree, { path, merged }: Place): Tree {
  const out: Tree = { ...present };
  for (const [key, value] of Object.entries(wanted)) {
    out[key] = mergeValue(Object.hasOwn(present, key) ? present[key] : undefined, value, { path: [...path, key], merged });
  }
  return out;
}

function mergeValue(present: unknown, wanted: unknown, place: Place): unknown {
  const { path, merged } = place;
  if (present === undefined) return wanted;
  if (isRecord(present) && isRecord(wanted)) return mergeTree(present, wanted, place);
  if (Array.isArray(present) && Array.isArray(wanted) && idsOf(present) && idsOf(wanted))
    return mergeList(present, wanted as Tree[], place);
  // A channel that was imported before may have been switched on meanwhile.
  const isSwitch = path[0] === "channels" && path.at(-1) === "enabled";
  if (!isSwitch && !sameValue(present, wanted)) merged.leftOut.push({ path: `config:${formatConfigPath(path)}`, reason: KEPT });
  return present;
}

/** The agent that answers where none is named stays the one that it is. */
function mergeList(present: Tree[], wanted: Tree[], { path, merged }: Place): Tree[] {
  const list = [...present];
  for (const { default: isDefault, ...entry } of wanted) {
    const at = list.findIndex(({ id }) => id === entry.id);
    const before = list[at];
    if (before) list[at] = mergeTree(before, entry, { path: [...path, at], merged });
    else list.push(entry);
    if (isDefault === true && before?.default !== true) {
      merged.leftOut.push({
        path: `config:${formatConfigPath(path)}[id=${entry.id}].default`,
        reason: "another agent is the default here",
      });
    }
  }
  return list;
}

/** One thing that the config's checks found. */
export interface Issue {
  path: string;
  message: string;
}

/** Most rounds of checks: each finds all faults of one kind at once. */
const MAX_ROUNDS = 12;

/**
 * Takes additions away until the checks accept the config.
 * @param check faults of a config; none when it can be written
 * @returns the present config when a fault lies in no addition
 */
export async function fitConfig(present: Tree, merged: Merged, check: (config: Tree) => Promise<Issue[]>): Promise<Merged> {
  let { config } = merged;
  const leftOut = [...merged.leftOut];
  for (let left = MAX_ROUNDS; left > 0; left--) {
    const issues = await check(config);
    if (issues.length === 0) return { config, leftOut };
    const before = config;
    // Later members of a list go first, so that the places of earlier ones stay what they are.
    for (const { path, message } of issues.toSorted((a, b) => comparePaths(b.path, a.path))) {
      const next = removeAddition(present, config, path);
      if (next === config) continue;
      config = next;
      leftOut.push({ path: `config:${path}`, reason: message });
    }
    if (config === before) {
      leftOut.push(
        ...issues.map(({ path, message }) => ({ path: `config:${path}`, reason: `nothing of the config was taken over: ${message}` })),
      );
      break;
    }
  }
  return { config: present, leftOut };
}

function removeAddition(present: Tree, config: Tree, text: string): Tree {
  try {
    const path = resolveConfigPath(config, parseConfigPath(text));
    if (path.length === 0) return config;
    // A fault of something that is missing or stands here already: the part around it goes, as far as it was added.
    for (let end = path.length; end > 0; end--) {
      const part = path.slice(0, end);
      const value = valueAt(config, part);
      if (value !== undefined && valueAt(present, part) === undefined) return withValueAt(config, part, undefined) as Tree;
    }
  } catch {
    return config;
  }
  return config;
}

function comparePaths(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
