import type { Readable } from "node:stream";
import type { Dispatcher, Pool } from "undici";
import { isSvcError } from "../../../sdk/errors.ts";
import type { HttpRequestBody, HttpRequestFunction, HttpRequestOptions } from "../../../sdk/types/request.ts";
import { kernelErrors } from "../../errors.ts";
import { type Connector, createConnector } from "./connect.ts";
import { loadUndici, type Undici } from "./load-undici.ts";
import { type EnvProxy, type ProxyEnv, proxyFor } from "./proxy.ts";

/** Bounds of one pool. */
export const poolLimits = { maxConnections: 16, maxWaiting: 1_000, maxOrigins: 32 } as const;

/** Idle connections are kept this long, for as long as a conversation pauses; less when the server says so. */
const KEEP_ALIVE_MS = 30_000;
const DEFAULT_TIMEOUT_MS = 60_000;

export interface HttpPoolOptions {
  /** Names the proxies. */
  env: ProxyEnv;
  /** Sent unless a request has its own. */
  userAgent: string;
  /** Closes the pool; what is under way fails with its reason. */
  signal: AbortSignal;
  /** Certificates trusted besides those of the process; for tests. */
  ca?: string;
  /** Limit for each step of connecting; for tests. */
  connectMs?: number;
}

/** Kept connections of one owner to the servers that it asks. */
export interface HttpPool {
  readonly request: HttpRequestFunction;
  /** Ends every request and connection. Idempotent. */
  close(): Promise<void>;
}

/** Connections to one server, and the requests that wait for one of them. */
interface Origin {
  pool: Pool;
  connector: Connector;
  proxy: EnvProxy | undefined;
  active: number;
  /** Number of active ones whose response is over; undici uses their connections again one turn of the event loop later. */
  settling: number;
  /** In the order of their arrival. */
  waiting: Set<() => void>;
}

/** Nothing is opened or loaded before the first request. */
export function createHttpPool(options: HttpPoolOptions): HttpPool {
  /** Used last, last. */
  const origins = new Map<string, Origin>();
  const underWay = new Set<AbortController>();
  let closing: Promise<void> | undefined;

  const exchange = async (url: URL, request: HttpRequestOptions, signal: AbortSignal) => {
    const undici = await loadUndici();
    signal.throwIfAborted();
    const origin = originOf(undici, url, { origins, options });
    const leave = await entered(origin, url, signal);
    try {
      const send = () => sent(undici, origin.pool, { url, request, signal, userAgent: options.userAgent });
      const response = await send().catch((error: unknown) => {
        if (signal.aborted || !isResendable(request) || !origin.connector.wasReused(error)) throw error;
        return send();
      });
      response.body.once("close", () => {
        origin.settling++;
        setImmediate(() => {
          origin.settling--;
          leave();
        });
      });
      return response;
    } catch (error) {
      leave();
      throw error;
    }
  };

  const close = () => {
    closing ??= closeAll();
    return closing;
  };
  const closeAll = async () => {
    options.signal.removeEventListener("abort", close);
    const reason: unknown = options.signal.aborted ? options.signal.reason : new Error("the connections were closed");
    for (const stop of underWay) stop.abort(reason);
    await Promise.all([...origins.values()].map(destroyed));
    origins.clear();
  };
  options.signal.addEventListener("abort", close, { once: true });
  if (options.signal.aborted) void close();

  return {
    async request(address, given = {}) {
      const url = checkedUrl(address);
      options.signal.throwIfAborted();
      if (closing) throw new Error("the connections were closed");
      const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = given;
      const stop = new AbortController();
      const explain = (error: unknown) => {
        const via = origins.get(url.origin)?.proxy;
        return stop.signal.aborted ? stop.signal.reason : explained(error, { url, timeoutMs, via });
      };
      const onAbort = () => stop.abort(signal?.reason);
      const timer = setTimeout(() => stop.abort(explain({ code: HEADERS_TIMEOUT })), timeoutMs);
      const end = () => {
        underWay.delete(stop);
        signal?.removeEventListener("abort", onAbort);
      };
      underWay.add(stop);
      signal?.addEventListener("abort", onAbort, { once: true });
      if (signal?.aborted) onAbort();
      try {
        const response = await exchange(url, { ...given, timeoutMs }, stop.signal);
        response.body.once("close", end);
        return { status: response.statusCode, headers: joined(response.headers), body: failingWith(response.body, explain) };
      } catch (error) {
        end();
        throw explain(error);
      } finally {
        clearTimeout(timer);
      }
    },
    close,
  };
}

/** @throws {SvcError} `invalid-request` */
function checkedUrl(address: string | URL): URL {
  const wrong = (problem: string) => kernelErrors.invalidRequest({ problem });
  if (!URL.canParse(String(address))) throw wrong("expected an address such as https://host/path");
  const url = new URL(address);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw wrong(`expected an address with http or https, got ${url.protocol}`);
  if (url.username !== "" || url.password !== "") throw wrong("credentials do not belong into the address; send a header");
  return url;
}

