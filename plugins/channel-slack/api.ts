import { messageOf, NotDispatchedError } from "svc/sdk";
import { type SlackAccount, secretValues } from "./accounts.ts";
import { type SlackLibrary, silentLogger, type WebClientOptions } from "./library.ts";
import type { SlackTiming } from "./timing.ts";

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** Slack for one account. Everything ends with the signal it was created with. */
export interface SlackApi {
  /** @throws {ApiError} when Slack refuses; {NotDispatchedError} when it was not reached; {Error} when it is not known whether it took the call */
  call<T>(method: string, params?: object, limitMs?: number): Promise<T>;
  /** Content of a file of a message. @throws {Error} when it cannot be had */
  download(url: string, mime: string): Promise<AsyncIterable<Uint8Array>>;
  /** Sends the bytes of a file to the address that Slack gave for it. @throws {Error} when they are not there */
  upload(url: string, content: Uint8Array, limit: AbortSignal): Promise<void>;
  /** Turns an error of the library into one of ours, without secrets. */
  faultOf(error: unknown): Error;
  /** Options of the clients that socket mode makes by itself. */
  readonly options: WebClientOptions;
}

/** Refusal of a call: Slack's own code, and what it says about another try. */
export class ApiError extends Error {
  readonly code: string;
  readonly retryAfterMs: number | undefined;

  constructor(code: string, { method, needed, retryAfterMs }: { method?: string; needed?: string; retryAfterMs?: number } = {}) {
    super(
      `Slack says: ${code}${method === undefined ? "" : ` (${method})`}${needed === undefined ? "" : `; the app needs the scope ${needed}`}`,
    );
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Codes with which Slack refuses a token for good (docs.slack.dev/reference/methods/auth.test#errors). */
const REFUSED = new Set([
  "invalid_auth",
  "not_authed",
  "account_inactive",
  "token_revoked",
  "token_expired",
  "not_allowed_token_type",
  "team_disabled",
  "user_removed_from_team",
  "org_login_required",
  "ekm_access_denied",
]);

/** True when somebody has to act before the account can work again. */
export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && REFUSED.has(error.code);
}

/** Largest answer that is read. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** Longest wait that is granted to Slack. */
const MAX_RETRY_AFTER_S = 3_600;
const DEFAULT_RETRY_AFTER_S = 30;
const NOT_REACHED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

interface ApiDeps {
  library: Pick<SlackLibrary, "WebClient">;
  /** The host's, with its proxy. */
  fetch: Fetch;
  timing: SlackTiming;
  signal: AbortSignal;
}

/** Creates the client of an account. Nothing is repeated by the library: what comes after a failure is the host's to decide. */
export function createSlackApi(account: SlackAccount, { library, fetch, timing, signal }: ApiDeps): SlackApi {
  const { apiRoot, botToken } = account;
  const secrets = secretValues(account);
  const limits = new Map<string, number>();
  const options: WebClientOptions = {
    slackApiUrl: `${apiRoot}/`,
    fetch: (url, init) => limitedFetch(fetch, url, { ...init, signal: AbortSignal.any([signal, AbortSignal.timeout(limitOf(url))]) }),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    logger: silentLogger,
  };
  const limitOf = (url: string) => limits.get(url.slice(apiRoot.length + 1)) ?? timing.callMs;
  const client = new library.WebClient(botToken, options);
  const clean = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
  const fail = (error: unknown, method?: string) => (signal.aborted ? new Error("the account stops") : faultOf(error, clean, method));
  const placeOf = (url: string) => {
    if (!isOwnPlace(url, apiRoot)) throw new Error("its address is not at Slack");
    return url;
  };
  const transfer = (url: string, init: RequestInit) =>
    fetch(placeOf(url), {
      ...init,
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timing.fileMs), ...(init.signal ? [init.signal] : [])]),
    });
  return {
    options,
    faultOf: (error) => fail(error),
    async call<T>(method: string, params: object = {}, limitMs?: number): Promise<T> {
      if (limitMs !== undefined) limits.set(method, limitMs);
      try {
        return (await client.apiCall(method, params)) as T;
      } catch (error) {
        throw fail(error, method);
      }
    },
    async download(url, mime) {
      try {
        const response = await transfer(url, { headers: { authorization: `Bearer ${botToken}` } });
        if (!response.ok || !response.body) {
          await response.body?.cancel();
          throw new Error(`the file cannot be fetched (${response.status})`);
        }
        // Without the scope Slack answers with a page to sign in.
        const type = response.headers.get("content-type") ?? "";
        if (type.startsWith("text/html") && !mime.startsWith("text/html")) {
          await response.body.cancel();
          throw new Error("Slack answers with a page: is the scope files:read there?");
        }
        return response.body as unknown as AsyncIterable<Uint8Array>;
      } catch (error) {
        throw fail(error);
      }
    },
    async upload(url, content, limit) {
      try {
        const headers = { "content-type": "application/octet-stream" };
        const response = await transfer(url, { method: "POST", headers, body: content as Uint8Array<ArrayBuffer>, signal: limit });
        await response.body?.cancel();
        if (!response.ok) throw new Error(`the file cannot be uploaded (${response.status})`);
      } catch (error) {
        throw fail(error);
      }
    },
  };
}

