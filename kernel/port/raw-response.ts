import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";

/** Headers of every answer on the port; the request id and HSTS come on top. */
const baselineHeaders: ReadonlyArray<readonly [name: string, value: string]> = [
  ["X-Content-Type-Options", "nosniff"],
  ["Referrer-Policy", "no-referrer"],
  ["Permissions-Policy", "camera=(), microphone=(self), geolocation=()"],
];

/** The caller's request id when it is a plain one, else a fresh UUID. */
function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === "string" && /^[\w.-]{1,128}$/.test(given) ? given : randomUUID();
}

/** Puts the headers of every answer on this one. */
export function setBaseline(req: IncomingMessage, res: ServerResponse): void {
  for (const [name, value] of baselineHeaders) res.setHeader(name, value);
  res.setHeader("x-request-id", requestIdOf(req.headers["x-request-id"]));
}

/**
 * A whole answer as bytes for a connection, where no response object exists: a head that could not be parsed, a refused upgrade. Text is the
 * status in words, and the connection ends after it.
 *
 * @param options.retryAfter whole seconds
 * @param options.message instead of the status in words
 */
export function rawResponse(
  status: number,
  options: { retryAfter?: number | undefined; message?: string | undefined; requestId?: string | string[] | undefined } = {},
): string {
  const reason = STATUS_CODES[status] ?? "";
  const body = options.message ?? reason;
  const headers: Array<readonly [string, string]> = [
    ...baselineHeaders,
    ["x-request-id", requestIdOf(options.requestId)],
    ...(options.retryAfter === undefined ? [] : [["Retry-After", String(options.retryAfter)] as const]),
    ["Content-Type", "text/plain; charset=utf-8"],
    ["Content-Length", String(Buffer.byteLength(body))],
    ["Connection", "close"],
  ];
  return `HTTP/1.1 ${status} ${reason}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}
