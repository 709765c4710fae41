import { ModelError } from "../../define.ts";
import type { HttpRequestBody, HttpRequestFunction, HttpRequestOptions } from "../../types/request.ts";
import { type AnswerLimits, answerLimits, limited } from "./answer-limits.ts";

const USER_AGENT = "svc";
/** Statuses whose responses have no body; a `Response` with one cannot be made. */
const withoutBody = new Set([204, 205, 304]);

/** Asks one server, in the form that the vendor package wants. An answer ends where its limits do: those of a stream of events, unless others are given. */
export type VendorFetch = (input: string | URL | Request, init?: RequestInit, limits?: AnswerLimits) => Promise<Response>;

/**
 * `fetch` over the connections of the plugin, through the proxy of the environment. It does what model calls need of it and no more: a redirect is an answer
 * of its own, because the key must not follow it to another origin, and the body is a text.
 * @param request `ctx.request` of the plugin, which owns the connections
 * @param timeoutMs limit for the first byte of an answer and for each silence within it
 */
export function createVendorFetch(request: HttpRequestFunction, timeoutMs: number): VendorFetch {
  return async (input, init = {}, limits = answerLimits) => {
    const { status, headers, body } = await request(typeof input === "object" && "url" in input ? input.url : input, {
      method: (init.method ?? "GET") as NonNullable<HttpRequestOptions["method"]>,
      headers: sentHeaders(init.headers),
      body: sentBody(init.body),
      signal: init.signal ?? undefined,
      timeoutMs,
    });
    try {
      const isSuccess = status >= 200 && status < 300;
      const isPacked = hasEncoding(headers["content-encoding"]);
      if (isPacked && isSuccess) throw new ModelError("network", "the server packs its answers although it was asked not to");
      // The status of an error says enough without words that cannot be read.
      const isEmpty = isPacked || withoutBody.has(status);
      if (isEmpty) body.destroy();
      const answer = isEmpty ? null : limited(body, { isSuccess, limits });
      return new Response(answer, { status, headers: headers as Record<string, string> });
    } catch (error) {
      body.destroy();
      throw error;
    }
  };
}

/** An answer that is no success, in the form that faults are read from. */
export async function refusedAnswer(response: Response): Promise<Error> {
  return Object.assign(new Error("refused"), {
    statusCode: response.status,
    responseBody: await response.text().catch(() => ""),
    responseHeaders: Object.fromEntries(response.headers),
  });
}

function hasEncoding(encoding: string | undefined): boolean {
  return (encoding ?? "").split(",").some((one) => !["", "identity"].includes(one.trim().toLowerCase()));
}

function sentHeaders(given: RequestInit["headers"]): Record<string, string> {
  // Nothing here unpacks an answer, and without a word about it a server may pack it.
  return { ...Object.fromEntries(new Headers(given)), "accept-encoding": "identity", "user-agent": USER_AGENT };
}

function sentBody(body: RequestInit["body"]): HttpRequestBody | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string") return body;
  throw new TypeError("expected the body of a model request as text");
}
