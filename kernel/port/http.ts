import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { HTTPError, HTTPResponse } from "h3";
import { sharedErrors } from "../../sdk/internal/errors.ts";
import { allScopes, hasScope } from "../../sdk/internal/scopes.ts";
import type { Logger } from "../../sdk/types/common.ts";
import type { HttpCall, HttpReply, HttpRoute, Remote } from "../../sdk/types/http.ts";
import type { OperatorScope } from "../../sdk/types/rpc.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { isDirectLoopback } from "../auth/client-address.ts";
import type { ClientPolicy } from "../auth/client-policy.ts";
import type { Passed } from "../auth/credential-check.ts";
import { attributionRequired, originUnauthorized } from "../auth/proxy-refusal.ts";
import { narrowScopes } from "../auth/requested-scopes.ts";
import { kernelErrors } from "../errors.ts";
import type { HookBus } from "../hooks/bus.ts";
import { runAs } from "../hooks/running.ts";
import type { Activation } from "../loader/activation.ts";
import type { DownPlugin } from "../loader/plugins-down.ts";
import { answerFault, defaultFaultResponse, type RefusalSite, refuse, toHttpFault } from "./http-fault.ts";
import { plainHeaders, reviseAnswer } from "./http-hooks.ts";
import { lingerAfterAnswer } from "./linger.ts";
import { answerProbe, isServing, type ProbeState } from "./probes.ts";
import { setBaseline } from "./raw-response.ts";
import { parseJsonBody, readBody } from "./request-body.ts";
import { toAnswer } from "./route-answer.ts";
import type { Exchange, RouteMatch } from "./router.ts";
import { isBelow, pathOf, type RouteEntry, type RouteTable } from "./routes.ts";
import type { PortTelemetry } from "./telemetry.ts";

const DEFAULT_MAX_BODY_BYTES = 1024 * 1024;

export interface HttpDeps {
  routes: RouteTable;
  activation: Activation;
  authenticator: Authenticator;
  clientPolicy: ClientPolicy;
  probe: ProbeState;
  /** The plugin that declares a route for this path and is not running, if there is one. */
  down(path: string): DownPlugin | undefined;
  hooks: HookBus;
  telemetry: PortTelemetry;
  logger: Logger;
  /** Value of `Strict-Transport-Security`, if any. */
  hsts(): string | undefined;
  /** Is the path one of the webhook ingress, whether or not that is on? */
  isHookPath(path: string): boolean;
  /** Aborts when the gateway stops for good. */
  stopSignal: AbortSignal;
}

/** Dependencies of answers that the router sends. */
interface RoutedDeps extends HttpDeps {
  toSendable: typeof import("./sendable.ts")["toSendable"];
}

/** Everything HTTP on the port: baseline headers, refusals and probes, then the router. */
export function createHttpHandler(deps: HttpDeps): RequestListener {
  let router: RequestListener | undefined;
  let loading: Promise<RequestListener> | undefined;
  const load = async () => {
    router = await loadRouter(deps);
    return router;
  };
  const unroutable = (req: IncomingMessage, res: ServerResponse, error: unknown) => {
    deps.logger.error("a request could not be routed", { method: req.method, path: pathOf(req.url), error });
    res.writeHead(500, { "Content-Length": "0", Connection: "close" }).end();
  };
  const route = (req: IncomingMessage, res: ServerResponse) => {
    try {
      router?.(req, res);
    } catch (error) {
      unroutable(req, res, error);
    }
  };
  return (req, res) => {
    setBaseline(req, res);
    const hsts = deps.hsts();
    if (hsts) res.setHeader("Strict-Transport-Security", hsts);
    const status = deps.clientPolicy.refusalOf(req)?.status;
    if (status) {
      deps.telemetry.watch(res, req);
      res.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" }).end(STATUS_CODES[status]);
    } else if (!answerProbe(req, res, deps.probe, (asking) => probeAuth(asking, deps))) {
      deps.telemetry.watch(res, req, (ms) => logEnd(req, res, ms, deps.logger));
      if (router) return route(req, res);
      loading ??= load();
      loading.then(
        () => route(req, res),
        (error) => unroutable(req, res, error),
      );
    }
  };
}

/** Loads h3 and what it takes of Node's `fetch` with the first request that is no probe: most of what a gateway's start would load for HTTP. */
async function loadRouter(deps: HttpDeps): Promise<RequestListener> {
  const [{ createRouter }, { toSendable }] = await Promise.all([import("./router.ts"), import("./sendable.ts")]);
  const routed: RoutedDeps = { ...deps, toSendable };
  return createRouter({
    routes: deps.routes,
    load: (path) => deps.activation.use("http", path),
    answer: (exchange, match) => {
      const { req, res } = exchange;
      return deps.telemetry.serve({ req, res, route: routeName(match) }, () => serve(exchange, match, routed));
    },
    onError: (error, exchange) => failed(exchange, error, deps),
  });
}

