import { Readable } from "node:stream";
import type { Dispatcher, Pool } from "undici";
import type { HttpRequestBody, HttpRequestOptions, HttpResponse } from "../../../sdk/types/request.ts";
import type { ResponseBody, Undici } from "./load-undici.ts";

/** Ends one request for the first of many reasons: its owner's, its time limit, the end of the pool. Costs a tenth of an `AbortController` with its listeners. */
export class Stop {
  isStopped = false;
  reason: unknown;
  /** Ends the present step; whoever takes the next one puts another in its place. */
  onStop: ((reason: unknown) => void) | undefined;

  stop(reason: unknown): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.reason = reason;
    this.onStop?.(reason);
  }

  throwIfStopped(): void {
    if (this.isStopped) throw this.reason;
  }
}

/** One request at a connection of a pool. */
export interface Sending {
  url: URL;
  request: HttpRequestOptions;
  /** Longest silence within the body of the response. */
  timeoutMs: number;
  stop: Stop;
  userAgent: string;
}

/** A response that has begun. */
export type ResponseHead = Pick<HttpResponse, "status" | "headers" | "body">;

/** Sends a request and resolves when its response begins; the stop ends both. */
export function send(undici: Undici, pool: Pool, { url, request, timeoutMs, stop, userAgent }: Sending): Promise<ResponseHead> {
  const { method = "GET", body } = request;
  return new Promise((resolve, reject) => {
    const options: Dispatcher.DispatchOptions = {
      method,
      path: url.pathname + url.search,
      headers: sentHeaders(request, userAgent),
      body: isInPieces(body) ? (body.chunks as unknown as Readable) : (body ?? null),
      bodyTimeout: timeoutMs,
    };
    pool.dispatch(options, new ResponseHandler({ undici, stop, sent: body, resolve, reject }));
  });
}

interface ResponseHandlerOptions {
  undici: Undici;
  stop: Stop;
  sent: HttpRequestBody | undefined;
  resolve(head: ResponseHead): void;
  reject(error: unknown): void;
}

/** Follows one request through undici. Its own `request` wants a signal and opens an async scope for each, which together cost more than all of this. */
class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #options: ResponseHandlerOptions;
  #body: ResponseBody | undefined;

  constructor(options: ResponseHandlerOptions) {
    this.#options = options;
  }

  /** The connection is there; before it nothing can be ended. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    const { stop } = this.#options;
    const abort = (reason: unknown) => controller.abort(reason as Error);
    if (stop.isStopped) abort(stop.reason);
    else stop.onStop = abort;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return;
    const { undici, stop, resolve } = this.#options;
    const body = new undici.ResponseBody({ resume: () => controller.resume(), abort: () => controller.abort(undefined as never) });
    // Somebody who leaves early has no use for the error of the connection that is closed then.
    this.#body = body.on("error", () => undefined);
    stop.onStop = (reason) => void body.destroy(reason as Error);
    resolve({ status, headers: joined(headers), body });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#body?.push(chunk) === false) controller.pause();
  }

  onResponseEnd(): void {
    this.#body?.push(null);
  }

  onResponseError(_: unknown, error: Error): void {
    const { sent, reject } = this.#options;
    const body = this.#body;
    // Parts of the response that are under way come first.
    queueMicrotask(() => (body ? body.destroy(error) : reject(error)));
    if (isInPieces(sent) && sent.chunks instanceof Readable) sent.chunks.on("error", () => undefined).destroy(error);
  }
}

/** Is this a body in pieces? */
export function isInPieces(body: HttpRequestBody | undefined): body is Exclude<HttpRequestBody, string | Uint8Array> {
  return typeof body === "object" && !(body instanceof Uint8Array);
}

function sentHeaders({ headers = {}, body }: HttpRequestOptions, userAgent: string): Readonly<Record<string, string>> {
  const hasAgent = hasUserAgent(headers);
  if (hasAgent && !isInPieces(body)) return headers;
  return {
    ...headers,
    ...(hasAgent ? {} : { "user-agent": userAgent }),
    ...(isInPieces(body) ? { "content-length": String(body.bytes) } : {}),
  };
}

function hasUserAgent(headers: Readonly<Record<string, string>>): boolean {
  for (const name in headers) if (name.length === 10 && name.toLowerCase() === "user-agent") return true;
  return false;
}

/** @param headers as undici has made them for this response alone */
function joined(headers: Record<string, string | string[] | undefined>): Record<string, string | undefined> {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) headers[name] = value.join(", ");
  }
  return headers as Record<string, string | undefined>;
}
