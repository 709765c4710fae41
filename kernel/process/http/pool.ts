import { setMaxListeners } from "node:events";
import type { Readable } from "node:stream";
import type { Pool } from "undici";
import { isSvcError } from "../../../sdk/errors.ts";
import type { HttpRequestFunction, HttpRequestOptions } from "../../../sdk/types/request.ts";
import { kernelErrors } from "../../errors.ts";
import { type Connector, createConnector } from "./connect.ts";
import { isInPieces, type ResponseHead, Stop, send } from "./exchange.ts";
import { loadUndici, type Undici } from "./load-undici.ts";
import { type EnvProxy, type ProxyEnv, proxyFor } from "./proxy.ts";

/** Bounds of one pool. */
export const poolLimits = { maxConnections: 64, maxWaiting: 1_000, maxOrigins: 32 } as const;

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

/** Limits of one request. */
interface Life {
  timeoutMs: number;
  stop: Stop;
  /** Called when the body of the response is over. */
  end(): void;
}

/** Nothing is opened or loaded before the first request. */
export function createHttpPool(options: HttpPoolOptions): HttpPool {
  /** In the order of their last use. */
  const origins = new Map<string, Origin>();
  const underWay = new Set<Stop>();
  const addressOf = createAddressReader();
  let undici: Undici | undefined;
  let closing: Promise<void> | undefined;

  const exchange = async (url: URL, request: HttpRequestOptions, { timeoutMs, stop, end }: Life) => {
    undici ??= await loadUndici();
    stop.throwIfStopped();
    const origin = originOf(undici, url, { origins, options });
    const waiting = enter(origin, url, stop);
    if (waiting) await waiting;
    try {
      stop.throwIfStopped();
      const response = await sent(undici, origin, { url, request, timeoutMs, stop, userAgent: options.userAgent });
      response.body.on("close", () => {
        end();
        origin.settling++;
        setImmediate(() => {
          origin.settling--;
          leave(origin);
        });
      });
      return response;
    } catch (error) {
      leave(origin);
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
    for (const stop of underWay) stop.stop(reason);
    await Promise.all([...origins.values()].map(destroyed));
    origins.clear();
  };
  options.signal.addEventListener("abort", close, { once: true });
  if (options.signal.aborted) void close();

  return {
    async request(address, given = {}) {
      const url = addressOf(address);
      checkMethod(given.method);
      options.signal.throwIfAborted();
      if (closing) throw new Error("the connections were closed");
      const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = given;
      const stop = new Stop();
      const explain = (error: unknown) => {
        const via = origins.get(url.origin)?.proxy;
        return (stop.isStopped ? stop.reason : explained(error, { url, timeoutMs, via })) as Error;
      };
      const timer = setTimeout(() => stop.stop(explain({ code: HEADERS_TIMEOUT })), timeoutMs);
      let unfollow: (() => void) | undefined;
      const end = () => {
        underWay.delete(stop);
        unfollow?.();
      };
      underWay.add(stop);
      try {
        unfollow = signal && follow(signal, stop);
        const { status, headers, body } = await exchange(url, given, { timeoutMs, stop, end });
        return { status, headers, body: failingWith(body, explain) };
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

/** Stops a request with the signal of its owner. @returns stops following the signal */
function follow(signal: AbortSignal, stop: Stop): () => void {
  const onAbort = () => stop.stop(signal.reason);
  // One listener for each request, and their number has a bound here. A signal of another library knows no limit.
  if (signal instanceof EventTarget) setMaxListeners(0, signal);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  return () => signal.removeEventListener("abort", onAbort);
}

/** Reads addresses. Most requests of an owner go to one, so the last is remembered. @throws {SvcError} `invalid-request` */
function createAddressReader(): (address: string | URL) => URL {
  let last: { text: string; url: URL } | undefined;
  return (address) => {
    const text = String(address);
    if (last?.text !== text) last = { text, url: checkedUrl(text) };
    return last.url;
  };
}

/** Types do not hold a plugin in JavaScript: a connection that a CONNECT has made its own would never come back. @throws {SvcError} `invalid-request` */
function checkMethod(method: string | undefined): void {
  if (method?.toUpperCase() === "CONNECT")
    throw kernelErrors.invalidRequest({ problem: "expected a method other than CONNECT; it opens a tunnel" });
}

/** @throws {SvcError} `invalid-request` */
function checkedUrl(address: string): URL {
  const wrong = (problem: string) => kernelErrors.invalidRequest({ problem });
  if (!URL.canParse(address)) throw wrong("expected an address such as https://host/path");
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
 * @returns undefined when there is one now, else resolves when there is
 * @throws {SvcError} `too-many-requests-waiting`; rejects with the reason of the stop
 */
function enter(origin: Origin, url: URL, stop: Stop): Promise<void> | undefined {
  const { waiting } = origin;
  const isNextFree = waiting.size < origin.settling;
  if (origin.active < poolLimits.maxConnections && !isNextFree) {
    origin.active++;
    return undefined;
  }
  if (waiting.size >= poolLimits.maxWaiting) throw tooMany(url);
  return new Promise<void>((resolve, reject) => {
    waiting.add(resolve);
    stop.onStop = (reason) => {
      if (waiting.delete(resolve)) reject(reason);
    };
  });
}

/** Gives a place back, to the next in the queue. */
function leave(origin: Origin): void {
  const [next] = origin.waiting;
  if (!next) origin.active--;
  else {
    origin.waiting.delete(next);
    next();
  }
}

/** Sends a request; a second time when a kept connection broke before the response began and the request may arrive twice. */
async function sent(undici: Undici, { pool, connector }: Origin, sending: Parameters<typeof send>[2]): Promise<ResponseHead> {
  try {
    return await send(undici, pool, sending);
  } catch (error) {
    if (sending.stop.isStopped || !isResendable(sending.request) || !connector.wasReused(error)) throw error;
    return send(undici, pool, sending);
  }
}

function isResendable({ method = "GET", body, idempotent = method === "GET" || method === "HEAD" }: HttpRequestOptions): boolean {
  return idempotent && !isInPieces(body);
}

/** The body, whose reader gets errors in the terms of the request. */
function failingWith(body: Readable, explain: (error: unknown) => Error): Readable {
  const destroy = body._destroy.bind(body);
  body._destroy = (error, callback) => destroy(error && explain(error), callback);
  return body;
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
