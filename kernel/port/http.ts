import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { protocolErrors } from "../../sdk/protocol/errors.ts";
import { allScopes, hasScope } from "../../sdk/scopes.ts";
import type { Logger } from "../../sdk/types/common.ts";
import type { HttpCall, HttpFault, HttpReply, HttpRoute, Remote } from "../../sdk/types/http.ts";
import type { OperatorScope } from "../../sdk/types/rpc.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { isDirectLoopback } from "../auth/client-address.ts";
import type { ClientPolicy } from "../auth/client-policy.ts";
import { withoutCookies } from "../auth/http-cookies.ts";
import { attributionRequired, originUnauthorized } from "../auth/proxy-refusal.ts";
import { narrowScopes } from "../auth/requested-scopes.ts";
import { kernelErrors } from "../errors.ts";
import type { HookBus } from "../hooks/bus.ts";
import { runAs } from "../hooks/running.ts";
import type { Activation } from "../loader/activation.ts";
import type { DownPlugin } from "../loader/plugins-down.ts";
import { defaultFaultResponse, toHttpFault } from "./http-fault.ts";
import { plainHeaders, reviseAnswer } from "./http-hooks.ts";
import { lingerAfterAnswer } from "./linger.ts";
import { plain } from "./plain.ts";
import { answerProbe, isServing, type ProbeState } from "./probes.ts";
import { setBaseline } from "./raw-response.ts";
import { parseJsonBody, readBody } from "./request-body.ts";
import { BadAnswer, toAnswer } from "./route-answer.ts";
import type { RouteMatch, RouteTable } from "./routes.ts";
import { sendReply } from "./send-reply.ts";
import { createWebSides, type WebSide } from "./web-side.ts";

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
  logger: Logger;
  /** Value of `Strict-Transport-Security`, if any. */
  hsts(): string | undefined;
  /** Is the path one of the webhook ingress, whether or not that is on? */
  isHookPath(path: string): boolean;
  /** Aborts when the gateway stops for good. */
  stopSignal: AbortSignal;
}

/** Everything HTTP on the port: baseline headers, probes, then the route table behind auth. */
export function createHttpHandler(deps: HttpDeps): RequestListener {
  const webSideOf = createWebSides();
  return (req, res) => {
    setBaseline(req, res);
    const hsts = deps.hsts();
    if (hsts) res.setHeader("Strict-Transport-Security", hsts);
    const status = deps.clientPolicy.refusalOf(req)?.status;
    if (status) res.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" }).end(STATUS_CODES[status]);
    else if (!answerProbe(req, res, deps.probe)) {
      const exchange = new Exchange(req, res, webSideOf);
      logEnd(exchange, deps.logger);
      void serve(exchange, deps);
    }
  };
}

/** A line for each request at its end; never its query, which may hold a secret. */
function logEnd({ req, res, path }: Exchange, logger: Logger): void {
  const started = performance.now();
  res.once("close", () =>
    logger.debug("http", () => {
      const cut = res.writableFinished ? {} : { cut: true };
      const ms = Math.round((performance.now() - started) * 10) / 10;
      return { method: req.method, path, status: res.statusCode, ms, remote: req.socket.remoteAddress, ...cut };
    }),
  );
}

/** One request and its answer; what is web about them is made on demand. */
class Exchange {
  #web: WebSide | undefined;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Path without query, undecoded. */
  readonly path: string;
  readonly #webSideOf: ReturnType<typeof createWebSides>;

  constructor(req: IncomingMessage, res: ServerResponse, webSideOf: ReturnType<typeof createWebSides>) {
    this.req = req;
    this.res = res;
    this.path = rawPath(req.url);
    this.#webSideOf = webSideOf;
  }

  get web(): WebSide {
    this.#web ??= this.#webSideOf(this.req, this.res);
    return this.#web;
  }
}

async function serve(exchange: Exchange, deps: HttpDeps): Promise<void> {
  const { req, res, path } = exchange;
  try {
    const answer = await answerFor(exchange, deps);
    // The end of a short body stands in the packet that is being read; such a sender keeps its connection.
    if (isBodyLeft(req)) await nextTurn();
    // What is left of a body that nobody wanted is not waited for: the answer, then the end of the connection.
    if (isBodyLeft(req)) {
      res.setHeader("Connection", "close");
      if (res.socket) lingerAfterAnswer(res.socket);
    }
    if (!deps.hooks.isUsed("http.response")) return send(answer, exchange);
    const at = { method: req.method ?? "", path };
    const revised = await reviseAnswer(answer, (seen) => deps.hooks.run("http.response", { ...at, ...seen }));
    send(revised ?? answer, exchange);
  } catch (error) {
    deps.logger.error("an answer could not be sent", { method: req.method, path, error });
    giveUp(res);
  }
}

