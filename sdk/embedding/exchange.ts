import { once } from "node:events";
import { type Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { EmbeddingError } from "../define.ts";
import { connectionError } from "./errors.ts";

/** Body of a request: whole, or in pieces of a total length that is known before. */
export type ExchangeBody = string | Uint8Array | { bytes: number; chunks: AsyncIterable<Uint8Array> };

/** One request and its answer. */
export interface ExchangeOptions {
  adapter: string;
  method: "GET" | "POST" | "DELETE";
  url: URL;
  headers: Readonly<Record<string, string>>;
  agent: Agent;
  body?: ExchangeBody | undefined;
  /** Longest silence until the answer begins, and within a streamed one; for `wholeLimit` the longest exchange altogether. */
  timeoutMs: number;
  wholeLimit: boolean;
  /** What it does must not be done twice. */
  isOnce?: boolean | undefined;
  /** Any of them closes the socket. */
  signals: readonly AbortSignal[];
}

/** An answer that has begun. */
export interface Exchange {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  /**
   * The body as it comes. Ends the exchange; leaving early closes the socket.
   * @throws {EmbeddingError} `network`, `timeout`; the reason of the signal that ended it
   */
  chunks(): AsyncGenerator<Buffer>;
}

/**
 * Sends a request and waits for the head of its answer; a kept connection that the server has just closed is tried anew, once.
 * @throws {EmbeddingError} `network`, `timeout`; the reason of the signal that ended it
 */
export async function openExchange(options: ExchangeOptions): Promise<Exchange> {
  const first = createExchange(options);
  try {
    return await first.opened;
  } catch (error) {
    const isWhole = options.body === undefined || typeof options.body === "string" || options.body instanceof Uint8Array;
    if (!first.wasStale() || !isWhole || options.isOnce) throw error;
    return createExchange(options).opened;
  }
}

function createExchange(options: ExchangeOptions): { opened: Promise<Exchange>; wasStale(): boolean } {
  const { adapter, signals, timeoutMs } = options;
  let request: ClientRequest | undefined;
  let cause: unknown;
  const stop = (why: unknown) => {
    cause ??= why;
    request?.destroy();
  };
  const late = () => stop(new EmbeddingError("timeout", `embedding adapter "${adapter}": no answer within ${timeoutMs / 1000} s`));
  const timer = setTimeout(late, timeoutMs);
  const listeners = signals.map((signal) => {
    const aborted = () => stop(signal.reason);
    signal.addEventListener("abort", aborted, { once: true });
    return () => signal.removeEventListener("abort", aborted);
  });
  const end = () => {
    clearTimeout(timer);
    for (const remove of listeners) remove();
  };
  const explain = (error: unknown) => cause ?? connectionError(error, adapter);
  let isReset = false;

  async function open(): Promise<Exchange> {
    try {
      for (const signal of signals) if (signal.aborted) stop(signal.reason);
      if (cause !== undefined) throw cause;
      request = sent(options);
      const failed = once(request, "error").then(([error]) => {
        throw error;
      });
      failed.catch(() => undefined);
      const answered = once(request, "response") as Promise<[IncomingMessage]>;
      answered.catch(() => undefined);
      const [response] = await Promise.race([answered, failed]);
      if (!options.wholeLimit) timer.refresh();
      const finish = () => {
        end();
        // A server that has answered before it read the request may never read the rest.
        if (!request?.writableFinished) request?.destroy();
      };
      return toExchange(response, { end: finish, explain, touch: () => !options.wholeLimit && timer.refresh() });
    } catch (error) {
      end();
      isReset = cause === undefined && request?.reusedSocket === true && ["ECONNRESET", "EPIPE"].includes(codeOf(error));
      request?.destroy();
      throw explain(error);
    }
  }
  return { opened: open(), wasStale: () => isReset };
}

function sent({ method, url, headers, agent, body }: ExchangeOptions): ClientRequest {
  const length = body === undefined ? {} : { "content-length": String(lengthOf(body)) };
  const start = url.protocol === "https:" ? httpsRequest : httpRequest;
  // Not the address itself: Node would write it out and take it apart anew for each request.
  const { protocol, hostname, port, pathname, search } = url;
  const to = { protocol, hostname: hostname.replace(/^\[|\]$/g, ""), ...(port === "" ? {} : { port }), path: pathname + search };
  const request = start({ ...to, method, agent, headers: { ...headers, ...length } });
  if (typeof body === "object" && "chunks" in body) void pour(body.chunks, request);
  else request.end(body);
  return request;
}

async function pour(chunks: AsyncIterable<Uint8Array>, request: ClientRequest): Promise<void> {
  try {
    for await (const chunk of chunks) {
      if (request.destroyed) return;
      if (!request.write(chunk)) await drained(request);
    }
    request.end();
  } catch (error) {
    request.destroy(error as Error);
  }
}

/** Waits for room, or for the end of the connection. */
async function drained(request: ClientRequest): Promise<void> {
  const waited = new AbortController();
  const { signal } = waited;
  try {
    await Promise.race([once(request, "drain", { signal }), once(request, "close", { signal })]);
  } finally {
    waited.abort();
  }
}

interface Ending {
  end(): void;
  touch(): void;
  explain(error: unknown): unknown;
}

function toExchange(response: IncomingMessage, { end, touch, explain }: Ending): Exchange {
  return {
    status: response.statusCode ?? 0,
    headers: response.headers as Record<string, string | undefined>,
    async *chunks() {
      try {
        for await (const chunk of response) {
          touch();
          yield chunk as Buffer;
        }
      } catch (error) {
        throw explain(error);
      } finally {
        end();
      }
    },
  };
}

function lengthOf(body: ExchangeBody): number {
  if (typeof body === "string") return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.byteLength : body.bytes;
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}
