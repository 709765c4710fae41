import type { Readable } from "node:stream";

/** Body of a request: whole, or in pieces whose total length is known before. */
export type HttpRequestBody = string | Uint8Array | { bytes: number; chunks: AsyncIterable<Uint8Array> };

/** One request of `ctx.request`. */
export interface HttpRequestOptions {
  /** Default `GET`. */
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  headers?: Readonly<Record<string, string>>;
  body?: HttpRequestBody | undefined;
  /** Ends the request and closes its connection, during the wait and during the body; both then fail with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Longest wait for the head of the response, the place in the queue included, and longest silence within the body; default 60 s. */
  timeoutMs?: number;
  /** True for a request that may arrive twice: it is sent again, once, when it meets a kept connection that the server has just closed. Default: `GET` and `HEAD`. */
  idempotent?: boolean;
}

/** A response that has begun. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; values of a repeated header are joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Holds its connection until it has been read to the end or destroyed: do one of both. Fails with the errors of the request. */
  readonly body: Readable;
}

/**
 * Sends a request over the kept connections of the plugin: at most 64 to one origin, through the proxy that `HTTPS_PROXY` or `HTTP_PROXY` names unless
 * `NO_PROXY` lists the host. Every status is a response; a redirect is not followed.
 * @throws {SvcError} `request-failed` when the connection fails, `proxy-failed` when the proxy does, `response-timeout`, `too-many-requests-waiting` beyond 1,000
 * to one origin, `invalid-request` for an address or a header that cannot be sent, `plugin-disposed`; else the reason of `signal`
 */
export type HttpRequestFunction = (url: string | URL, options?: HttpRequestOptions) => Promise<HttpResponse>;
