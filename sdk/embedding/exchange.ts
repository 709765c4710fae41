import type { HttpRequestBody, HttpRequestFunction } from "../types/request.ts";
import { connectionError, timeoutError } from "./errors.ts";

/** One request and its answer. */
export interface ExchangeOptions {
  adapter: string;
  /** The plugin's connections. */
  request: HttpRequestFunction;
  method: "GET" | "POST" | "DELETE";
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: HttpRequestBody | undefined;
  /** Longest silence until the answer begins, and within a streamed one; for `wholeLimit` the longest exchange altogether. */
  timeoutMs: number;
  wholeLimit: boolean;
  /** True for a call that must not be made twice. */
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
  /**
   * The body, each piece to a function that may ask for a pause; without the promises of an iterator. Ends the exchange.
   * @throws what `chunks` throws, and what the function throws, which closes the socket
   */
  read(take: (chunk: Buffer) => Promise<void> | undefined): Promise<void>;
}

/**
 * Sends a request and waits for the head of its answer.
 * @throws {EmbeddingError} `network`, `timeout`; the reason of the signal that ended it
 */
export async function openExchange(options: ExchangeOptions): Promise<Exchange> {
  const { adapter, request, url, method, headers, body, timeoutMs, signals } = options;
  const stop = new AbortController();
  const timer = options.wholeLimit ? setTimeout(() => stop.abort(timeoutError(adapter, timeoutMs)), timeoutMs) : undefined;
  const listeners = signals.map((signal) => {
    const aborted = () => stop.abort(signal.reason);
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) aborted();
    return () => signal.removeEventListener("abort", aborted);
  });
  const end = () => {
    clearTimeout(timer);
    for (const remove of listeners) remove();
  };
  const explain = (error: unknown) => (stop.signal.aborted ? stop.signal.reason : connectionError(error, { adapter, timeoutMs }));
  try {
    const response = await request(url, { method, headers, body, timeoutMs, signal: stop.signal, idempotent: !options.isOnce });
    response.body.on("close", end);
    const { status } = response;
    return {
      status,
      headers: response.headers,
      chunks: () => chunksOf(response.body, explain),
      read: (take) => readWhole(response.body, take, explain),
    };
  } catch (error) {
    end();
    throw explain(error);
  }
}

async function* chunksOf(body: Body, explain: (error: unknown) => unknown): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) yield chunk as Buffer;
  } catch (error) {
    throw explain(error);
  }
}

type Body = Awaited<ReturnType<HttpRequestFunction>>["body"];

function readWhole(body: Body, take: Parameters<Exchange["read"]>[0], explain: (error: unknown) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: unknown) => {
      body.destroy();
      reject(reason);
    };
    body.on("data", (chunk: Buffer) => {
      try {
        const pausing = take(chunk);
        if (!pausing) return;
        body.pause();
        pausing.then(() => body.resume(), fail);
      } catch (error) {
        fail(error);
      }
    });
    body.on("end", resolve);
    body.on("error", (error) => reject(explain(error)));
  });
}
