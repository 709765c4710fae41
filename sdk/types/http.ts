import type { OperatorScope } from "./rpc.ts";

/** The other end of a connection. */
export interface Remote {
  /** Client address, IPv4-mapped IPv6 folded to IPv4. */
  readonly address: string;
  /** Loopback peer without any forwarding header. */
  readonly directLoopback: boolean;
}

/** One HTTP request after routing and auth. */
export interface HttpCall {
  /** The web request. `req.signal` aborts when the client goes away. */
  readonly req: Request;
  readonly url: URL;
  /** Decoded rest of the path after a `prefix` route's path, without a leading slash; `""` for exact routes, the whole path for a fallback. */
  readonly rest: string;
  readonly requestId: string;
  readonly remote: Remote;
  /** Operator scopes of the caller; empty on routes with `auth: "plugin"` or `"none"`. */
  readonly scopes: readonly OperatorScope[];
  /** Aborts when the client goes away or the gateway stops. */
  readonly signal: AbortSignal;
  /**
   * Body as it came, at most the route's `maxBodyBytes`, read within 30 s; once per request. `maxBytes` and `timeoutMs` can only make that less.
   * @throws {SvcError} `payload-too-large`, `request-timeout`, `content-encoding`
   */
  bytes(options?: { maxBytes?: number; timeoutMs?: number }): Promise<Uint8Array>;
  /**
   * Body as text, at most the route's `maxBodyBytes`, read within 30 s.
   * @throws {SvcError} `payload-too-large`, `request-timeout`
   */
  text(): Promise<string>;
  /**
   * Body as JSON, nested at most 64 levels deep; a blank body is `{}`.
   * @throws {SvcError} `invalid-json` and those of `text()`
   */
  json(): Promise<unknown>;
}

/** An answer that is complete already; cheaper than a `Response`, for hot routes. */
export interface HttpReply {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string>;
  body: string | Uint8Array;
}

/**
 * Values that a route handler may return. A `Response` is sent as it is, and so is an `HttpReply`: an object with a `body` of text or bytes and nothing beside it
 * but `status` and `headers`. Text is `text/plain`; bytes, a `Blob`, a web or Node stream and an async iterable are a body of bytes; any other value with a
 * JSON form, `null` included, is `application/json`. Use `Response.json` for a status or headers of your own, and for JSON that looks like an `HttpReply`.
 * Anything else (`undefined`, a function, a bigint, a circular object, a body that was used already) is answered with 500, and the log names plugin and route.
 */
export type HttpAnswer = Response | HttpReply | string | number | boolean | null | object;

/** A path of the port that a plugin answers. */
export interface HttpRoute {
  /** Upper-case methods; anything else answers 405 with `Allow`. */
  method: string | readonly string[];
  /** Absolute path, no trailing slash except `/`. */
  path: string;
  match: "exact" | "prefix";
  /** `gateway`: the kernel checks operator auth. `plugin`: the plugin verifies the caller itself (needs `http.public`). */
  auth: "gateway" | "plugin";
  /** Scope the kernel demands after auth; default `operator.read`. */
  scope?: OperatorScope;
  /** Default 1 MiB. */
  maxBodyBytes?: number;
  /** True for the route tried last, for GET and HEAD only; one plugin may own it. */
  fallback?: boolean;
  handler(call: HttpCall): HttpAnswer | Promise<HttpAnswer>;
  /** Turns a refusal of the kernel or a thrown error into the route's own body format. */
  onError?(error: HttpFault): Response;
}

/** A failed request before its body format is known. */
export interface HttpFault {
  status: number;
  /** Stable code: an `SvcError` code such as `unauthorized`, `missing-scope`, `payload-too-large`, `internal`. */
  code: string;
  /** Safe to show; `internal error` for anything that was not an `SvcError`. */
  message: string;
  headers: Record<string, string>;
  /** Machine-readable reason why a caller was refused: `token_mismatch`, `rate_limited`, `proxy_attribution_required` … */
  reason?: string;
}
