import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { HttpRequestBody, HttpRequestFunction } from "../types/request.ts";

/** Recorded answer of a plugin. */
export interface RecordedHttp {
  method: string;
  url: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** Text of the body, `""` without one. */
  body: string;
}

/** One scripted answer. `json` sets the content type; `error` fails the request as a broken network does. */
export type HttpReply =
  | { status?: number; headers?: Record<string, string>; json?: unknown; text?: string; error?: undefined }
  | { error: string };

/** A network that exists only in the test. */
export interface HttpRecorder {
  /** Stands in for `fetch`; give the recorder to `createTestGateway({ http })` and every `ctx.fetch` goes through it. */
  fetch(input: string | URL, init?: RequestInit): Promise<Response>;
  /** The same for `ctx.request`. */
  readonly request: HttpRequestFunction;
  readonly requests: RecordedHttp[];
}

/**
 * Answers HTTP requests from a script and keeps what was sent; no byte leaves the process.
 * @param script `"<METHOD> <url>"` → one reply, or replies in order of which the last repeats. A request nobody scripted rejects and says so.
 */
export function recordHttp(script: Readonly<Record<string, HttpReply | readonly HttpReply[]>> = {}): HttpRecorder {
  const requests: RecordedHttp[] = [];
  const used = new Map<string, number>();
  const answer = (key: string): HttpReply | undefined => {
    const replies = [script[key] ?? []].flat();
    const at = used.get(key) ?? 0;
    used.set(key, at + 1);
    return replies[Math.min(at, replies.length - 1)];
  };
  const fetch: HttpRecorder["fetch"] = async (input, init) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const { method, url } = request;
    requests.push({ method, url, headers: Object.fromEntries(request.headers), body: await request.text() });
    const reply = answer(`${method} ${url}`);
    if (!reply) throw new TypeError(`fetch failed: the script has no answer for ${method} ${url}`);
    return toResponse(reply);
  };
  return {
    requests,
    fetch,
    async request(url, { method = "GET", headers = {}, body, signal } = {}) {
      const text = body === undefined ? null : await textOf(body);
      const response = await fetch(url, { method, headers, body: text, ...(signal ? { signal } : {}) });
      const stream = response.body ? Readable.fromWeb(response.body as ReadableStream) : Readable.from([]);
      return { status: response.status, headers: Object.fromEntries(response.headers), body: stream };
    },
  };
}

async function textOf(body: HttpRequestBody): Promise<string> {
  if (typeof body === "string") return body;
  const pieces = body instanceof Uint8Array ? [body] : await Readable.from(body.chunks).toArray();
  return Buffer.concat(pieces).toString();
}

function toResponse(reply: HttpReply): Response {
  if (reply.error !== undefined) throw new TypeError(`fetch failed: ${reply.error}`);
  const json = reply.json !== undefined;
  const headers = { ...(json ? { "content-type": "application/json" } : {}), ...reply.headers };
  return new Response(json ? JSON.stringify(reply.json) : (reply.text ?? null), { status: reply.status ?? 200, headers });
}
