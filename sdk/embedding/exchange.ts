import { once } from "node:events";
import { type Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { EmbeddingError } from "../define.ts";
import { connectionError } from "./errors.ts";

/** Body of a request: whole, or in pieces of a total length that is known before. */
export type ExchangeBody = string | Uint8Array | { bytes: number; chunks: AsyncIterable<Uint8Array> };

/** An address, taken apart. */
export interface Destination {
  protocol: string;
  hostname: string;
  port?: string;
  path: string;
}

/** Node would write an address out and take it apart anew for each request. */
export function destinationOf({ protocol, hostname, port, pathname, search }: URL): Destination {
  return { protocol, hostname: hostname.replace(/^\[|\]$/g, ""), ...(port === "" ? {} : { port }), path: pathname + search };
}

/** One request and its answer. */
export interface ExchangeOptions {
  adapter: string;
  method: "GET" | "POST" | "DELETE";
  to: Destination;
  headers: Readonly<Record<string, string>>;
  agent: Agent;
  body?: ExchangeBody | undefined;
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

  const finish = () => {
    end();
    // A server that has answered before it read the request may never read the rest.
    if (!request?.writableFinished) request?.destroy();
  };
  const opened = new Promise<Exchange>((resolve, reject) => {
    const fail = (error: unknown) => {
      end();
      isReset = cause === undefined && request?.reusedSocket === true && ["ECONNRESET", "EPIPE"].includes(codeOf(error));
      request?.destroy();
      reject(explain(error));
    };
    for (const signal of signals) if (signal.aborted) stop(signal.reason);
    if (cause !== undefined) return fail(cause);
    try {
      request = sent(options);
    } catch (error) {
      return fail(error);
    }
    request.on("error", fail);
    request.once("response", (response) => {
      // From here on it is the answer that breaks off, or does not.
      request?.off("error", fail).on("error", () => undefined);
      if (!options.wholeLimit) timer.refresh();
      resolve(toExchange(response, { end: finish, explain, cause: () => cause, touch: () => !options.wholeLimit && timer.refresh() }));
    });
  });
  return { opened, wasStale: () => isReset };
}

function sent({ method, to, headers, agent, body }: ExchangeOptions): ClientRequest {
  const length = body === undefined ? {} : { "content-length": String(lengthOf(body)) };
  const start = to.protocol === "https:" ? httpsRequest : httpRequest;
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
  /** Why the exchange was stopped; undefined while it was not. */
  cause(): unknown;
}

function toExchange(response: IncomingMessage, ending: Ending): Exchange {
  const { end, touch, explain } = ending;
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
    read: (take) => readWhole(response, take, ending),
  };
}

function readWhole(
  response: IncomingMessage,
  take: Parameters<Exchange["read"]>[0],
  { end, touch, explain, cause }: Ending,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: unknown) => {
      end();
      response.destroy();
      reject(reason);
    };
    const onData = (chunk: Buffer) => {
      touch();
      try {
        const pausing = take(chunk);
        if (!pausing) return;
        response.pause();
        pausing.then(() => response.resume(), fail);
      } catch (error) {
        fail(error);
      }
    };
    response.on("data", onData);
    response.once("end", () => {
      // What was stopped ends as well, without the rest of it.
      if (cause() !== undefined) return fail(cause());
      end();
      resolve();
    });
    response.on("error", (error) => fail(explain(error)));
    response.once("close", () => !response.readableEnded && fail(explain(new Error("the answer breaks off"))));
    if (response.destroyed) fail(explain(response.errored ?? new Error("the answer breaks off")));
  });
}

function lengthOf(body: ExchangeBody): number {
  if (typeof body === "string") return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.byteLength : body.bytes;
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}