/** Path by which a route was declared: those are few, paths of requests are not. */
function routeName(match: RouteMatch | undefined): string | undefined {
  return match?.entry?.route.path ?? match?.group.path;
}

/** A line for each request at its end; never its query, which may hold a secret. */
function logEnd(req: IncomingMessage, res: ServerResponse, tookMs: number, logger: Logger): void {
  logger.debug("http", () => {
    const cut = res.writableFinished ? {} : { cut: true };
    const ms = Math.round(tookMs * 10) / 10;
    return { method: req.method, path: pathOf(req.url), status: res.statusCode, ms, remote: req.socket.remoteAddress, ...cut };
  });
}

type Eventual<T> = T | PromiseLike<T>;

/** Goes on at once with what need not be waited for: a cheap request is answered in one turn, without a promise. */
function then<T, R>(value: Eventual<T>, next: (value: T) => Eventual<R>): Eventual<R> {
  return isThenable(value) ? value.then(next) : next(value);
}

/** @returns a value that h3 sends */
function serve(exchange: Exchange, match: RouteMatch | undefined, deps: RoutedDeps): Eventual<Response | HTTPResponse> {
  const answer = answerWithoutRoute(exchange, match, deps) ?? answerByRoute(exchange, match as RouteMatch & { entry: RouteEntry }, deps);
  return then(answer, (given) => finished(given, exchange, deps));
}

function answerByRoute(
  exchange: Exchange,
  { entry, rest }: RouteMatch & { entry: RouteEntry },
  deps: HttpDeps,
): Eventual<Response | HttpReply> {
  const { req, path } = exchange;
  const { route, owner } = entry;
  const refused = (error: unknown) => refuse(error, { entry, path, logger: deps.logger });
  const handled = (admitted: Admitted): Eventual<Response | HttpReply> =>
    then(
      runAs(owner, `route ${route.path}`, () => route.handler(new Call(exchange, admitted, deps.stopSignal))),
      toAnswer,
    );
  holdUntilClosed(entry, exchange);
  try {
    const remote = admit(req, route, deps);
    const answer = then(route.auth === "plugin" ? undefined : authenticate(req, remote, deps), (passed) => {
      const scopes = passed ? authorize(req, passed, route, deps) : [];
      const admitted = { route, rest, remote, revoked: passed?.revoked, scopes };
      if (!deps.hooks.isUsed("http.request")) return handled(admitted);
      const claim = deps.hooks.run("http.request", seenRequest(exchange, remote));
      return claim.then((made) => (made ? toAnswer(made.response) : handled(admitted)));
    });
    return isThenable(answer) ? answer.then((given) => given, refused) : answer;
  } catch (error) {
    return refused(error);
  }
}

/** Sends an answer, or gives h3 what it sends. */
function finished(answer: Response | HttpReply, exchange: Exchange, deps: RoutedDeps): Eventual<Response | HTTPResponse> {
  // The end of a short body stands in the packet that is being read; such a sender keeps its connection.
  if (isBodyLeft(exchange.req)) return nextTurn().then(() => revised(answer, exchange, deps));
  return revised(answer, exchange, deps);
}

function revised(answer: Response | HttpReply, exchange: Exchange, { hooks, toSendable }: RoutedDeps): Eventual<Response | HTTPResponse> {
  const { req, path } = exchange;
  if (isBodyLeft(req)) endAfterAnswer(exchange);
  if (!hooks.isUsed("http.response")) return toSendable(answer, exchange);
  const at = { method: req.method ?? "", path };
  const revising = reviseAnswer(answer, (seen) => hooks.run("http.response", { ...at, ...seen }));
  return revising.then((changed) => toSendable(changed ?? answer, exchange));
}

/** The rest of an unwanted body is not waited for: the answer, then the end of the connection. */
function endAfterAnswer({ res }: Exchange): void {
  res.setHeader("Connection", "close");
  if (res.socket) lingerAfterAnswer(res.socket);
}

function seenRequest({ req: { method = "", headers }, path }: Exchange, { address }: Remote) {
  return { method, path, headers: plainHeaders(headers), remote: address };
}

/** Keeps the plugin's instance until the answer has been sent. A client may have gone while the plugin was being loaded. */
function holdUntilClosed(entry: RouteEntry, { res }: Exchange): void {
  const held = entry.hold();
  if (res.closed) void held.dispose();
  else res.on("close", () => void held.dispose());
}

