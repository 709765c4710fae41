import { texts } from "../texts/config.js";
import { isTree, isWithin, valueAt } from "./config-paths.js";

/**
 * Form that a JSON Schema of the config stands for. Pure.
 *
 * @import { AnyKind, Hint, Hints, Model, Node, Path, Schema } from "./config-types.js"
 */

/** References may lead in circles. */
const MOST_HOPS = 16;

/** @param {Schema} schema @param {Record<string, Hint>} uiHints @returns {Model} */
export function modelOf(schema, uiHints) {
  /** @type {Hints} */
  const hints = { children: new Map() };
  for (const [path, hint] of Object.entries(uiHints)) {
    let at = hints;
    for (const step of path.split(".")) {
      const next = at.children.get(step) ?? { children: new Map() };
      at.children.set(step, next);
      at = next;
    }
    at.hint = hint;
  }
  return { schema, hints };
}

/** Hint of a path, or of any name in place of its own. @param {Hints} hints @param {Path} path @returns {Hint} */
export function hintAt(hints, path) {
  /** @type {(at: Hints | undefined, depth: number) => Hint | undefined} */
  const find = (at, depth) => {
    if (!at || depth === path.length) return at?.hint;
    return find(at.children.get(path[depth] ?? ""), depth + 1) ?? find(at.children.get("*"), depth + 1);
  };
  return find(hints, 0) ?? {};
}

