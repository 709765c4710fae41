import { isRecord } from "../../sdk/is-record.ts";

/**
 * Paths at which two config trees differ, sorted. Objects are compared key by key, arrays of objects with an `id` each element by element
 * (`agents.list[id=ops].model`; the array itself when only its order differs), everything else as a whole. A branch that only one side has
 * is named by its leaves.
 *
 * @param prev plain JSON-like tree, as is `next`; `undefined` counts as absent
 */
export function diffConfig(prev: unknown, next: unknown): string[] {
  const paths: string[] = [];
  compare(prev, next, { path: "", paths });
  return paths.sort();
}

interface Walk {
  path: string;
  paths: string[];
}

type Row = Record<string, unknown>;

function compare(prev: unknown, next: unknown, at: Walk): void {
  if (Object.is(prev, next)) return;
  const isNewOrGone = prev === undefined || next === undefined;
  const before = at.paths.length;
  const are = (test: (value: unknown) => boolean) => (prev === undefined || test(prev)) && (next === undefined || test(next));
  if (are(isRecord)) compareRows((prev ?? {}) as Row, (next ?? {}) as Row, at);
  else if (are(isIdList)) compareLists((prev ?? []) as Row[], (next ?? []) as Row[], at);
  else if (!isSame(prev, next)) at.paths.push(at.path);
  // An empty branch that came or went has no leaf to stand for it.
  if (isNewOrGone && at.paths.length === before) at.paths.push(at.path);
}

function compareRows(prev: Row, next: Row, { path, paths }: Walk): void {
  for (const key of new Set([...Object.keys(prev), ...Object.keys(next)])) {
    compare(prev[key], next[key], { path: joinPath(path, key), paths });
  }
}

function compareLists(prev: Row[], next: Row[], { path, paths }: Walk): void {
  const before = paths.length;
  const mine = new Map(prev.map((row) => [row.id, row]));
  const theirs = new Map(next.map((row) => [row.id, row]));
  for (const id of new Set([...mine.keys(), ...theirs.keys()])) {
    const [a, b] = [mine.get(id), theirs.get(id)];
    const own = `${path}[id=${String(id)}]`;
    if (a && b) compare(a, b, { path: own, paths });
    else paths.push(own);
  }
  if (paths.length === before && prev.some((row, i) => row.id !== next[i]?.id)) paths.push(path);
}

/** Elements that can be told apart by their id; an array in which two share one is compared as a whole. */
function isIdList(value: unknown): value is Row[] {
  if (!Array.isArray(value) || !value.every((row) => isRecord(row) && typeof row.id === "string")) return false;
  return new Set(value.map((row) => row.id)).size === value.length;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function joinPath(path: string, key: string): string {
  if (!/^[^.[\]"\s]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** The steps of a dotted path: keys, and `[id=…]` as one step each. */
export function pathSteps(path: string): string[] {
  const steps: string[] = [];
  for (const [, quoted, element, key] of path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|(\[[^\]]*(?:\]|$))|([^.[\]]+)/g)) {
    if (quoted !== undefined) steps.push(JSON.parse(`"${quoted}"`) as string);
    else steps.push((element ?? key) as string);
  }
  return steps;
}

/** Does one of the two paths lie at or below the other? `*` in the prefix stands for one step. */
export function touches(path: string, prefix: string): boolean {
  const [steps, wanted] = [pathSteps(path), pathSteps(prefix)];
  const length = Math.min(steps.length, wanted.length);
  for (let i = 0; i < length; i++) if (wanted[i] !== "*" && wanted[i] !== steps[i]) return false;
  return true;
}

/** `next` with what `prev` has at the given paths; neither is changed. */
export function keepPaths<T>(prev: T, next: T, paths: readonly string[]): T {
  return paths.reduce<unknown>((tree, path) => replaceAt(tree, prev, pathSteps(path)), next) as T;
}

function replaceAt(target: unknown, from: unknown, steps: readonly string[]): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return from;
  const id = /^\[id=(.*)\]$/.exec(step)?.[1];
  if (id !== undefined) return replaceElement(target, from, { id, rest });
  const source = (isRecord(from) ? from : {})[step];
  const copy: Row = isRecord(target) ? { ...target } : {};
  const value = replaceAt(copy[step], source, rest);
  if (value === undefined) delete copy[step];
  else copy[step] = value;
  // A branch that was made only to hold the old value and holds nothing is not left behind.
  return Object.keys(copy).length === 0 && !isRecord(from) ? undefined : copy;
}

function replaceElement(target: unknown, from: unknown, { id, rest }: { id: string; rest: readonly string[] }): unknown {
  const list = Array.isArray(target) ? [...target] : [];
  const old = Array.isArray(from) ? from.find((row) => (row as Row).id === id) : undefined;
  const at = list.findIndex((row) => (row as Row).id === id);
  const value = replaceAt(at < 0 ? undefined : list[at], old, rest);
  if (at < 0) return value === undefined ? list : [...list, value];
  if (value === undefined) return list.toSpliced(at, 1);
  return list.with(at, value);
}
