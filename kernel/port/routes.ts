import type { Disposable } from "../../sdk/types/common.ts";
import type { HttpRoute } from "../../sdk/types/http.ts";
import { kernelErrors } from "../errors.ts";

export interface RouteEntry {
  readonly route: HttpRoute;
  readonly owner: string;
  readonly methods: readonly string[];
  /** Keeps the owner's instance until an answer has been sent. */
  readonly hold: () => Disposable;
}

/** The routes of one path, which differ in their methods. */
export interface RouteGroup {
  readonly path: string;
  readonly match: HttpRoute["match"];
  readonly isFallback: boolean;
  readonly entries: readonly RouteEntry[];
  /** Value of `Allow` on a 405. */
  readonly allow: string;
}

export interface RouteTable {
  /** @throws {SvcError} `route-conflict` */
  add(route: HttpRoute, owner: string, hold?: () => Disposable): Disposable;
  /** All routes by path; the same list until one is added or removed. */
  groups(): readonly RouteGroup[];
}

/** Routes of plugins, of which no two can claim one request. They are looked up by the router (`router.ts`). */
export function createRouteTable(): RouteTable {
  const entries: RouteEntry[] = [];
  let groups: readonly RouteGroup[] | undefined;

  return {
    add(route, owner, hold = () => ({ dispose: () => undefined })) {
      const methods = typeof route.method === "string" ? [route.method] : route.method;
      const entry: RouteEntry = { route, owner, methods, hold };
      const rival = entries.find((other) => isRival(other, entry));
      if (rival) throw kernelErrors.routeConflict({ plugin: owner, path: route.path, owner: rival.owner });
      entries.push(entry);
      groups = undefined;
      return {
        dispose() {
          const at = entries.indexOf(entry);
          if (at < 0) return;
          entries.splice(at, 1);
          groups = undefined;
        },
      };
    },
    groups: () => (groups ??= groupByPath(entries)),
  };
}

function groupByPath(entries: readonly RouteEntry[]): RouteGroup[] {
  const groups = new Map<string, RouteEntry[]>();
  for (const entry of entries) {
    const { path, match, fallback } = entry.route;
    const key = `${fallback ? "fallback" : match} ${path}`;
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return [...groups.values()].map((group) => {
    const { path, match, fallback } = (group[0] as RouteEntry).route;
    const allow = group.flatMap(({ methods }) => methods).join(", ");
    return { path, match, isFallback: fallback === true, entries: group, allow };
  });
}

function isRival(a: RouteEntry, b: RouteEntry): boolean {
  if (a.route.fallback || b.route.fallback) return a.route.fallback === true && b.route.fallback === true;
  return overlaps(a, b) && !mayShare(a, b);
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

/** Is the path that of the prefix, or below it? */
export function isBelow(path: string, prefix: string): boolean {
  return prefix === "/" || path === prefix || path.startsWith(`${prefix}/`);
}

/** Path of a request target without its query, undecoded. */
export function pathOf(target: string | undefined): string {
  if (target === undefined) return "/";
  const end = target.indexOf("?");
  const path = end < 0 ? target : target.slice(0, end);
  return path === "" ? "/" : path;
}
