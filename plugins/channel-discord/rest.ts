import { messageOf, NotDispatchedError } from "svc/sdk";
import type { DiscordAccount } from "./accounts.ts";
import { ApiError } from "./api-error.ts";
import type { DiscordLibrary } from "./library.ts";
import { RateLimits, routeOf } from "./rate-limits.ts";

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** A file of an upload. */
export interface Upload {
  name: string;
  data: Buffer;
  contentType: string;
}

interface CallOptions {
  body?: object;
  files?: readonly Upload[];
  limitMs: number;
  signal?: AbortSignal;
  /** False for calls that carry a token of their own in the path. */
  auth?: boolean;
}

/** The REST API for one account. */
export interface RestApi {
  /** @throws {ApiError} when Discord refuses; {NotDispatchedError} when it was not reached; {Error} when it is not known whether it took the call */
  call<T>(method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", route: string, options: CallOptions): Promise<T>;
  /** Content of a file of a message. @throws {Error} when it cannot be had */
  download(url: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  close(): void;
}

/** Largest answer that is read; a list of 200 servers has less. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** Hosts that keep the files of messages. */
const FILE_HOSTS = /(?:^|\.)(?:discordapp\.com|discordapp\.net|discord\.com)$/;
const NOT_REACHED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/**
 * Calls the API by the library, over the fetch of the host: its proxies and limits hold. The library repeats nothing and waits for nothing: limits are kept here,
 * because it starts a timer for each that it would only refuse (discord.js 14.28).
 */
export function createRestApi({ REST }: DiscordLibrary, fetch: Fetch, { token, apiRoot }: DiscordAccount): RestApi {
  const limits = new RateLimits();
  const rest = new REST({
    api: apiRoot,
    version: "10",
    retries: 0,
    rejectOnRateLimit: () => true,
    // Each call has a limit of its own.
    timeout: 120_000,
    userAgentAppendix: "svc",
    makeRequest: async (url: string, { dispatcher: _, ...init }: RequestInit & { dispatcher?: unknown }) => {
      const route = routeOf(init.method ?? "GET", new URL(url).pathname);
      limits.check(route);
      const response = await fetch(url, { ...init, redirect: "error" });
      const answer = await answerOf(response);
      limits.learn(route, response);
      return answer;
    },
  });
  rest.on("error", () => undefined);
  const clean = (text: string) => text.replaceAll(token, "…").replace(/(\/(?:webhooks|interactions)\/\d+\/)[^/\s]+/g, "$1…");
  return {
    async call<T>(method: string, route: string, { body, files, limitMs, signal, auth = true }: CallOptions): Promise<T> {
      const limit = AbortSignal.timeout(limitMs);
      // The library forgets the token at the first 401.
      rest.setToken(token);
      try {
        return (await rest.request({
          method,
          fullRoute: route,
          auth,
          signal: signal ? AbortSignal.any([signal, limit]) : limit,
          ...(body ? { body } : {}),
          ...(files && files.length > 0 ? { files } : {}),
        })) as T;
      } catch (error) {
        if (limit.aborted && !signal?.aborted) throw new Error(`Discord did not answer within ${limitMs / 1_000} s`);
        throw faultOf(error, clean);
      }
    },
    async download(url, signal) {
      try {
        if (!isFileAddress(url, apiRoot)) throw new Error("its address is none of Discord");
        const response = await fetch(url, { signal, redirect: "error" });
        if (!response.ok || !response.body) {
          await response.body?.cancel();
          throw new Error(`the file cannot be fetched (${response.status})`);
        }
        return response.body as unknown as AsyncIterable<Uint8Array>;
      } catch (error) {
        throw new Error(clean(messageOf(error)));
      }
    },
    close() {
      rest.clearHashSweeper();
      rest.clearHandlerSweeper();
    },
  };
}

function isFileAddress(text: string, apiRoot: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== "") return false;
  return url.origin === new URL(apiRoot).origin || (url.protocol === "https:" && url.port === "" && FILE_HOSTS.test(url.hostname));
}

/** Reads the answer within its limit, in the form that the library wants. */
async function answerOf(response: Response): Promise<object> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  const { status, statusText, ok } = response;
  const type = response.headers.get("content-type");
  return {
    status,
    statusText,
    // Without the limits, which the library would keep, too.
    headers: new Headers(type === null ? {} : { "content-type": type }),
    ok,
    body: null,
    bodyUsed: true,
    arrayBuffer: async () => new Uint8Array(body).buffer,
    text: async () => body.toString(),
    json: async () => JSON.parse(body.toString()) as unknown,
  };
}

/** Parts of the library's errors, of those of `fetch` and of the system. */
interface Fault {
  name?: string;
  status?: unknown;
  rawError?: { code?: unknown } | null;
  retryAfter?: unknown;
  timeToReset?: unknown;
  code?: unknown;
  cause?: unknown;
}

/** Errors of the library in our words: its own carry addresses, and the body of the request. */
function faultOf(error: unknown, clean: (text: string) => string): Error {
  if (error instanceof ApiError) return error;
  const { status, rawError, retryAfter, timeToReset } = (error ?? {}) as Fault;
  // Its own limit: 50 calls a second.
  if (typeof retryAfter === "number" && timeToReset !== undefined)
    return new ApiError("too many requests", { status: 429, retryAfterMs: Math.max(1, Math.ceil(retryAfter)) });
  const message = clean(messageOf(error)).slice(0, 300);
  if (typeof status === "number" && status >= 500) return new Error(`Discord has a fault of its own (${status})`);
  if (typeof status === "number" && rawError !== undefined) {
    const code = rawError?.code;
    if (typeof code === "number") return new ApiError(message, { status, code });
    return new ApiError("the answer is not from Discord's API", { status });
  }
  const causes: unknown[] = [error];
  for (let cause = (error as Fault)?.cause; cause !== undefined && causes.length < 5; cause = (cause as Fault | null)?.cause)
    causes.push(cause);
  const system = causes.map((cause) => (cause as Fault | null)?.code).find((one) => typeof one === "string");
  const reason = clean(messageOf(causes.at(-1))).slice(0, 300);
  if (typeof system === "string" && NOT_REACHED.has(system)) return new NotDispatchedError(`Discord cannot be reached: ${reason}`);
  return new Error(`the call failed: ${reason}`);
}
