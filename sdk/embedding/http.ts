import { setMaxListeners } from "node:events";
import { isIP } from "node:net";
import { EmbeddingError } from "../define.ts";
import type { EmbeddingFault } from "../types/embedding.ts";
import type { HttpRequestBody, HttpRequestFunction } from "../types/request.ts";
import { refusalError } from "./errors.ts";
import { type Exchange, openExchange } from "./exchange.ts";
import { createPauses } from "./in-turns.ts";
import { createVectorJson } from "./vector-json.ts";

const USER_AGENT = "svc";
const MAX_ERROR_BYTES = 8_192;
/** 2,048 vectors of 4,096 numbers each are 45 MB as base64; 1,600 of 3,072 fit as text. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_REDIRECTS = 3;

/** Limits of the calls of a remote adapter in ms. */
export const remoteLimits = { queryMs: 60_000, batchMs: 120_000 } as const;
/** The same for a model server on this machine, which may load the model first. */
export const localLimits = { queryMs: 300_000, batchMs: 600_000 } as const;

/** Calls of one provider. */
export interface VendorHttpOptions {
  /** Adapter id, for messages. */
  adapter: string;
  /** `ctx.request` of the plugin, which owns the connections. */
  request: HttpRequestFunction;
  /** Texts that no message may show. */
  secrets: readonly string[];
  /** Each of them ends every call: the provider's and the plugin's life. */
  signals: readonly AbortSignal[];
  /** Classifies a status where the vendor differs from others; undefined: the common meaning. */
  faultOf?: (status: number, body: string) => EmbeddingFault | undefined;
}

/** One call. */
export interface VendorRequest {
  method?: "GET" | "POST" | "DELETE";
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is; `headers` say what it is. */
  body?: HttpRequestBody;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** True for a call that must not be made twice; any other call that meets a connection which was just closed is sent again. */
  isOnce?: boolean;
}

/** Calls to one vendor. */
export interface VendorHttp {
  /**
   * The parsed answer; each list of numbers in it is a `Float32Array`. Never holds up the event loop, however long the answer is.
   * @throws {EmbeddingError} every fault of the mapping table; the reason of the signal that ended the call
   */
  json(request: VendorRequest): Promise<unknown>;
  /**
   * The answer as it comes, without a limit for the whole: `timeoutMs` limits each silence. A redirect is followed three times at most, to another origin without the headers.
   * @throws {EmbeddingError} every fault of the mapping table; the reason of the signal that ended the call
   */
  download(request: VendorRequest): AsyncGenerator<Buffer>;
  /** Ends the calls under way. Idempotent. */
  close(): void;
}

/**
 * Calls to one vendor. Redirects are not followed with credentials; answers are limited to 64 MiB, what is shown of error bodies to 8 KiB without secrets.
 */
export function createVendorHttp(options: VendorHttpOptions): VendorHttp {
  const { adapter } = options;
  const closing = new AbortController();
  setMaxListeners(0, closing.signal, ...options.signals); // one listener for each call, and for each provider of a plugin

  const close = () => {
    for (const signal of options.signals) signal.removeEventListener("abort", close);
    closing.abort(new EmbeddingError("network", `embedding adapter "${adapter}": it was closed during the call`));
  };
  for (const signal of options.signals) signal.addEventListener("abort", close, { once: true });
  if (options.signals.some((signal) => signal.aborted)) close();

  /** Address that was found to be one of http or https: calls go to one, one after the other. */
  let known = "";
  const check = (url: string) => {
    const { protocol } = new URL(url);
    if (protocol !== "http:" && protocol !== "https:")
      throw new EmbeddingError("model", `embedding adapter "${adapter}": expected an address with http or https, got ${protocol}`);
    known = url;
  };
  const open = (call: VendorRequest, wholeLimit: boolean): Promise<Exchange> => {
    if (call.url !== known) check(call.url);
    const isJson = call.json !== undefined;
    return openExchange({
      adapter,
      request: options.request,
      method: call.method ?? (isJson || call.body !== undefined ? "POST" : "GET"),
      url: call.url,
      headers: {
        "user-agent": USER_AGENT,
        accept: "application/json",
        ...(isJson ? { "content-type": "application/json" } : {}),
        ...call.headers,
      },
      body: isJson ? JSON.stringify(call.json) : call.body,
      timeoutMs: call.timeoutMs,
      wholeLimit,
      isOnce: call.isOnce,
      signals: [closing.signal, ...(call.signal ? [call.signal] : [])],
    });
  };
  const refused = async (exchange: Exchange) => {
    const { status, headers } = exchange;
    return refusalError({ status, headers, body: await readStart(exchange), now: Date.now() }, options);
  };

  return {
    async json(request) {
      const exchange = await open(request, true);
      if (!isSuccess(exchange)) throw await refused(exchange);
      return readJson(exchange, adapter);
    },
    async *download(request) {
      let exchange = await open(request, false);
      let at: VendorRequest = request;
      for (let hops = 0; isRedirect(exchange) && hops < MAX_REDIRECTS; hops++) {
        const next = redirected(at, exchange.headers.location);
        if (!next) break;
        await readStart(exchange);
        at = next;
        exchange = await open(at, false);
      }
      if (!isSuccess(exchange)) throw await refused(exchange);
      yield* exchange.chunks();
    },
    close,
  };
}

function isSuccess({ status }: Exchange): boolean {
  return status >= 200 && status < 300;
}

function isRedirect({ status }: Exchange): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** The request to where a redirect leads: on the same host, or to a named one by https. Undefined when it must not be followed. */
function redirected(request: VendorRequest, location: string | undefined): VendorRequest | undefined {
  if (location === undefined || !URL.canParse(location, request.url)) return undefined;
  const [from, to] = [new URL(request.url), new URL(location, request.url)];
  const isOwnHost = to.hostname === from.hostname && to.protocol === from.protocol;
  // A bare address is what somebody gives who wants this machine's network to be asked.
  if (!isOwnHost && (to.protocol !== "https:" || isIP(to.hostname.replace(/^\[|\]$/g, "")) !== 0)) return undefined;
  return { ...request, url: to.href, headers: to.origin === from.origin ? request.headers : {} };
}

async function readJson(exchange: Exchange, adapter: string): Promise<unknown> {
  const parser = createVectorJson();
  const pause = createPauses();
  let bytes = 0;
  try {
    await exchange.read((chunk) => {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES)
        throw new EmbeddingError("bad-response", `embedding adapter "${adapter}": the answer is longer than 64 MiB`);
      parser.push(chunk);
      // One poll may bring two megabytes.
      return pause();
    });
    return parser.end();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The parser's own message repeats a piece of the text, and careless servers repeat the key.
    throw new EmbeddingError("bad-response", `embedding adapter "${adapter}": the answer is not JSON, or not that of an embeddings server`);
  }
}

/** The first 8 KiB as text. What may be cut in two at its end goes: half a key could no longer be recognised. */
async function readStart(exchange: Exchange): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of exchange.chunks()) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_ERROR_BYTES) break;
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES).toString("utf8");
  return bytes > MAX_ERROR_BYTES ? text.replace(/(?<!\S)\S+$/, "") : text;
}
