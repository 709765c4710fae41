import { formatPath, isSame, isWithin, valueAt, withValue } from "./config-paths.js";

/** Edits of the config that were not saved, and what they make of it. Pure. @import { Edit, Edits } from "./config-types.js" */

/** Stands in answers where a secret is. */
export const REDACTED = "__SVC_REDACTED__";

/** The config with the edits in it. @param {unknown} tree @param {Edits} edits @returns {any} */
export function withEdits(tree, edits) {
  const inOrder = [...edits.values()].filter(({ problem }) => problem === undefined).sort((a, b) => a.path.length - b.path.length);
  return inOrder.reduce((at, { path, value }) => withValue(at, path, value), tree ?? {});
}

/** Edits with one more; one that leads back to what is stored is none. @param {Edits} edits @param {Edit} edit @param {unknown} stored @returns {Edits} */
export function withEdit(edits, edit, stored) {
  const others = new Map([...edits].filter(([, { path }]) => !isWithin(path, edit.path)));
  const before = valueAt(withEdits(stored, others), edit.path);
  if (edit.problem !== undefined || !isSame(before, edit.value)) others.set(formatPath(edit.path), edit);
  return others;
}
