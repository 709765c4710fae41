import { texts } from "../texts/config-more.js";
import { optionsOf } from "./config-facts.js";

/**
 * Maps of the config, whose members have names of their own. Pure.
 *
 * @typedef {import("./config-types.js").Node} Node
 * @typedef {import("./config-types.js").Model} Model
 * @typedef {import("./config-types.js").AnyKind} AnyKind
 */

/** Why a name cannot be one of the map's; undefined when it can. @param {Node} node @param {string} name @param {Model} model @returns {string | undefined} */
export function nameProblem(node, name, model) {
  const { propertyNames = {} } = optionsOf(node.schema, model.schema)[0] ?? {};
  const known = [...(propertyNames.patterns ?? []), ...(propertyNames.pattern ? [{ pattern: propertyNames.pattern }] : [])];
  if (name.trim() === "") return texts.writeName;
  const broken = known.find(({ pattern }) => !matches(name, pattern));
  return broken && texts.notName(broken.message ?? texts.expected(broken.pattern));
}

/** @param {string} text @param {string} pattern */
function matches(text, pattern) {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

/** First value of a new member of a map. @param {AnyKind} kind @returns {unknown} */
export function freshValue({ kind, choices, min }) {
  if (kind === "group" || kind === "json") return {};
  if (kind === "switch") return false;
  if (kind === "number") return min ?? 0;
  return kind === "rows" ? [] : kind === "select" ? choices?.[0] : "";
}
