import { basename } from "node:path";
import type { ConfigIssue } from "../../sdk/config/config-issue.ts";
import { idsOf, ownValue, sameValue } from "../../sdk/config/tree.ts";
import { valueAt } from "../../sdk/internal/config-paths.ts";
import { isRecord } from "../../sdk/is-record.ts";
import { inFileOrder } from "./issues.ts";
import type { LoadedConfig } from "./loaded.ts";
import type { Locate } from "./place.ts";
import { type UnservedKey, unservedKeys } from "./unserved-keys.ts";

/** A written key or value that this release does not serve. */
export interface FoundUnserved {
  path: Array<string | number>;
  /** The one value that is not served; undefined when the key is not, whatever its value. */
  value?: string;
}

/** The list as a tree of path steps, so that a config is walked along it once. */
interface Node {
  below: Map<string, Node>;
  /** The key as a whole. */
  isKey?: true;
  /** Single values. */
  values: Set<string>;
}

const newNode = (): Node => ({ below: new Map(), values: new Set() });

const list = Object.values(unservedKeys).flat().reduce(added, newNode());

function added(root: Node, entry: UnservedKey): Node {
  const { path, value } = typeof entry === "string" ? { path: entry, value: undefined } : entry;
  let at = root;
  for (const step of path.split(".")) {
    const next = at.below.get(step) ?? newNode();
    at.below.set(step, next);
    at = next;
  }
  if (value === undefined) at.isKey = true;
  else at.values.add(value);
  return root;
}

/** Does this release leave the key unserved, whatever its value? Steps of names and list members may be `*`. */
export function isUnservedKey(path: ReadonlyArray<string | number>): boolean {
  let nodes = [list];
  for (const step of path) {
    nodes = nodes.flatMap((node) => branchesOf(node, step));
    if (nodes.some((node) => node.isKey)) return true;
  }
  return false;
}

/** Values that this release does not serve of a key whose other values it does. */
export function unservedValues(path: ReadonlyArray<string | number>): string[] {
  const nodes = path.reduce<Node[]>((at, step) => at.flatMap((node) => branchesOf(node, step)), [list]);
  return nodes.flatMap((node) => [...node.values]);
}

function branchesOf(node: Node, step: string | number): Node[] {
  return [node.below.get(String(step)), node.below.get("*")].filter((one) => one !== undefined);
}

/**
 * A copy of a config tree without the keys and values that this release does not serve, and what was found, each key by its leaves. Pure.
 * A tree that holds none is returned as it is.
 */
export function withoutUnserved<T>(tree: T): { tree: T; found: FoundUnserved[] } {
  const found: FoundUnserved[] = [];
  return { tree: walk(tree, [list], { path: [], found }) as T, found };
}

interface At {
  path: Array<string | number>;
  found: FoundUnserved[];
}

const GONE = Symbol("gone");

function walk(value: unknown, nodes: readonly Node[], at: At): unknown {
  if (nodes.some((node) => node.isKey)) {
    at.found.push(...leavesOf(value, at.path).map((path) => ({ path })));
    return GONE;
  }
  if (typeof value === "string") {
    if (!nodes.some((node) => node.values.has(value))) return value;
    at.found.push({ path: at.path, value });
    return GONE;
  }
  if (Array.isArray(value)) return changedMembers(value, nodes, at) ?? value;
  return isRecord(value) ? (changedEntries(value, nodes, at) ?? value) : value;
}

function changedMembers(members: readonly unknown[], nodes: readonly Node[], at: At): unknown[] | undefined {
  const walked = members.map((member, i) => below(member, i, nodes, at));
  return walked.some((member, i) => member !== members[i]) ? walked.filter((member) => member !== GONE) : undefined;
}

function changedEntries(tree: Record<string, unknown>, nodes: readonly Node[], at: At): Record<string, unknown> | undefined {
  const walked = Object.entries(tree).map(([key, member]) => [key, below(member, key, nodes, at)] as const);
  if (walked.every(([key, member]) => member === tree[key])) return undefined;
  return Object.fromEntries(walked.filter(([, member]) => member !== GONE));
}

function below(member: unknown, step: string | number, nodes: readonly Node[], at: At): unknown {
  const next = nodes.flatMap((node) => branchesOf(node, step));
  return next.length === 0 ? member : walk(member, next, { path: [...at.path, step], found: at.found });
}

/** Paths of the values inside an object; of an empty one, its own. */
function leavesOf(value: unknown, path: Array<string | number>): Array<Array<string | number>> {
  if (!isRecord(value) || Object.keys(value).length === 0) return [path];
  return Object.entries(value).flatMap(([key, member]) => leavesOf(member, [...path, key]));
}

/** Findings as issues with their place, in the order of the file. */
export function unservedIssues(found: readonly FoundUnserved[], file: string, locate: Locate): ConfigIssue[] {
  const issues = found.map(
    ({ path, value }): ConfigIssue => ({
      path: path.join("."),
      code: "not_in_release",
      message:
        value === undefined
          ? "not part of this release; take it out"
          : `${JSON.stringify(value)} is not part of this release; choose another value or take the key out`,
      file,
      ...locate(path, value === undefined ? "key" : "value"),
    }),
  );
  return inFileOrder(issues, file);
}

/** Unserved keys that a candidate adds: one that the config contained before with the same value is allowed. */
export function newlyUnserved(
  before: Pick<LoadedConfig, "source">,
  after: Pick<LoadedConfig, "source" | "path" | "locate">,
): ConfigIssue[] {
  const known = new Map(
    withoutUnserved(before.source).found.map(({ path }) => [stablePath(before.source, path), valueAt(before.source, path)]),
  );
  const found = withoutUnserved(after.source).found.filter(({ path }) => {
    const old = stablePath(after.source, path);
    return !known.has(old) || !isKept(known.get(old), valueAt(after.source, path));
  });
  return unservedIssues(found, basename(after.path), after.locate);
}

/** Is it the old value, or an old list that has only lost members? */
function isKept(old: unknown, now: unknown): boolean {
  if (Array.isArray(old) && Array.isArray(now)) return now.every((member) => old.some((one) => sameValue(one, member)));
  return sameValue(old, now);
}

/** Names members of lists by their id where they have one, so that a member that moves keeps its path. */
function stablePath(tree: unknown, path: ReadonlyArray<string | number>): string {
  let at = tree;
  const steps = path.map((step) => {
    const id = Array.isArray(at) ? idsOf(at)?.[Number(step)] : undefined;
    at = ownValue(at, step);
    return id === undefined ? step : { id };
  });
  return JSON.stringify(steps);
}

const NAMED_KEYS = 10;

/** One sentence about the keys that a gateway runs without; undefined when there is none. */
export function unservedSummary(issues: readonly ConfigIssue[]): string | undefined {
  if (issues.length === 0) return undefined;
  const names = issues.slice(0, NAMED_KEYS).map(({ path }) => path);
  const more = issues.length > NAMED_KEYS ? ` and ${issues.length - NAMED_KEYS} more` : "";
  const what = issues.length === 1 ? "1 key or value is" : `${issues.length} keys or values are`;
  return `${what} not part of this release, and the gateway runs without: ${names.join(", ")}${more}; see svc config validate`;
}
