import { REDACTED, withEdit } from "./config-edits.js";
import { hintAt } from "./config-facts.js";
import { formatPath, isSame, isTree, valueAt, withValue } from "./config-paths.js";

/**
 * Change that a save would make: the patch that travels, and the difference value by value. Pure.
 *
 * @typedef {import("./config-paths.js").Path} Path
 * @typedef {import("./config-types.js").Edit} Edit
 * @typedef {import("./config-types.js").Edits} Edits
 * @typedef {import("./config-types.js").Change} Change
 */

/** Is it, or what it belongs to, a secret? @param {import("./config-types.js").Model} model @param {Path} path */
export function isSecret({ hints }, path) {
  return path.some((_, i) => hintAt(hints, path.slice(0, i + 1)).sensitive);
}

/**
 * Merge patch that makes one config of the other: what is the same does not travel, and neither does a placeholder.
 * @param {unknown} before @param {unknown} after
 * @returns {{ patch: Record<string, any>, replacePaths: string[], hidden: string[] }} `replacePaths`: lists that are taken as they stand; `hidden`: places where a
 *   placeholder would have to travel
 */
export function patchOf(before, after) {
  /** @type {{ replacePaths: string[], hidden: string[] }} */
  const noted = { replacePaths: [], hidden: [] };
  const patch = deltaOf(before, after, [], noted);
  return { patch: isTree(patch) ? patch : {}, ...noted };
}

/** @param {unknown} before @param {unknown} after @param {Array<string | number>} path @param {{ replacePaths: string[], hidden: string[] }} noted @returns {any} */
function deltaOf(before, after, path, noted) {
  if (isSame(before, after)) return undefined;
  if (isTree(after)) return treeDelta(isTree(before) ? before : undefined, after, path, noted);
  if (Array.isArray(after) && Array.isArray(before)) {
    const members = memberDeltas(before, after, path, noted);
    if (members) return members;
    noted.replacePaths.push(formatPath(path));
  }
  if (JSON.stringify(after).includes(REDACTED)) {
    noted.hidden.push(formatPath(path));
    return undefined;
  }
  return after;
}

/** @param {Record<string, unknown> | undefined} before @param {Record<string, unknown>} after @param {Array<string | number>} path @param {any} noted */
function treeDelta(before, after, path, noted) {
  const gone = Object.keys(before ?? {}).filter((key) => !Object.hasOwn(after, key));
  // The gateway takes a file that becomes much smaller for a mistake, unless what goes is named.
  for (const key of gone) if (typeof before?.[key] === "object") noted.replacePaths.push(formatPath([...path, key]));
  const changed = Object.entries(after).map(([key, value]) => [key, deltaOf(valueAt(before, [key]), value, [...path, key], noted)]);
  return Object.fromEntries([...gone.map((key) => [key, null]), ...changed.filter(([, value]) => value !== undefined)]);
}

/** Lists of members with ids are merged by them, as long as none of them goes or moves. @param {unknown[]} before @param {unknown[]} after @param {Array<string | number>} path @param {any} noted */
function memberDeltas(before, after, path, noted) {
  const [old, next] = [idsOf(before), idsOf(after)];
  if (!old || !next || old.some((id, i) => id !== next[i])) return undefined;
  const deltas = after.map((value, i) => deltaOf(before[i], value, [...path, i], noted));
  return deltas.flatMap((delta, i) => (delta === undefined ? [] : [{ ...delta, id: next[i] }]));
}

/** @param {unknown[]} list @returns {string[] | undefined} */
function idsOf(list) {
  const ids = list.map((one) => (isTree(one) && typeof one.id === "string" ? one.id : undefined));
  return ids.every((id) => id !== undefined) && new Set(ids).size === ids.length ? /** @type {string[]} */ (ids) : undefined;
}

/** Every value that differs, lists as a whole. @param {unknown} before @param {unknown} after @param {import("./config-types.js").Model} model @returns {Change[]} */
export function changesOf(before, after, model) {
  /** @type {Change[]} */
  const found = [];
  /** @param {unknown} a @param {unknown} b @param {string[]} path */
  const compare = (a, b, path) => {
    if (isSame(a, b)) return;
    const hides = isSecret(model, path);
    const isInner = !hides && (isTree(a) || a === undefined) && (isTree(b) || b === undefined) && (isTree(a) || isTree(b));
    const keys = isInner ? [...new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})])] : [];
    if (keys.length === 0)
      found.push({ path, before: a, after: b, isSecret: hides || JSON.stringify([a ?? 0, b ?? 0]).includes(REDACTED) });
    for (const key of keys) compare(valueAt(a, [key]), valueAt(b, [key]), [...path, key]);
  };
  compare(before, after, []);
  return found;
}

/** Edits that a tab may keep: none with a secret. @param {Edits} edits @param {unknown} stored @param {import("./config-types.js").Model} model @returns {Edit[]} */
export function keepable(edits, stored, model) {
  return [...edits.values()].filter((edit) => {
    if (isSecret(model, edit.path) || isTelling(edit.path)) return false;
    if (edit.problem !== undefined) return !holdsSecrets(edit.path, model);
    const after = withValue(stored, edit.path, edit.value);
    return changesOf(stored, after, model).every((change) => !change.isSecret && !isTelling(change.path));
  });
}

/** May the last name of a path be that of a secret? Free names, such as those of variables, are known to no schema. @param {Path} path */
function isTelling(path) {
  return /token|secret|passw|key|credential|auth/i.test(path.at(-1) ?? "");
}

/** A text that is no value yet cannot be looked into. @param {Path} path @param {import("./config-types.js").Model} model */
function holdsSecrets(path, { hints }) {
  /** @param {import("./config-types.js").Hints} at @returns {boolean} */
  const has = (at) => at.hint?.sensitive === true || [...at.children.values()].some(has);
  /** @param {import("./config-types.js").Hints} at @param {number} depth @returns {boolean} */
  const reach = (at, depth) => {
    if (depth === path.length) return has(at);
    return [at.children.get(path[depth] ?? ""), at.children.get("*")].some((next) => next !== undefined && reach(next, depth + 1));
  };
  return reach(hints, 0);
}

/** Edits on top of another config: those that it has already are gone. @param {Edits} edits @param {unknown} stored @returns {Edits} */
export function carriedOver(edits, stored) {
  const inOrder = [...edits.values()].sort((a, b) => a.path.length - b.path.length);
  return inOrder.reduce((/** @type {Edits} */ made, edit) => withEdit(made, edit, stored), new Map());
}