/** The last resort, which asks nobody: a request without an answer would keep its connection for ever. */
function giveUp(res: ServerResponse): void {
  if (res.headersSent) return void res.destroy();
  for (const name of ["Content-Type", "Content-Length", "Transfer-Encoding", "Content-Encoding"]) res.removeHeader(name);
  const body = STATUS_CODES[500] as string;
  const headers = { "Content-Type": "text/plain; charset=utf-8", "Content-Length": body.length, "Cache-Control": "no-store" };
  res.writeHead(500, { ...headers, Connection: "close" }).end(res.req.method === "HEAD" ? undefined : body);
}

/** A request without one says so in its head, and is complete only a moment after that. */
function isBodyLeft({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0");
}

function send(answer: Response | HttpReply, exchange: Exchange): void {
  if (answer instanceof Response) exchange.web.send(sendCookies(answer, exchange.res));
  else sendReply(answer, exchange, (plain) => exchange.web.send(plain));
}

/** Over headers that stand on `res` already, `writeHead` keeps the last line of each name; so several cookies are put there as one list. */
function sendCookies(answer: Response, res: ServerResponse): Response {
  const cookies = answer.headers.getSetCookie();
  if (cookies.length < 2) return answer;
  res.setHeader("Set-Cookie", cookies);
  return withoutCookies(answer);
}

async function answerFor(exchange: Exchange, deps: HttpDeps): Promise<Response | HttpReply> {
  const { req, res, path } = exchange;
  let matches = deps.routes.match(path);
  const loading = matches.length === 0 ? deps.activation.use("http", path) : undefined;
  if (loading) {
    await loading;
    matches = deps.routes.match(path);
  }
  const misdirection = isIngress(matches, path, deps) ? undefined : deps.clientPolicy.hostRefusalOf(req);
  if (misdirection) {
    const [first] = matches;
    const isPage = !first || first.entry.route.fallback === true;
    return isPage ? plain(421, misdirection.message) : refuse(misdirection, refusalAt(first, path, deps));
  }
  if (matches.length === 0) return unclaimed(exchange, deps);
  const match = matches.find((m) => m.entry.methods.includes(req.method ?? ""));
  if (!match) return plain(405, "Method Not Allowed", { Allow: matches.map((m) => m.entry.allow).join(", ") });
  const held = match.entry.hold();
  // A client may have gone while the plugin was being loaded.
  if (res.closed) void held.dispose();
  else res.once("close", () => void held.dispose());
  try {
    const { remote, ...admitted } = admit(exchange, match, deps);
    const passed = admitted.passing && (await admitted.passing);
    if (deps.hooks.isUsed("http.request")) {
      const { method = "", headers } = req;
      const seen = { method, path, headers: plainHeaders(headers), remote: remote.address };
      const claim = await deps.hooks.run("http.request", seen);
      if (claim) return toAnswer(claim.response);
    }
    const { route, owner } = match.entry;
    const call = createCall({ exchange, match, remote, revoked: passed?.revoked, scopes: passed?.scopes ?? [] }, deps);
    return toAnswer(await runAs(owner, `route ${route.path}`, () => route.handler(call)));
  } catch (error) {
    return refuse(error, refusalAt(match, path, deps));
  }
}

/** Callers of an ingress prove themselves to its plugin, so it does not matter by which name they came. The page of the fallback is no ingress. */
function isIngress(matches: readonly RouteMatch[], path: string, { isHookPath }: HttpDeps): boolean {
  if (matches.length === 0) return isHookPath(path);
  return matches.every(({ entry: { route } }) => route.auth === "plugin" && !route.fallback);
}

/** @throws {SvcError} `draining`, `proxy-attribution-required` */
function admit({ req }: Exchange, { entry: { route } }: RouteMatch, deps: HttpDeps) {
  const remote = deps.clientPolicy.callerOf(req);
  if (deps.probe.phase() === "draining" || deps.probe.phase() === "stopped") throw protocolErrors.draining();
  // Ingress of plugins takes anybody's word for nothing: the headers are ignored there. The page of the fallback is no ingress.
  if (remote.unattributed && (route.auth === "gateway" || route.fallback)) throw attributionRequired();
  return { remote, passing: route.auth === "plugin" ? undefined : authorize(req, remote, route, deps) };
}

/** @throws {SvcError} `unauthorized`, `rate-limited`, `missing-scope` */
async function authorize(
  req: IncomingMessage,
  remote: Remote,
  route: HttpRoute,
  deps: HttpDeps,
): Promise<Pick<Admitted, "revoked" | "scopes">> {
  const { mode } = deps.authenticator;
  const { origin } = req.headers;
  if ((mode === "none" || mode === "trusted-proxy") && origin !== undefined && !deps.clientPolicy.isOriginAllowed(origin, req, "http")) {
    throw originUnauthorized(deps.clientPolicy.originRetryAfterMs(origin));
  }
  const bearer = /^Bearer\s+(\S.*)$/i.exec(req.headers.authorization ?? "")?.[1]?.trim();
  const presented = { token: bearer, password: bearer };
  const { revoked, known } = await deps.authenticator.check(presented, remote, { proxy: deps.clientPolicy.proxyVerdict(req) });
  const granted = known ? allScopes.filter((scope) => known.scopes.includes(scope)) : allScopes;
  const scopes = narrowScopes(granted, req.headers["x-svc-scopes"], mode);
  const needed = route.scope ?? "operator.read";
  if (!hasScope(scopes, needed)) throw protocolErrors.missingScope({ missingScope: needed, requiredScopes: [needed] });
  return { revoked, scopes };
}

interface Admitted {
  exchange: Exchange;
  match: RouteMatch;
  remote: Remote;
  revoked: AbortSignal | undefined;
  scopes: readonly OperatorScope[];
}

function createCall({ exchange, match, remote, revoked, scopes }: Admitted, deps: HttpDeps): HttpCall {
  const { route } = match.entry;
  const ceiling = route.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  let signal: AbortSignal | undefined;
  let body: Promise<Buffer> | undefined;
  // A client that asks first (`Expect: 100-continue`) is answered only now: a body that is refused is never sent.
  const proceed = exchange.req.headers.expect ? () => exchange.res.writeContinue() : undefined;
  const bytes = ({ maxBytes = ceiling, timeoutMs }: { maxBytes?: number; timeoutMs?: number } = {}) =>
    (body ??= readBody(exchange.req, { maxBytes: Math.min(maxBytes, ceiling), timeoutMs, proceed, revoked }));
  const text = async () => (await bytes()).toString("utf8");
  return {
    get req() {
      return exchange.web.event.req as unknown as Request;
    },
    get url() {
      return exchange.web.event.url;
    },
    rest: match.rest === "" ? "" : safeDecode(match.rest),
    requestId: String(exchange.res.getHeader("x-request-id")),
    remote,
    scopes,
    // Made on demand: most answers are given at once, and joining signals costs more than all of their work.
    get signal() {
      signal ??= AbortSignal.any([exchange.web.event.req.signal, deps.stopSignal]);
      return signal;
    },
    bytes,
    text,
    json: async () => parseJsonBody(await text()),
  };
}

/** Path without query, undecoded. */
function rawPath(url: string | undefined): string {
  const path = (url ?? "/").split("?", 1)[0] as string;
  return path === "" ? "/" : path;
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
  return settled ? plain(404, "Not Found") : plain(503, "svc is not ready; try again in a second", { "Retry-After": "1", Refresh: "1" });
}

/** The fault in the body format of its route; in the common one when that format fails itself. */
function formatted(fault: HttpFault, { route, owner, logger }: RefusalSite): Response {
  if (!route.onError) return defaultFaultResponse(fault);
  try {
    const response: unknown = runAs(owner, `route ${route.path}`, () => route.onError?.(fault));
    if (response instanceof Response && !response.bodyUsed) return response;
    logger.error(`route ${route.path} of plugin "${owner}": its onError returned no Response`);
  } catch (error) {
    logger.error(`route ${route.path} of plugin "${owner}": its onError failed`, { error });
  }
  return defaultFaultResponse(fault);
}

interface RefusalSite {
  route: HttpRoute;
  owner: string;
  path: string;
  logger: Logger;
}

function refusalAt({ entry: { route, owner } }: RouteMatch, path: string, { logger }: HttpDeps): RefusalSite {
  return { route, owner, path, logger };
}

function refuse(error: unknown, at: RefusalSite): Response {
  const fault = toHttpFault(error);
  if (fault.status >= 500 && fault.code === "internal") {
    const what = `route ${at.route.path} of plugin "${at.owner}"`;
    // Its stack leads nowhere into the plugin.
    if (error instanceof BadAnswer) at.logger.error(`${what}: ${error.message}`, { path: at.path });
    else at.logger.error(`${what} failed`, { path: at.path, error });
  }
  const response = formatted(fault, at);
  for (const [name, value] of Object.entries(fault.headers)) response.headers.set(name, value);
  return response;
}
