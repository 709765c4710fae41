import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { H3, type H3Event, type HTTPError, type HTTPMethod, toNodeHandler } from "h3";
import { isBelow, pathOf, type RouteEntry, type RouteGroup, type RouteTable } from "./routes.ts";

/** The routes that a request reaches by its path. */
export interface RouteMatch {
  group: RouteGroup;
  /** The route that has the method of the request, too. */
  entry: RouteEntry | undefined;
  /** Undecoded rest behind a prefix route. */
  rest: string;
}

/** One request inside the router. */
export interface Exchange {
  readonly event: H3Event;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Path without query, undecoded. */
  readonly path: string;
}

export interface RouterOptions {
  routes: RouteTable;
  /** Answers a request with a value that h3 can send. */
  answer(exchange: Exchange, match: RouteMatch | undefined): unknown;
  /** Loads what may have a route for a path without one; undefined when nothing would. The request is then looked up again, once. */
  load(path: string): Promise<void> | undefined;
  /** Answers a request whose answer could not be made or sent. */
  onError(error: HTTPError, exchange: Exchange): unknown;
}

/** Below these a path without a route is 404, never the page of the control UI. */
const apiPaths = ["/v1", "/api", "/tools", "/hooks", "/metrics", "/health", "/healthz", "/ready", "/readyz"];

/**
 * Routes requests by h3's router, which is built again when the table has changed.
 *
 * h3 reads a request target as a URL: it resolves dot segments, decodes escapes that need none and takes `/a/` for `/a`. A route is reached by its path as it
 * is written only, since whatever stands in front of the port (a proxy, a firewall) compares that. So each match is checked against the target, and where
 * h3 reads another path than is written, the written one decides.
 */
export function createRouter(options: RouterOptions): RequestListener {
  const { routes } = options;
  let built: { groups: readonly RouteGroup[]; app: H3; listener: RequestListener } | undefined;
  const current = () => {
    const groups = routes.groups();
    if (built?.groups !== groups) {
      const app = buildApp(groups, { ...options, again: (event) => current().app.handler(event) });
      built = { groups, app, listener: toNodeHandler(app) };
    }
    return built;
  };
  return (req, res) => current().listener(req, res);
}

interface AppOptions extends RouterOptions {
  /** Looks a request up in the routes of now. */
  again(event: H3Event): unknown;
}

function buildApp(groups: readonly RouteGroup[], options: AppOptions): H3 {
  const app = new H3({ silent: true, allowMalformedURL: true, onError: (error, event) => options.onError(error, exchangeOf(event)) });
  const fallback = groups.find(({ isFallback }) => isFallback);
  const claiming = groups.filter(({ isFallback }) => !isFallback);
  const answerBy = (exchange: Exchange, group: RouteGroup, entry: RouteEntry | undefined) =>
    options.answer(exchange, { group, entry, rest: restOf(exchange.path, group) });

  const otherwise = (exchange: Exchange) => {
    const { event, path, req } = exchange;
    const loading = lookedUpAgain.has(event) ? undefined : options.load(path);
    if (loading) {
      lookedUpAgain.add(event);
      return loading.then(() => options.again(event));
    }
    const isPage = fallback && isBelow(path, fallback.path) && !apiPaths.some((api) => isBelow(path, api));
    return isPage ? answerBy(exchange, fallback, entryOf(fallback, req)) : options.answer(exchange, undefined);
  };
  const asWritten = (exchange: Exchange) => {
    const owner = ownerOf(claiming, exchange.path);
    return owner ? answerBy(exchange, owner, entryOf(owner, exchange.req)) : otherwise(exchange);
  };
  const claim = (exchange: Exchange, group: RouteGroup, entry: RouteEntry | undefined) =>
    isOf(exchange.path, group) ? answerBy(exchange, group, entry) : asWritten(exchange);

  for (const group of claiming) {
    const pattern = patternOf(group);
    for (const entry of group.entries)
      for (const method of entry.methods) app.on(method as HTTPMethod, pattern, (event) => claim(exchangeOf(event), group, entry));
    // The other methods come here; without it h3 would answer HEAD by the route of GET, and the rest by 404.
    app.all(pattern, (event) => claim(exchangeOf(event), group, undefined));
  }
  if (!claiming.some(({ path, match }) => path === "/" && match === "prefix")) {
    app.all("/**", (event) => {
      const exchange = exchangeOf(event);
      return event.url.pathname === exchange.path ? otherwise(exchange) : asWritten(exchange);
    });
  }
  return app;
}

/** Requests that were looked up a second time, after a plugin had been loaded for them. */
const lookedUpAgain = new WeakSet<H3Event>();

function exchangeOf(event: H3Event): Exchange {
  const { req, res } = (event.runtime as { node: { req: IncomingMessage; res: ServerResponse } }).node;
  return { event, req, res, path: pathOf(req.url) };
}

function entryOf(group: RouteGroup, { method = "" }: IncomingMessage): RouteEntry | undefined {
  return group.entries.find(({ methods }) => methods.includes(method));
}

function isOf(path: string, group: RouteGroup): boolean {
  return group.match === "exact" ? path === group.path : isBelow(path, group.path);
}

/** The group whose routes a path reaches as it is written: the exact one, else the longest prefix. */
function ownerOf(groups: readonly RouteGroup[], path: string): RouteGroup | undefined {
  const covering = groups.filter((group) => isOf(path, group)).sort((a, b) => b.path.length - a.path.length);
  return covering.find(({ match }) => match === "exact") ?? covering[0];
}

/** Undecoded rest of the path behind that of a prefix; the whole path for the fallback. */
function restOf(path: string, { path: own, match, isFallback }: RouteGroup): string {
  if (isFallback) return path.slice(1);
  return match === "exact" ? "" : path.slice(own === "/" ? 1 : own.length + 1);
}

/** Pattern of h3 that matches the path of a group and nothing else, or it and everything below. */
function patternOf({ path, match }: RouteGroup): string {
  const wellFormed = path.replace(/\p{Surrogate}/gu, "\uFFFD");
  // h3 decodes escapes that need none, also those of letters that would then mean something in a pattern.
  const decoded = wellFormed.replace(/%(?:2[89ab]|3a)/gi, decodeURIComponent);
  const literal = decoded.replace(/[\\:*(){}?+]/g, "\\$&");
  return match === "exact" ? literal : `${literal === "/" ? "" : literal}/**`;
}