/** True for an address that may have the token or a file: that of the Web API, and the host `files.` of the same domain. */
export function isOwnPlace(address: string, apiRoot: string): boolean {
  if (!URL.canParse(address)) return false;
  const [place, api] = [new URL(address), new URL(apiRoot)];
  if (place.username !== "" || place.password !== "") return false;
  if (place.origin === api.origin) return true;
  return place.protocol === "https:" && place.port === "" && place.hostname === `files.${api.hostname}`;
}

async function limitedFetch(fetch: Fetch, url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "error" });
  const body = await readText(response);
  const headers = new Headers(response.headers);
  if (response.status === 429) {
    const wait = Number.parseInt(headers.get("retry-after") ?? "", 10);
    headers.set("retry-after", String(Number.isNaN(wait) ? DEFAULT_RETRY_AFTER_S : Math.min(MAX_RETRY_AFTER_S, Math.max(0, wait))));
  }
  return new Response(body === "" ? null : body, { status: response.status, headers });
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

/** Errors of the library in our words: its own may carry requests and answers. */
function faultOf(error: unknown, clean: (text: string) => string, method?: string): Error {
  if (error instanceof ApiError || error instanceof NotDispatchedError) return error;
  const { code, data, retryAfter, statusCode } = (error ?? {}) as {
    code?: unknown;
    data?: { error?: unknown; needed?: unknown; response_metadata?: { retryAfter?: number } };
    retryAfter?: number;
    statusCode?: number;
  };
  const about = method === undefined ? {} : { method };
  if (code === "slack_webapi_rate_limited_error")
    return new ApiError("ratelimited", { ...about, retryAfterMs: (retryAfter ?? DEFAULT_RETRY_AFTER_S) * 1_000 });
  if (code === "slack_webapi_http_error")
    return (statusCode ?? 500) < 500
      ? new ApiError(`http_${statusCode}`, about)
      : new Error(`Slack failed (${statusCode}${method === undefined ? "" : `, ${method}`})`);
  if (code === "slack_webapi_platform_error") {
    const said = data?.error;
    // An answer that is none of the Web API comes from something in between.
    if (typeof said !== "string" || !/^[a-z][\w.:-]{0,80}$/.test(said)) return new Error("the answer is not from Slack's Web API");
    const needed = typeof data?.needed === "string" && /^[\w:.,-]{1,200}$/.test(data.needed) ? { needed: data.needed } : {};
    return new ApiError(said, { ...about, ...needed });
  }
  const causes: unknown[] = [error];
  for (let cause = error; causes.length < 6 && typeof cause === "object" && cause !== null; ) {
    const { original, cause: next } = cause as { original?: unknown; cause?: unknown };
    cause = original ?? next;
    if (cause !== undefined) causes.push(cause);
  }
  const last = causes.at(-1);
  const message = clean(messageOf(last)).slice(0, 300);
  if (causes.some((cause) => NOT_REACHED.has(String((cause as { code?: unknown } | undefined)?.code))))
    return new NotDispatchedError(`Slack cannot be reached: ${message}`);
  if (causes.some((cause) => (cause as Error | undefined)?.name === "TimeoutError"))
    return new Error(`Slack did not answer${method === undefined ? "" : ` ${method}`} in time`);
  return new Error(`the call failed: ${message}`);
}
