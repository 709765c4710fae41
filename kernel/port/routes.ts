import type { Disposable } from "../../sdk/types/common.ts";
import type { HttpRoute } from "../../sdk/types/http.ts";
import { kernelErrors } from "../errors.ts";

export interface RouteEntry {
  readonly route: HttpRoute;
  readonly owner: string;
  readonly methods: readonly string[];
  /** Value of `Allow` on a 405. */
  readonly allow: string;
  /** Keeps the owner's instance until an answer has been sent. */
  readonly hold: () => Disposable;
}

export interface RouteMatch {
  entry: RouteEntry;
  /** Undecoded rest behind a prefix route. */
  rest: string;
}

export interface RouteTable {
  /** @throws {SvcError} `route-conflict` */
  add(route: HttpRoute, owner: string, hold?: () => Disposable): Disposable;
  match(path: string): RouteMatch[];
}

/** Below these an unclaimed path is 404, never the page of the control UI. */
const apiPrefixes = ["/v1/", "/api/", "/tools/", "/hooks/", "/health/", "/healthz/", "/ready/", "/readyz/"];
const apiPaths = new Set(["/v1", "/api", "/tools", "/hooks"]);

/** Routes by path: exact first, then the longest prefix, then the one fallback. */
export function createRouteTable(): RouteTable {
  const exact = new Map<string, RouteEntry[]>();
  const prefixes: RouteEntry[] = [];
  let fallback: RouteEntry | undefined;

  return {
    add(route, owner, hold = () => ({ dispose: () => undefined })) {
      const methods = typeof route.method === "string" ? [route.method] : route.method;
      const entry: RouteEntry = { route, owner, methods, allow: methods.join(", "), hold };
      if (route.fallback) {
        if (fallback) throw kernelErrors.routeConflict({ plugin: owner, path: route.path, owner: fallback.owner });
        fallback = entry;
        return {
          dispose: () => {
            if (fallback === entry) fallback = undefined;
          },
        };
      }
      const rival = [...exact.values(), prefixes].flat().find((e) => overlaps(e, entry) && !mayShare(e, entry));
      if (rival) throw kernelErrors.routeConflict({ plugin: owner, path: route.path, owner: rival.owner });
      if (route.match === "exact") exact.set(route.path, [...(exact.get(route.path) ?? []), entry]);
      else prefixes.push(entry);
      prefixes.sort((a, b) => b.route.path.length - a.route.path.length);
      return { dispose: () => remove(entry) };
    },
    match(path) {
      const hits = exact.get(path);
      if (hits && hits.length > 0) return hits.map((entry) => ({ entry, rest: "" }));
      const longest = prefixes.find((e) => isBelow(path, e.route.path));
      if (longest) {
        const length = longest.route.path === "/" ? 1 : longest.route.path.length + 1;
        return prefixes.filter((e) => e.route.path === longest.route.path).map((entry) => ({ entry, rest: path.slice(length) }));
      }
      const isApi = apiPaths.has(path) || apiPrefixes.some((p) => path.startsWith(p));
      return fallback && !isApi && isBelow(path, fallback.route.path) ? [{ entry: fallback, rest: path.slice(1) }] : [];
    },
  };

  function remove(entry: RouteEntry): void {
    const list = exact.get(entry.route.path)?.filter((e) => e !== entry);
    if (list) exact.set(entry.route.path, list);
    const at = prefixes.indexOf(entry);
    if (at >= 0) prefixes.splice(at, 1);
  }
}

/** Could one path reach both? */
function overlaps({ route: a }: RouteEntry, { route: b }: RouteEntry): boolean {
  return a.path === b.path || (a.match === "prefix" && isBelow(b.path, a.path)) || (b.match === "prefix" && isBelow(a.path, b.path));
}

/** Only routes of one plugin and one kind of auth; the longest wins, and for the same paths each method has one. */
function mayShare(a: RouteEntry, b: RouteEntry): boolean {
  const same = a.route.path === b.route.path && a.route.match === b.route.match;
  return a.owner === b.owner && a.route.auth === b.route.auth && !(same && a.methods.some((m) => b.methods.includes(m)));
}

function isBelow(path: string, prefix: string): boolean {
  return prefix === "/" || path === prefix || path.startsWith(`${prefix}/`);
}