/** @param {Schema} schema @param {Schema} root @returns {Schema} */
function deref(schema, root) {
  let at = schema;
  for (let hops = 0; typeof at.$ref === "string" && hops < MOST_HOPS; hops++) {
    const steps = at.$ref.replace(/^#\/?/, "").split("/");
    at =
      valueAt(
        root,
        steps.map((/** @type {string} */ step) => step.replace(/~1/g, "/").replace(/~0/g, "~")),
      ) ?? {};
  }
  return at;
}

/** Schemas of what may stand here. @param {Schema} schema @param {Schema} root @returns {Schema[]} */
export function optionsOf(schema, root, depth = 0) {
  const at = deref(schema, root);
  const list = at.anyOf ?? at.oneOf ?? (at.properties ? undefined : at.allOf);
  if (!Array.isArray(list) || depth > MOST_HOPS) return [at];
  return list
    .flatMap((one) => optionsOf(one, root, depth + 1))
    .filter(({ type, notInRelease }) => type !== "null" && notInRelease !== true);
}

const scalars = ["string", "number", "integer"];
const isNumeric = (/** @type {Schema} */ { type }) => type === "number" || type === "integer";

/** @param {Schema} schema @returns {unknown[] | undefined} */
function choicesOf(schema) {
  if (Array.isArray(schema.enum)) return schema.enum;
  if ("const" in schema) return [schema.const];
  return schema.type === "boolean" ? [true, false] : undefined;
}

/** Control for a value. @param {Schema} schema @param {Model} model @param {Hint} [hint] @returns {AnyKind} */
export function kindOf(schema, { schema: root }, hint = {}) {
  if (hint.sensitive || schema.sensitive) return { kind: "secret" };
  const options = optionsOf(schema, root);
  const [first = {}] = options;
  if (options.length === 0) return { kind: "json" };
  if (options.every(({ type }) => type === "boolean")) return { kind: "switch" };
  const choices = options.map(choicesOf);
  if (choices.every((list) => list !== undefined)) return { kind: "select", choices: [...new Set(choices.flat())] };
  if (options.length === 1 && isNumeric(first)) return { kind: "number", isWhole: first.type === "integer", ...boundsOf(first) };
  if (options.every(({ type }) => scalars.includes(type))) {
    const { maxLength } = first;
    return { kind: "text", takesNumbers: options.some(isNumeric), ...(maxLength ? { maxLength } : {}) };
  }
  if (options.length === 1 && first.type === "array" && isTree(first.items)) {
    const item = kindOf(first.items, { schema: root, hints: { children: new Map() } });
    if (["text", "number", "select"].includes(item.kind)) return { kind: "rows", item };
  }
  return options.length === 1 && (first.properties || isTree(first.additionalProperties)) ? { kind: "group" } : { kind: "json" };
}

/** @param {Schema} schema */
function boundsOf({ minimum, maximum }) {
  return {
    ...(minimum > Number.MIN_SAFE_INTEGER ? { min: minimum } : {}),
    ...(maximum < Number.MAX_SAFE_INTEGER ? { max: maximum } : {}),
  };
}

/** @param {Model} model @returns {Node} */
export function rootNode({ schema }) {
  return { path: [], schema, hint: {}, reload: "restart" };
}

/** Child of a node. @param {Node} node @param {string} key @param {Schema} schema @param {Model} model @returns {Node} */
export function childOf({ path, reload }, key, schema, { schema: root, hints }) {
  const next = [...path, key];
  const at = deref(schema, root);
  return { path: next, schema: at, hint: hintAt(hints, next), reload: schema.reload ?? at.reload ?? reload };
}

/**
 * Members of a group: those that the schema names, and those of a map that there are.
 * @param {Node} node @param {unknown} value @param {Model} model
 * @returns {{ named: Node[], rows: Node[], rest: Schema | undefined }} `rest`: what a further member of the map would be
 */
export function membersOf(node, value, model) {
  const [at = {}] = optionsOf(node.schema, model.schema);
  const rest = isTree(at.additionalProperties) ? at.additionalProperties : undefined;
  const properties = at.properties ?? {};
  const named = Object.entries(properties).flatMap(([key, schema]) => {
    return schema.notInRelease === true || key.startsWith("$") ? [] : [childOf(node, key, schema, model)];
  });
  const order = (/** @type {Node} */ one) => one.hint.order ?? Number.MAX_SAFE_INTEGER;
  const names = rest && isTree(value) ? Object.keys(value).filter((key) => !Object.hasOwn(properties, key)) : [];
  return {
    named: named.sort((a, b) => order(a) - order(b)),
    rows: names.map((key) => childOf(node, key, /** @type {Schema} */ (rest), model)),
    rest,
  };
}

/** @param {Node} node */
export function labelOf({ path, hint }) {
  const key = path.at(-1) ?? "";
  const words = key.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  const label = hint.label ?? words.charAt(0).toUpperCase() + words.slice(1);
  return label.replace(/\b(api|http|id|ip|mcp|ui|url)\b/gi, (word) => word.toUpperCase());
}

/** @param {string} reload @returns {string} */
export function reloadWords(reload) {
  if (reload === "restart") return texts.needsRestart;
  return reload === "plugin" || reload === "channel" ? texts.appliedOnceStarts(reload) : texts.appliedOnce;
}

/** Problem of a value, if any. @param {AnyKind} kind @param {unknown} value */
export function valueProblem({ kind, isWhole, min, max }, value) {
  if (kind !== "number") return undefined;
  const isBad = typeof value !== "number" || (isWhole && !Number.isInteger(value)) || value < (min ?? value) || value > (max ?? value);
  if (!isBad) return undefined;
  const number = isWhole ? texts.wholeNumber : texts.number;
  if (min !== undefined && max !== undefined) return texts.expectedBetween({ number, min, max });
  return min !== undefined
    ? texts.expectedFrom({ number, min })
    : max !== undefined
      ? texts.expectedTo({ number, max })
      : texts.expected(number);
}

/** Value of a text. @param {AnyKind} kind @param {string} text @returns {unknown} */
export function valueOfText({ kind, takesNumbers }, text) {
  const isNumber = text.trim() !== "" && Number.isFinite(Number(text));
  return isNumber && (kind === "number" || takesNumbers) ? Number(text) : text;
}

/** Short words for a value. @param {unknown} value */
export function valueWords(value) {
  if (value === undefined) return texts.notSet;
  if (value === true || value === false) return value ? texts.on : texts.off;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text === "" ? texts.empty : text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** Messages of issues about a field and all that it holds. @param {ReadonlyArray<{ path: string, message: string }>} issues @param {Path} path @param {(text: string) => string[]} parse */
export function issuesAt(issues, path, parse) {
  return issues.filter((issue) => isWithin(parse(issue.path), path)).map(({ message }) => message);
}
