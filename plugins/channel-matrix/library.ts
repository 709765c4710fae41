import type { PluginVendor } from "svc/sdk";

interface RequestOptions {
  prefix?: string;
  headers?: Record<string, string>;
  abortSignal?: AbortSignal;
  json?: boolean;
}

/** The HTTP layer of the package, which is the part of it that this channel uses. */
export interface MatrixHttp {
  authedRequest<T>(method: string, path: string, query?: object, body?: unknown, options?: RequestOptions): Promise<T>;
  request<T>(method: string, path: string, query?: object, body?: unknown, options?: RequestOptions): Promise<T>;
  uploadContent(content: unknown, options: object): Promise<{ content_uri: string }>;
}

/** Parts of the package `matrix-js-sdk` that this channel uses. */
export interface MatrixLibrary {
  MatrixHttpApi: new (events: { emit(event: string, ...values: unknown[]): unknown }, options: object) => MatrixHttp;
  MatrixError: new (...values: never[]) => MatrixErrorLike;
  HTTPError: new (...values: never[]) => HttpErrorLike;
}

export interface HttpErrorLike extends Error {
  httpStatus?: number;
}

export interface MatrixErrorLike extends HttpErrorLike {
  errcode?: string;
  data: Record<string, unknown>;
  getRetryAfterMs(): number | null;
}

/**
 * Loads the HTTP layer of the package from beside its entry. The entry itself loads the whole client with its stores, calls and widgets, in 15 times the time, and
 * refuses to be loaded from two places of one process.
 */
export async function loadLibrary(vendor: Pick<PluginVendor, "resolve">): Promise<MatrixLibrary> {
  const entry = await vendor.resolve("matrix-js-sdk");
  return (await import(new URL("./http-api/index.js", entry).href)) as MatrixLibrary;
}
