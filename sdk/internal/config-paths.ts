import { forbiddenConfigKeys, ownValue } from "../config/tree.ts";
import type { SvcError } from "../errors.ts";
import { isRecord } from "../is-record.ts";
import { sharedErrors } from "./errors.ts";

/** One step of a path as typed: a key, an index, or the list member with this id. */
export type PathStep = string | number | { id: string };
/** A path in a tree that is at hand: keys and indexes only. */
export type ConfigPath = ReadonlyArray<string | number>;

const bareKey = /^[^.[\]"'\s]+/;

/**
 * Reads a path as operators write it: `agents.list[0].model`, `models.providers["my.vendor"].apiKey`, `agents.list[id=ops].model`.
 * The empty text is the root.
 * @throws {SvcError} `config-path-invalid`
 */
export function parseConfigPath(text: string): PathStep[] {
  const steps: PathStep[] = [];
  let rest = text.trim();
  const refuse = (reason: string) => sharedErrors.configPathInvalid({ path: text, reason });
  while (rest !== "") {
    if (rest.startsWith("[")) {
      const { step, length } = parseBracket(rest, refuse);
      steps.push(step);
      rest = rest.slice(length);
    } else {
      const key = bareKey.exec(rest)?.[0];
      if (key === undefined) throw refuse(`expected a key at "${rest.slice(0, 20)}"`);
      steps.push(key);
      rest = rest.slice(key.length);
    }
    if (rest.startsWith(".")) {
      rest = rest.slice(1);
      if (rest === "" || rest.startsWith("[")) throw refuse("expected a key after the dot");
    } else if (rest !== "" && !rest.startsWith("[")) throw refuse(`expected a dot or a bracket at "${rest.slice(0, 20)}"`);
  }
  const forbidden = steps.find((step) => typeof step === "string" && forbiddenConfigKeys.has(step));
  if (forbidden !== undefined) throw refuse(`the key ${String(forbidden)} is not allowed`);
  return steps;
}

function parseBracket(text: string, refuse: (reason: string) => SvcError): { step: PathStep; length: number } {
  const index = /^\[(\d{1,9})\]/.exec(text);
  if (index) return { step: Number(index[1]), length: index[0].length };
  const quoted = /^\[\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*\]/.exec(text);
  if (quoted) return { step: unquote(quoted[1] as string), length: quoted[0].length };
  const id = /^\[\s*id\s*=\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*|([^\]"'\s][^\]"']*))\]/.exec(text);
  if (id) return { step: { id: unquote(id[1] ?? (id[2] as string).trimEnd()) }, length: id[0].length };
  throw refuse(`expected [0], ["key"] or [id=name] at "${text.slice(0, 20)}"`);
}

function unquote(text: string): string {
  return /^["']/.test(text) ? text.slice(1, -1).replace(/\\(.)/gs, "$1") : text;
}

/** The way back: keys that need it are put in brackets. */
export function formatConfigPath(path: ReadonlyArray<PropertyKey>): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    const key = String(step);
    if (bareKey.exec(key)?.[0] !== key) return `${text}[${JSON.stringify(key)}]`;
    return text === "" ? key : `${text}.${key}`;
  }, "");
}

/**
 * Turns a typed path into one for this tree: ids become indexes, and digits after a dot count as an index where a list stands.
 * @throws {SvcError} `config-path-invalid` when a list has no member of that id, or an id or index is asked of something else
 */
export function resolveConfigPath(tree: unknown, steps: readonly PathStep[]): Array<string | number> {
  const path: Array<string | number> = [];
  let at = tree;
  for (const step of steps) {
    const key = resolveStep(at, step, path);
    path.push(key);
    at = ownValue(at, key);
  }
  return path;
}

function resolveStep(at: unknown, step: PathStep, path: ConfigPath): string | number {
  const refuse = (reason: string) => sharedErrors.configPathInvalid({ path: formatConfigPath(path), reason });
  if (typeof step === "object") {
    const found = Array.isArray(at) ? at.findIndex((item) => isRecord(item) && item.id === step.id) : -1;
    if (found < 0) throw refuse(`there is no list member with the id "${step.id}"`);
    return found;
  }
  if (Array.isArray(at)) {
    const index = typeof step === "number" ? step : /^\d{1,9}$/.test(step) ? Number(step) : undefined;
    if (index === undefined) throw refuse(`is a list; expected an index or [id=…], got "${step}"`);
    if (index > at.length) throw refuse(`has ${at.length} entries; the index ${index} would leave a gap`);
    return index;
  }
  if (typeof step === "number" && at !== undefined) throw refuse(`is no list; [${step}] means nothing there`);
  return step;
}

/** Value at a path, or undefined. */
export function valueAt(tree: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>((at, step) => ownValue(at, step), tree);
}

/**
 * A copy of the tree with a value put at a path; `undefined` removes it. Missing parents are made, lists where an index follows.
 * @throws {SvcError} `config-path-invalid` when the path leads through a scalar
 */
export function withValueAt(tree: unknown, path: ConfigPath, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (value === undefined && ownValue(tree, step) === undefined) return tree; // nothing to remove, so no parents are made for it
  if (tree !== undefined && tree !== null && typeof tree !== "object") {
    throw sharedErrors.configPathInvalid({ path: formatConfigPath(path), reason: "its parent is no object" });
  }
  const inner = withValueAt(ownValue(tree, step), rest, value);
  if (Array.isArray(tree) || ((tree === undefined || tree === null) && typeof step === "number")) {
    const list = Array.isArray(tree) ? [...tree] : [];
    if (inner === undefined) list.splice(Number(step), 1);
    else list[Number(step)] = inner;
    return list;
  }
  const { [step]: _old, ...others } = (tree ?? {}) as Record<string, unknown>;
  if (inner === undefined) return others;
  return tree !== null && tree !== undefined && Object.hasOwn(tree, step)
    ? { ...(tree as object), [step]: inner }
    : { ...others, [step]: inner };
}
