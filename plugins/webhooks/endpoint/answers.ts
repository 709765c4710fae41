import type { HttpReply } from "svc/sdk";

/** Answer to a caller; a `Response` only where there is no body. */
export type Answer = HttpReply | Response;

const textType = { "Content-Type": "text/plain; charset=utf-8" };
const jsonType = { "Content-Type": "application/json; charset=utf-8" };

/** Checks that need no body answer in plain words. */
export function textAnswer(status: number, body: string, headers: Record<string, string> = {}): HttpReply {
  return { status, headers: { ...textType, ...headers }, body };
}

/** Everything from the body on answers in JSON. */
export function jsonAnswer(status: number, body: object, headers: Record<string, string> = {}): HttpReply {
  return { status, headers: { ...jsonType, ...headers }, body: JSON.stringify(body) };
}

export function failure(status: number, error: string, headers: Record<string, string> = {}): HttpReply {
  return jsonAnswer(status, { ok: false, error }, headers);
}

/** Nothing is stored, and the sender should try again. */
export function unavailable(error: string, retryAfterMs: number): HttpReply {
  return failure(503, error, { "Retry-After": wholeSeconds(retryAfterMs) });
}

export function nothingToDo(): Response {
  return new Response(null, { status: 204 });
}

export const notFound = (): HttpReply => textAnswer(404, "Not Found");

/** Seconds for `Retry-After`: rounded up, at least one. */
export function wholeSeconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)));
}
