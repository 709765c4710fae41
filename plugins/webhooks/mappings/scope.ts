import { isRecord } from "svc/sdk";
import type { HookRequest } from "../action.ts";
import { ItemView } from "./item-view.ts";

/** Values that placeholders may name. */
export interface RenderScope {
  /** Below `hooks.path`. */
  path: string;
  /** ISO time; empty where the time must not count. */
  now: string;
  headers: HookRequest["headers"];
  url: URL;
  /** Any JSON, or the view of one item. */
  payload: unknown | ItemView;
}

/** A name, or an index. */
export type Step = string | number;

/** Steps that lead out of the data. */
const forbidden = new Set(["__proto__", "prototype", "constructor"]);
/** Never shown to a template, whoever takes them out before. */
const credentials = new Set(["authorization", "proxy-authorization", "cookie", "x-svc-token"]);

/** The value of a placeholder; undefined when there is none. Own properties only. */
export function resolvePath(scope: RenderScope, path: readonly Step[]): unknown {
  const [root, ...rest] = path;
  if (path.some((step) => typeof step === "string" && forbidden.has(step))) return undefined;
  if (path.length === 1 && root === "path") return scope.path;
  if (path.length === 1 && root === "now") return scope.now;
  if (root === "headers" && isNames(rest)) return headerOf(scope, rest.join(".").toLowerCase());
  if (root === "query" && isNames(rest)) return scope.url.searchParams.getAll(rest.join(".")).at(-1);
  return walk(scope.payload, root === "payload" ? rest : path);
}

function headerOf({ headers }: RenderScope, name: string): string | undefined {
  return Object.hasOwn(headers, name) && !credentials.has(name) ? headers[name] : undefined;
}

/** Names of headers and parameters may hold dots. */
function isNames(steps: readonly Step[]): boolean {
  return steps.length > 0 && steps.every((step) => typeof step === "string");
}

function walk(value: unknown, steps: readonly Step[]): unknown {
  let at = value;
  for (const step of steps) {
    if (at instanceof ItemView) at = typeof step === "string" ? at.member(step) : undefined;
    else if (typeof step === "number") at = Array.isArray(at) ? at[step] : undefined;
    else at = isRecord(at) && Object.hasOwn(at, step) ? at[step] : undefined;
    if (at === undefined) return undefined;
  }
  return at;
}