/** @throws {SvcError} `proxy-failed`, `too-many-requests-waiting` */
function originOf(undici: Undici, url: URL, { origins, options }: { origins: Map<string, Origin>; options: HttpPoolOptions }): Origin {
  const known = origins.get(url.origin);
  if (known) {
    origins.delete(url.origin);
    origins.set(url.origin, known);
    return known;
  }
  const proxy = proxyFor(url, options.env);
  if (origins.size >= poolLimits.maxOrigins) dropIdle(origins);
  if (origins.size >= poolLimits.maxOrigins) throw tooMany(url);
  const connector = createConnector(undici, { proxy, ca: options.ca, connectMs: options.connectMs });
  const pool = new undici.Pool(url.origin, {
    connections: poolLimits.maxConnections,
    connect: connector.connect,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The request's own limit covers the place in the queue, too.
    headersTimeout: 0,
    allowH2: false,
  });
  const opened: Origin = { pool, connector, proxy, active: 0, settling: 0, waiting: new Set() };
  origins.set(url.origin, opened);
  return opened;
}

function dropIdle(origins: Map<string, Origin>): void {
  for (const [name, origin] of origins) {
    if (origin.active > 0) continue;
    origins.delete(name);
    void destroyed(origin);
    return;
  }
}

function destroyed({ pool, connector }: Origin): Promise<void> {
  connector.close();
  return pool.destroy();
}

function tooMany(url: URL) {
  return kernelErrors.tooManyRequestsWaiting({ origin: url.origin, limit: poolLimits.maxWaiting, origins: poolLimits.maxOrigins });
}

/**
 * Takes a place at one of the connections; undici's own queue has no bound, and a connection that failed would serve it beyond the number of connections.
 * @returns gives the place back, to the next in the queue
 * @throws {SvcError} `too-many-requests-waiting`; the signal's reason
 */
async function entered(origin: Origin, url: URL, signal: AbortSignal): Promise<() => void> {
  const { waiting } = origin;
  const isNextFree = waiting.size < origin.settling;
  if (origin.active < poolLimits.maxConnections && !isNextFree) origin.active++;
  else if (waiting.size >= poolLimits.maxWaiting) throw tooMany(url);
  else
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const onAbort = () => {
        waiting.delete(enter);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      waiting.add(enter);
    });
  let isIn = true;
  return () => {
    if (!isIn) return;
    isIn = false;
    const [next] = waiting;
    if (!next) origin.active--;
    else {
      waiting.delete(next);
      next();
    }
  };
}

function isResendable({ method = "GET", body, idempotent = method === "GET" || method === "HEAD" }: HttpRequestOptions): boolean {
  return idempotent && !isInPieces(body);
}

function isInPieces(body: HttpRequestBody | undefined): body is Exclude<HttpRequestBody, string | Uint8Array> {
  return typeof body === "object" && !(body instanceof Uint8Array);
}

interface Sending {
  url: URL;
  request: HttpRequestOptions;
  signal: AbortSignal;
  userAgent: string;
}

function sent(undici: Undici, pool: Pool, { url, request, signal, userAgent }: Sending): Promise<Dispatcher.ResponseData> {
  const { method = "GET", headers = {}, body, timeoutMs } = request;
  const hasAgent = Object.keys(headers).some((name) => name.toLowerCase() === "user-agent");
  return undici.request(pool, {
    method,
    path: url.pathname + url.search,
    headers: {
      ...headers,
      ...(hasAgent ? {} : { "user-agent": userAgent }),
      ...(isInPieces(body) ? { "content-length": String(body.bytes) } : {}),
    },
    body: isInPieces(body) ? (body.chunks as unknown as Readable) : (body ?? null),
    ...(timeoutMs === undefined ? {} : { bodyTimeout: timeoutMs }),
    signal,
  });
}

function joined(headers: Dispatcher.ResponseData["headers"]): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]));
}

/** The body, whose reader gets errors in the terms of the request. */
function failingWith(body: Readable, explain: (error: unknown) => Error): Readable {
  const destroy = body._destroy.bind(body);
  body._destroy = (error, callback) => destroy(error && explain(error), callback);
  // Somebody who leaves early has no use for the error of the connection that is closed then.
  return body.on("error", () => undefined);
}

const HEADERS_TIMEOUT = "UND_ERR_HEADERS_TIMEOUT";
const timeouts = new Set([HEADERS_TIMEOUT, "UND_ERR_BODY_TIMEOUT"]);
/** Codes of undici for what the system has codes for. */
const systemCodes: Readonly<Record<string, string>> = { UND_ERR_SOCKET: "ECONNRESET", UND_ERR_CONNECT_TIMEOUT: "ETIMEDOUT" };

/** An error of undici or the system as one of ours, by its code: messages may hold an address. Others, such as those of a body in pieces, are what they are. */
function explained(error: unknown, { url, timeoutMs, via }: { url: URL; timeoutMs: number; via: EnvProxy | undefined }): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (isSvcError(error) || typeof code !== "string") return error;
  if (code === "UND_ERR_INVALID_ARG") return kernelErrors.invalidRequest({ problem: (error as Error).message });
  const fields = { origin: url.origin, ...(via ? { via: ` (through the proxy ${via.name})` } : {}) };
  if (timeouts.has(code)) return kernelErrors.responseTimeout({ ...fields, seconds: timeoutMs / 1000 });
  return kernelErrors.requestFailed({ ...fields, reason: systemCodes[code] ?? code }, { cause: error });
}
