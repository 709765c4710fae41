import { messageOf, NotDispatchedError } from "svc/sdk";
import { secretValues, type TelegramAccount } from "./accounts.ts";

/** The parts of the package `grammy` that this channel uses. */
export interface TelegramLibrary {
  Api: new (token: string, options: object) => { raw: Record<string, (payload: object, signal?: AbortSignal) => Promise<unknown>> };
  InputFile: new (path: string, name?: string) => object;
}

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** The Bot API for one account. */
export interface BotApi {
  /** @throws {ApiError} when Telegram refuses; {NotDispatchedError} when it was not reached; {Error} when it is not known whether it took the call */
  call<T>(method: string, payload: object, options: { limitMs: number; signal?: AbortSignal }): Promise<T>;
  /** Content of a file of a message. @throws {Error} when it cannot be had */
  download(filePath: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** A file for an upload. */
  file(path: string, name?: string): object;
}

/** Refusal of a call: Telegram's own words, and what it says about another try. */
export class ApiError extends Error {
  readonly code: number;
  readonly retryAfterMs: number | undefined;
  /** Id of the supergroup that a group has become. */
  readonly migratedTo: number | undefined;

  constructor(code: number, description: string, parameters: { retry_after?: number; migrate_to_chat_id?: number } = {}) {
    super(`Telegram says: ${description} (${code})`);
    this.code = code;
    this.retryAfterMs = parameters.retry_after === undefined ? undefined : Math.min(parameters.retry_after, 3_600) * 1_000;
    this.migratedTo = parameters.migrate_to_chat_id;
  }
}

/** Largest answer that is read; a hundred messages have less. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const NOT_REACHED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** Calls the Bot API by the library, over the fetch of the host: its proxies and limits hold. */
export function createBotApi(library: TelegramLibrary, fetch: Fetch, account: TelegramAccount): BotApi {
  const { token, apiRoot } = account;
  const secrets = secretValues(account);
  const { raw } = new library.Api(token, { apiRoot, fetch: fetchFor(fetch) });
  return {
    async call<T>(method: string, payload: object, { limitMs, signal }: { limitMs: number; signal?: AbortSignal }): Promise<T> {
      const limit = AbortSignal.timeout(limitMs);
      const either = signal ? AbortSignal.any([signal, limit]) : limit;
      try {
        const call = raw[method] as (payload: object, signal?: AbortSignal) => Promise<unknown>;
        // Calls without parameters take the signal alone.
        return (await (NO_PAYLOAD.has(method) ? call(either as never) : call(payload, either))) as T;
      } catch (error) {
        throw limit.aborted && !signal?.aborted
          ? new Error(`Telegram did not answer ${method} within ${limitMs / 1_000} s`)
          : faultOf(error, secrets);
      }
    },
    async download(filePath, signal) {
      try {
        const response = await fetch(`${apiRoot}/file/bot${token}/${filePath.split("/").map(encodeURIComponent).join("/")}`, {
          signal,
          redirect: "error",
        });
        if (!response.ok || !response.body) throw new Error(`the file cannot be fetched (${response.status})`);
        return response.body as unknown as AsyncIterable<Uint8Array>;
      } catch (error) {
        throw faultOf(error, secrets);
      }
    },
    file: (path, name) => new library.InputFile(path, name),
  };
}

const NO_PAYLOAD = new Set(["getMe", "getWebhookInfo"]);

/** Adapts the host's fetch to what the library calls: signals of its own kind, streams of Node, answers of any form. */
function fetchFor(fetch: Fetch) {
  return async (url: string, init: { method: string; headers: Record<string, string>; body: unknown; signal: AbortSignal }) => {
    const stop = new AbortController();
    const abort = () => stop.abort();
    if (init.signal.aborted) abort();
    else init.signal.addEventListener("abort", abort);
    try {
      const { connection: _, ...headers } = init.headers;
      const request = { method: init.method, headers, body: init.body, signal: stop.signal, redirect: "error", duplex: "half" };
      const response = await fetch(url, request as RequestInit);
      const text = await readText(response);
      return { json: async () => answerOf(text, response.status) };
    } finally {
      init.signal.removeEventListener("abort", abort);
    }
  };
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** An answer that is none of the Bot API comes from something in between. */
function answerOf(text: string, status: number): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "ok" in value) return value;
  } catch {
    // Said below.
  }
  return { ok: false, error_code: status >= 400 ? status : 502, description: "the answer is not from the Bot API" };
}

/** Errors of the library in our words: its own carry addresses with the token. */
function faultOf(error: unknown, secrets: readonly string[]): Error {
  const clean = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
  const { error_code: code, description, parameters } = (error ?? {}) as { error_code?: number; description?: string; parameters?: object };
  if (typeof code === "number") return new ApiError(code, clean(String(description).slice(0, 300)), parameters);
  const causes: unknown[] = [error];
  for (let cause = error; causes.length < 5 && typeof cause === "object" && cause !== null; ) {
    const { error: inner, cause: next } = cause as { error?: unknown; cause?: unknown };
    cause = inner ?? next;
    if (cause !== undefined) causes.push(cause);
  }
  const system = causes.map((cause) => (cause as { code?: unknown } | undefined)?.code).find((one) => typeof one === "string");
  const message = clean(messageOf(causes.at(-1)));
  if (typeof system === "string" && NOT_REACHED.has(system)) return new NotDispatchedError(`Telegram cannot be reached: ${message}`);
  return new Error(`the call failed: ${message}`);
}
