import { isSvcError } from "../../sdk/errors.ts";
import type { Logger } from "../../sdk/types/common.ts";
import type { HttpFault } from "../../sdk/types/http.ts";
import { runAs } from "../hooks/running.ts";
import { BadAnswer } from "./route-answer.ts";
import type { RouteEntry } from "./routes.ts";

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

export interface RefusalSite {
  entry: RouteEntry;
  path: string;
  logger: Logger;
}

/** Answers a request of a route that failed or was refused; what is nobody's fault but the plugin's is logged with its name. */
export function refuse(error: unknown, site: RefusalSite): Response {
  const { entry, path, logger } = site;
  const fault = toHttpFault(error);
  if (fault.status >= 500 && fault.code === "internal") {
    const what = `route ${entry.route.path} of plugin "${entry.owner}"`;
    // Its stack leads nowhere into the plugin.
    if (error instanceof BadAnswer) logger.error(`${what}: ${error.message}`, { path });
    else logger.error(`${what} failed`, { path, error });
  }
  return answerFault(fault, site);
}

/** The answer for a fault, in the body format of its route. */
export function answerFault(fault: HttpFault, site: RefusalSite): Response {
  const response = formatted(fault, site);
  for (const [name, value] of Object.entries(fault.headers)) response.headers.set(name, value);
  return response;
}

/** The fault in the body format of its route; in the common one when that format fails itself. */
function formatted(fault: HttpFault, { entry: { route, owner }, logger }: RefusalSite): Response {
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
