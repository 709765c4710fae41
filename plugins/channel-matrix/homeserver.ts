import { messageOf, NotDispatchedError } from "svc/sdk";
import type { MatrixAccount } from "./accounts.ts";
import { secretValues } from "./accounts.ts";
import type { HttpErrorLike, MatrixErrorLike, MatrixHttp, MatrixLibrary } from "./library.ts";

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

export interface CallOptions {
  query?: Record<string, string | number | boolean>;
  body?: object;
  limitMs: number;
  signal?: AbortSignal;
  /** False: the call carries no token. */
  isAuthed?: boolean;
}

/** The client-server API of one homeserver, for one session. */
export interface Homeserver {
  /** @param path what follows `/_matrix/client`, each part encoded by {@link pathOf} */
  call<T>(method: "GET" | "PUT" | "POST", path: string, options: CallOptions): Promise<T>;
  /** Content of a file. @throws {MatrixFault} {Error} when it cannot be had */
  download(server: string, id: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** @returns its `mxc:` address */
  upload(content: Buffer, about: { mime: string; name?: string; limitMs: number; signal: AbortSignal }): Promise<string>;
}

/** Refusal by the homeserver. */
export class MatrixFault extends Error {
  readonly code: string;
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** The session is over, and its device may log in again. */
  readonly isSoftLogout: boolean;