/** The last resort, which asks nobody: a request without an answer would keep its connection for ever. */
function failed({ req, res, path }: Exchange, error: HTTPError, { logger }: HttpDeps): Response {
  logger.error("an answer could not be sent", { method: req.method, path, error: error.cause ?? error });
  // Its head has gone: anything more would be taken for the next answer.
  if (res.headersSent) {
    res.destroy();
    return new Response(null);
  }
  for (const name of ["Content-Type", "Content-Length", "Transfer-Encoding", "Content-Encoding"]) res.removeHeader(name);
  return plain(500, STATUS_CODES[500] as string, { "Cache-Control": "no-store", Connection: "close" });
}

/** A request without one says so in its head, and is complete only a moment after that. */
function isBodyLeft({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0");
}

/** The answer to a request that reaches no route; undefined for one that does. */
function answerWithoutRoute(exchange: Exchange, match: RouteMatch | undefined, deps: HttpDeps): Response | undefined {
  const { req, path } = exchange;
  const misdirection = isIngress(match, path, deps) ? undefined : deps.clientPolicy.hostRefusalOf(req);
  if (misdirection) {
    const isPage = !match || match.group.isFallback;
    if (isPage) return plain(421, misdirection.message);
    return refuse(misdirection, { entry: match.group.entries[0] as RouteEntry, path, logger: deps.logger });
  }
  if (!match) return unclaimed(exchange, deps);
  return match.entry ? undefined : methodNotAllowed(match.group, { path, logger: deps.logger });
}

/** Callers of an ingress prove themselves to its plugin, so it does not matter by which name they came. The page of the fallback is no ingress. */
function isIngress(match: RouteMatch | undefined, path: string, { isHookPath }: HttpDeps): boolean {
  if (!match) return isHookPath(path);
  return !match.group.isFallback && match.group.entries.every(({ route }) => route.auth === "plugin");
}

/** @throws {SvcError} `draining`, `proxy-attribution-required` */
function admit(req: IncomingMessage, route: HttpRoute, deps: HttpDeps): Remote {
  const remote = deps.clientPolicy.callerOf(req);
  if (deps.probe.phase() === "draining" || deps.probe.phase() === "stopped") throw sharedErrors.draining();
  // Ingress of plugins takes anybody's word for nothing: the headers are ignored there. The page of the fallback is no ingress.
  if (remote.unattributed && (route.auth === "gateway" || route.fallback)) throw attributionRequired();
  return remote;
}

/** @throws {SvcError} `unauthorized`, `rate-limited`; rejects with them when they are known later */
function authenticate(req: IncomingMessage, remote: Remote, deps: HttpDeps): Passed | Promise<Passed> {
  const { mode } = deps.authenticator;
  const { origin } = req.headers;
  if ((mode === "none" || mode === "trusted-proxy") && origin !== undefined && !deps.clientPolicy.isOriginAllowed(origin, req, "http")) {
    throw originUnauthorized(deps.clientPolicy.originRetryAfterMs(origin));
  }
  const bearer = /^Bearer\s+(\S.*)$/i.exec(req.headers.authorization ?? "")?.[1]?.trim();
  const presented = { token: bearer, password: bearer };
  return deps.authenticator.check(presented, remote, { proxy: deps.clientPolicy.proxyVerdict(req) });
}

/** Checks the credential of a probe, if it has one. A wrong one is answered like none, and counts as a failure all the same. */
function probeAuth(req: IncomingMessage, deps: HttpDeps): Promise<boolean> | undefined {
  const { mode } = deps.authenticator;
  const isAsking = mode === "trusted-proxy" || (mode !== "none" && req.headers.authorization !== undefined);
  const remote = isAsking ? deps.clientPolicy.callerOf(req) : undefined;
  if (!remote || remote.unattributed) return undefined;
  return (async () => authenticate(req, remote, deps))().then(
    () => true,
    () => false,
  );
}

/** @throws {SvcError} `missing-scope` */
function authorize(req: IncomingMessage, { known }: Passed, route: HttpRoute, { authenticator }: HttpDeps): readonly OperatorScope[] {
  const granted = known ? allScopes.filter((scope) => known.scopes.includes(scope)) : allScopes;
  const scopes = narrowScopes(granted, req.headers["x-svc-scopes"], authenticator.mode);
  const needed = route.scope ?? "operator.read";
  if (!hasScope(scopes, needed)) throw sharedErrors.missingScope({ missingScope: needed, requiredScopes: [needed] });
  return scopes;
}

function isThenable<T>(value: Eventual<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

interface Admitted {
  route: HttpRoute;
  /** Undecoded. */
  rest: string;
  remote: Remote;
  revoked: AbortSignal | undefined;
  scopes: readonly OperatorScope[];
}

/** One request as the handler of its route gets it. A class, because an object literal with accessors costs more to make than a small answer. */
class Call implements HttpCall {
  /**
   * Getter of `signal`, which is made on demand: most answers are given at once, and joining signals costs more than all of their work. It becomes a member of
   * each object, so that a copy (`{ ...call }`) has the signal; one getter for all, so that all objects keep one shape.
   */
  static readonly #signalOfCall: PropertyDescriptor & ThisType<Call> = {
    enumerable: true,
    get() {
      this.#joined ??= AbortSignal.any([this.req.signal, this.#stopSignal]);
      return this.#joined;
    },
  };
  declare readonly signal: AbortSignal;
  readonly req: Request;
  readonly url: URL;
  readonly rest: string;
  readonly requestId: string;
  readonly remote: Remote;
  readonly scopes: readonly OperatorScope[];
  readonly #exchange: Exchange;
  readonly #stopSignal: AbortSignal;
  readonly #ceiling: number;
  readonly #revoked: AbortSignal | undefined;
  #joined: AbortSignal | undefined;
  #body: Promise<Buffer> | undefined;

  constructor(exchange: Exchange, { route, rest, remote, revoked, scopes }: Admitted, stopSignal: AbortSignal) {
    const { event, res } = exchange;
    this.req = event.req as unknown as Request;
    this.url = event.url;
    this.rest = rest === "" ? "" : safeDecode(rest);
    this.requestId = String(res.getHeader("x-request-id"));
    this.remote = remote;
    this.scopes = scopes;
    this.#exchange = exchange;
    this.#stopSignal = stopSignal;
    this.#ceiling = route.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
    this.#revoked = revoked;
    Object.defineProperty(this, "signal", Call.#signalOfCall);
  }

  // Members of the object, so that a handler may take them off it.
  readonly bytes = ({ maxBytes = this.#ceiling, timeoutMs }: { maxBytes?: number; timeoutMs?: number } = {}): Promise<Buffer> => {
    this.#body ??= this.#read(Math.min(maxBytes, this.#ceiling), timeoutMs);
    return this.#body;
  };
  readonly text = async (): Promise<string> => (await this.bytes()).toString("utf8");
  readonly json = async (): Promise<unknown> => parseJsonBody(await this.text());

  #read(maxBytes: number, timeoutMs: number | undefined): Promise<Buffer> {
    const { req, res } = this.#exchange;
    // A client that asks first (`Expect: 100-continue`) is answered only now: a body that is refused is never sent.
    const proceed = req.headers.expect ? () => res.writeContinue() : undefined;
    return readBody(req, { maxBytes, timeoutMs, proceed, revoked: this.#revoked });
  }
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Answers a path that no route claims. Whose route is missing, and why, is for callers of this machine: nobody can be authenticated without the route. */
function unclaimed({ req, path }: Exchange, deps: HttpDeps): Response {
  const settled = isServing(deps.probe.phase());
  const down = settled ? deps.down(path) : undefined;
  if (down) {
    const fault = toHttpFault(kernelErrors.pluginNotRunning({ subject: path, ...down }));
    const message = isDirectLoopback(req) ? fault.message : `${path}: not available at present`;
    const response = defaultFaultResponse({ ...fault, message });
    response.headers.set("Cache-Control", "no-store");
    return response;
  }
  if (isBelow(path, "/v1")) return unknownApi(settled);
  return settled ? plain(404, "Not Found") : plain(503, "svc is not ready; try again in a second", { "Retry-After": "1", Refresh: "1" });
}

/** Clients of the API read JSON, also from an address that has nothing to say. */
function unknownApi(settled: boolean): Response {
  const invalid = { type: "invalid_request_error", code: null, message: "Not Found: there is no such endpoint, or it is turned off" };
  const starting = { type: "api_error", code: "gateway_unavailable", message: "svc is not ready; try again in a second" };
  const { type, code, message } = settled ? invalid : starting;
  const headers = settled ? {} : { "Retry-After": "1" };
  return Response.json(
    { error: { message, type, param: null, code } },
    { status: settled ? 404 : 503, headers: { ...jsonType, ...headers } },
  );
}

/** A path that is there, asked by another method: in the body format of its routes when they have one. */
function methodNotAllowed({ entries, allow }: RouteMatch["group"], site: Pick<RefusalSite, "path" | "logger">): Response {
  const entry = entries.find(({ route }) => route.onError);
  const headers = { Allow: allow };
  if (!entry) return plain(405, "Method Not Allowed", headers);
  return answerFault({ status: 405, code: "method-not-allowed", message: `Method Not Allowed: use ${allow}`, headers }, { ...site, entry });
}

const jsonType = { "Content-Type": "application/json; charset=utf-8" };

/** An answer of plain text. */
function plain(status: number, body: string, headers: Record<string, string> = {}): Response {
  return new Response(body, { status, headers: { "Content-Type": "text/plain; charset=utf-8", ...headers } });
}
