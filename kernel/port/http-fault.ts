import { isSvcError } from "../../sdk/errors.ts";
import type { HttpFault } from "../../sdk/types/http.ts";

/** Status, headers and a message that is safe to show, of anything a request failed with. */
export function toHttpFault(error: unknown): HttpFault {
  if (!isSvcError(error)) return { status: 500, code: "internal", message: "internal error", headers: { "Cache-Control": "no-store" } };
  const headers: Record<string, string> = {};
  if (error.spec.http === 401) headers["WWW-Authenticate"] = "Bearer";
  if (error.retryAfterMs !== undefined) headers["Retry-After"] = String(Math.ceil(error.retryAfterMs / 1000));
  else if (error.spec.http === 503) headers["Retry-After"] = "1";
  if (error.spec.http === 413 || error.spec.http === 408) headers.Connection = "close";
  const { authReason } = (error.details ?? {}) as { authReason?: unknown };
  const reason = typeof authReason === "string" ? { reason: authReason } : {};
  return { status: error.spec.http, code: error.code, message: error.message, headers, ...reason };
}

/** The body of routes that have no format of their own. */
export function defaultFaultResponse(fault: HttpFault): Response {
  const body = { error: { message: fault.message, type: fault.code.replaceAll("-", "_"), param: null, code: fault.reason ?? null } };
  return new Response(JSON.stringify(body), { status: fault.status, headers: { "Content-Type": "application/json; charset=utf-8" } });
}