  constructor(code: string, message: string, more: { status: number; retryAfterMs?: number | undefined; isSoftLogout?: boolean }) {
    super(message);
    this.code = code;
    this.status = more.status;
    this.retryAfterMs = more.retryAfterMs;
    this.isSoftLogout = more.isSoftLogout === true;
  }
}

/** An answer is longer than what is read. */
export class TooLongAnswerError extends Error {}

/** Largest answer that is read: the first one about an account in some thousand rooms. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Longest wait that a homeserver may ask for. */
const MAX_RETRY_AFTER_MS = 3_600_000;
const TOO_LONG = "ANSWER_TOO_LONG";
const NOT_REACHED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

interface HomeserverOptions {
  library: MatrixLibrary;
  fetch: Fetch;
  account: MatrixAccount;
  /** Undefined before a login. */
  accessToken: string | undefined;
}

/** Calls the homeserver by the HTTP layer of the library, over the fetch of the host: its proxies and limits hold. No redirect is followed: it would take the token along. */
export function createHomeserver({ library, fetch, account, accessToken }: HomeserverOptions): Homeserver {
  const secrets = [...secretValues(account), ...(accessToken === undefined ? [] : [accessToken])];
  const make = (fetchFn: typeof fetch, onlyData: boolean): MatrixHttp =>
    new library.MatrixHttpApi(
      { emit: () => false },
      {
        baseUrl: account.homeserver,
        prefix: "/_matrix/client",
        onlyData,
        useAuthorizationHeader: true,
        // The library takes the address as a URL, and looks at what it reads only.
        fetchFn: (url: URL, init: RequestInit) => fetchFn(url.href, init),
        ...(accessToken === undefined ? {} : { accessToken }),
      },
    );
  const http = make(bounded(fetch), true);
  const guarded = async <T>(what: string, limitMs: number, signal: AbortSignal | undefined, run: (either: AbortSignal) => Promise<T>) => {
    const limit = AbortSignal.timeout(limitMs);
    const either = signal ? AbortSignal.any([signal, limit]) : limit;
    try {
      either.throwIfAborted();
      return await run(either);
    } catch (error) {
      if (limit.aborted && !signal?.aborted) throw new Error(`the homeserver did not answer ${what} within ${limitMs / 1_000} s`);
      throw faultOf(error, { library, secrets });
    }
  };
  return {
    call: (method, path, { query, body, limitMs, signal, isAuthed = true }) =>
      guarded(`${method} ${nameOf(path)}`, limitMs, signal, (abortSignal) => {
        const send = isAuthed ? http.authedRequest.bind(http) : http.request.bind(http);
        return send(method, path, query, body, { abortSignal });
      }),
    async download(server, id, signal) {
      // The library stops to watch the signal when the headers are there; the body of a file comes after them.
      const raw = make(async (url, init) => {
        const response = await fetch(String(url), { ...plain(init), signal, redirect: "error" });
        return response.ok ? response : boundedAnswer(response, await readText(response));
      }, false);
      const place = pathOf`/${server}/${id}`;
      const get = async (run: () => Promise<Response>) => {
        const { body } = await run();
        if (!body) throw new Error("the file is empty");
        return body as unknown as AsyncIterable<Uint8Array>;
      };
      try {
        return await get(() => raw.authedRequest<Response>("GET", `/v1/media/download${place}`));
      } catch (error) {
        const fault = faultOf(error, { library, secrets });
        // Servers before version 1.11 have no such address, and ask for no token.
        if (!(fault instanceof MatrixFault) || fault.code !== "M_UNRECOGNIZED") throw fault;
      }
      return get(() => raw.request<Response>("GET", place, {}, undefined, { prefix: "/_matrix/media/v3/download" })).catch(
        (error: unknown) => {
          throw faultOf(error, { library, secrets });
        },
      );
    },
    upload: (content, { mime, name, limitMs, signal }) =>
      guarded("an upload", limitMs, signal, async (either) => {
        const abortController = new AbortController();
        const abort = () => abortController.abort();
        either.addEventListener("abort", abort, { once: true });
        try {
          const { content_uri: uri } = await http.uploadContent(content, { type: mime, abortController, ...(name ? { name } : {}) });
          if (typeof uri !== "string") throw new Error("the homeserver gives no address for a file");
          return uri;
        } finally {
          either.removeEventListener("abort", abort);
        }
      }),
  };
}

/** A path whose parts are encoded: identifiers are foreign text, and hold slashes, `#` and `?`. */
export function pathOf(parts: TemplateStringsArray, ...values: string[]): string {
  return parts.reduce((path, part, i) => path + part + (i < values.length ? encodeURIComponent(values[i] as string) : ""), "");
}

/** Path without what it is about. */
function nameOf(path: string): string {
  return path.replace(/%[0-9A-Fa-f]{2}[^/]*/g, "…").slice(0, 100);
}

/** Reads the whole answer, up to a limit, while the signal of the call still holds. */
function bounded(fetch: Fetch): Fetch {
  return async (url, init) => {
    const { response, text } = await read(fetch, url, init).catch((error: unknown) => {
      throw withCode(error);
    });
    return boundedAnswer(response, text);
  };
}

/** An answer that was read, for the library. */
function boundedAnswer(response: Response, text: string): Response {
  const headers = new Headers();
  for (const name of ["content-type", "retry-after"]) {
    const value = response.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Response(text === "" ? null : text, { status: response.status, headers });
}

async function read(fetch: Fetch, url: string, init: RequestInit | undefined): Promise<{ response: Response; text: string }> {
  const response = await fetch(url, { ...plain(init), redirect: "error" });
  return { response, text: await readText(response) };
}

/** Options of a browser that mean nothing here. */
function plain(init: RequestInit = {}): RequestInit {
  const { method, headers, body, signal } = init;
  return { method, headers, body, signal } as RequestInit;
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) {
      throw Object.assign(new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`), { code: TOO_LONG });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Errors of the library in our words: without addresses and secrets, and no longer than a line. */
function faultOf(error: unknown, { library, secrets }: { library: MatrixLibrary; secrets: readonly string[] }): Error {
  if (error instanceof MatrixFault) return error;
  const clean = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "…"), text).slice(0, 300);
  if (error instanceof library.MatrixError) {
    const { errcode, data, httpStatus: status = 0 } = error;
    const code = /^[A-Z][A-Z0-9_.]{0,60}$/i.test(String(errcode)) ? String(errcode) : "M_UNKNOWN";
    const words = typeof data.error === "string" ? data.error.replace(/\p{Cc}+/gu, " ") : "no reason given";
    return new MatrixFault(code, clean(`the homeserver says: ${words} (${code})`), {
      status,
      retryAfterMs: retryAfterOf(error),
      isSoftLogout: data.soft_logout === true,
    });
  }
  const { httpStatus } = (error ?? {}) as HttpErrorLike;
  if (typeof httpStatus === "number") {
    // An answer that is none of the API comes from something in between.
    return new MatrixFault("", `the answer is not from a Matrix homeserver (${httpStatus})`, { status: httpStatus });
  }
  if (error instanceof SyntaxError) return new MatrixFault("", "the answer is not from a Matrix homeserver", { status: 200 });
  const text = clean(messageOf(error)).replace(/^fetch failed: /, "");
  const [code = ""] = /^[A-Z_]+(?=: )/.exec(text) ?? [];
  if (code === TOO_LONG) return new TooLongAnswerError(`the call failed: ${text.slice(TOO_LONG.length + 2)}`);
  return NOT_REACHED.has(code)
    ? new NotDispatchedError(`the homeserver cannot be reached: ${text}`)
    : new Error(`the call failed: ${text}`);
}

/** A failure of the connection with its code in its words: the library passes on nothing else. */
function withCode(error: unknown): Error {
  if (error instanceof Error && error.name === "AbortError") return error;
  let deepest = error;
  for (let depth = 0; depth < 5; depth += 1) deepest = (deepest as Error | undefined)?.cause ?? deepest;
  const { code } = (deepest ?? {}) as { code?: unknown };
  return new Error(typeof code === "string" ? `${code}: ${messageOf(deepest)}` : messageOf(deepest));
}

function retryAfterOf(error: MatrixErrorLike): number | undefined {
  try {
    const ms = error.getRetryAfterMs();
    return ms === null || !Number.isFinite(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
  } catch {
    return undefined;
  }
}
