import { kindOf, labelOf, membersOf, rootNode } from "./config-facts.js";
import { valueAt } from "./config-paths.js";

/**
 * Search over all settings. Pure.
 *
 * @typedef {import("./config-types.js").Node} Node
 * @typedef {import("./config-types.js").Model} Model
 */

const MOST_FOUND = 5_000;
/** A schema may contain itself. */
const MOST_DEEP = 12;

/** @typedef {{ node: Node, words: string }} Found */

/** Every field of the config, for the search. @param {Model} model @param {unknown} value @returns {Found[]} */
export function fieldsOf(model, value) {
  /** @type {Found[]} */
  const found = [];
  /** @param {Node} node */
  const visit = (node) => {
    if (found.length >= MOST_FOUND) return;
    const isGroup = kindOf(node.schema, model, node.hint).kind === "group";
    if (node.path.length > 0 && (!isGroup || node.hint.help)) {
      found.push({ node, words: `${node.path.join(".")} ${labelOf(node)} ${node.hint.help ?? ""}`.toLowerCase() });
    }
    if (!isGroup || node.path.length >= MOST_DEEP) return;
    const { named, rows } = membersOf(node, valueAt(value, node.path), model);
    for (const one of [...named, ...rows]) visit(one);
  };
  visit(rootNode(model));
  return found;
}

/** Fields in which every word occurs, those whose path has them first. @param {Found[]} fields @param {string} q */
export function matching(fields, q) {
  const words = q.toLowerCase().split(" ").filter(Boolean);
  const found = fields.filter((one) => words.every((word) => one.words.includes(word)));
  const isInPath = (/** @type {Found} */ { node }) => words.every((word) => node.path.join(".").toLowerCase().includes(word));
  return found.sort((a, b) => Number(isInPath(b)) - Number(isInPath(a)));
}
