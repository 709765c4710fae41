/**
 * Paths in the config: keys from the root down. Pure.
 *
 * @typedef {ReadonlyArray<string>} Path
 */

/** Keys that lead out of a tree of plain values. */
const forbidden = new Set(["__proto__", "constructor", "prototype"]);

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export function isTree(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const plainKey = /[^.[\]]+/y;
const quotedKey = /"(?:[^"\\]|\\.)*"\]/y;

/** `models.providers["my.vendor"].apiKey` → its keys. Members of lists are keys too: `[0]` is `0`. @param {string} text @returns {string[]} */
export function parsePath(text) {
  const keys = [];
  for (let at = 0; at < text.length; ) {
    const isBracket = text.charAt(at) === "[";
    const found = match(isBracket ? quotedKey : plainKey, text, isBracket ? at + 1 : at);
    if (isBracket && found === undefined) {
      const end = text.indexOf("]", at);
      keys.push(text.slice(at + 1, end < 0 ? undefined : end));
      at = end < 0 ? text.length : end + 1;
    } else if (found === undefined) {
      at += 1;
    } else {
      keys.push(isBracket ? found.slice(1, -2).replace(/\\(.)/g, "$1") : found);
      at += found.length + (isBracket ? 1 : 0);
    }
  }
  return keys;
}

/** Text that a sticky expression finds at a place. @param {RegExp} expression @param {string} text @param {number} at */
function match(expression, text, at) {
  expression.lastIndex = at;
  return expression.exec(text)?.[0];
}

/** The way back, as commands and errors of the gateway write it. @param {ReadonlyArray<string | number>} path */
export function formatPath(path) {
  return path.reduce((/** @type {string} */ text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    if (!/^[^.[\]"'\s]+$/.test(step)) return `${text}[${JSON.stringify(step)}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
}

/** @param {unknown} tree @param {ReadonlyArray<string | number>} path @returns {any} */
export function valueAt(tree, path) {
  return path.reduce(
    (/** @type {any} */ at, step) => (typeof at === "object" && at && Object.hasOwn(at, step) ? at[step] : undefined),
    tree,
  );
}

/** A copy of the tree with a value put at a path; `undefined` takes it out. @param {unknown} tree @param {Path} path @param {unknown} value @returns {any} */
export function withValue(tree, path, value) {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (forbidden.has(step) || (value === undefined && valueAt(tree, [step]) === undefined)) return tree;
  const { [step]: old, ...others } = isTree(tree) ? tree : {};
  const inner = withValue(old, rest, value);
  if (inner === undefined) return others;
  return isTree(tree) && Object.hasOwn(tree, step) ? { ...tree, [step]: inner } : { ...others, [step]: inner };
}

/** Is `path` `start`, or something below it? @param {Path} path @param {Path} start */
export function isWithin(path, start) {
  return start.length <= path.length && start.every((step, i) => step === path[i]);
}

/** @param {unknown} a @param {unknown} b @returns {boolean} */
export function isSame(a, b) {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || !a || !b || Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [Object.keys(a), Object.keys(b)];
  return left.length === right.length && left.every((key) => Object.hasOwn(b, key) && isSame(valueAt(a, [key]), valueAt(b, [key])));
}
