import { Readable } from "node:stream";
import type { RequestFailure, ThreadExchange, ThreadHttp } from "./client-protocol.ts";

/** Request of the AWS client, as far as it is read. */
interface AwsRequest {
  method: string;
  protocol: string;
  hostname: string;
  port?: number | undefined;
  path: string;
  query?: Readonly<Record<string, string | readonly string[] | null>> | undefined;
  headers: Readonly<Record<string, string>>;
  body?: unknown;
}

interface AwsResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: Readable;
}

interface Waiting {
  resolve(result: { response: AwsResponse }): void;
  reject(error: unknown): void;
  body: Readable | undefined;
}

/**
 * The request handler of an AWS client in a thread: the main thread sends the requests, over the plugin's connections and through the proxy of the environment.
 * Only the metadata addresses of a machine are asked by the package itself, since they are never behind a proxy.
 */
export class MainThreadHandler {
  /** Other clients of the credential chain take a handler over when it speaks this. */
  readonly metadata = { handlerProtocol: "http/1.1" };
  readonly #post: (message: ThreadHttp) => void;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;

  constructor(post: (message: ThreadHttp) => void) {
    this.#post = post;
  }

  handle(request: AwsRequest, { abortSignal }: { abortSignal?: AbortSignal } = {}): Promise<{ response: AwsResponse }> {
    if (abortSignal?.aborted) return Promise.reject(aborted());
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#post({ http: id, url: urlOf(request), method: request.method, headers: request.headers, body: bodyOf(request.body) });
      this.#waiting.set(id, { resolve, reject, body: undefined });
      const onAbort = () => {
        const waiting = this.#waiting.get(id);
        if (!waiting) return;
        this.#leave(id);
        waiting.body?.destroy(aborted());
        reject(aborted());
      };
      abortSignal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Takes a part of a response. */
  receive(message: ThreadExchange): void {
    const waiting = this.#waiting.get(message.http);
    if (!waiting) return; // left meanwhile
    if ("head" in message) {
      const { status, headers } = message.head;
      waiting.body = this.#bodyOf(message.http);
      waiting.resolve({ response: { statusCode: status, headers, body: waiting.body } });
    } else if ("chunk" in message) waiting.body?.push(message.chunk);
    else {
      this.#waiting.delete(message.http);
      if (!("failure" in message)) waiting.body?.push(null);
      else if (waiting.body) waiting.body.destroy(errorOf(message.failure));
      else waiting.reject(errorOf(message.failure));
    }
  }

  updateHttpClientConfig(): void {
    // Connections are the plugin's; nothing about them is set here.
  }

  httpHandlerConfigs(): Record<string, never> {
    return {};
  }

  destroy(): void {
    // They end with the plugin.
  }

  #bodyOf(id: number): Readable {
    const body = new Readable({
      read: () => undefined,
      destroy: (error, callback) => {
        this.#leave(id);
        callback(error);
      },
    });
    // Somebody who leaves early has no use for the error.
    return body.on("error", () => undefined);
  }

  #leave(id: number): void {
    if (this.#waiting.delete(id)) this.#post({ http: id, leave: true });
  }
}

function aborted(): DOMException {
  return new DOMException("the request was aborted", "AbortError");
}

function errorOf({ name, message, code }: RequestFailure): Error {
  return Object.assign(new Error(message), { name, ...(code === undefined ? {} : { code }) });
}

function urlOf({ protocol, hostname, port, path, query = {} }: AwsRequest): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as readonly string[]) : [value as string | null]).map((one) =>
      one === null ? escaped(name) : `${escaped(name)}=${escaped(one)}`,
    ),
  );
  return `${protocol}//${hostname}${port === undefined ? "" : `:${port}`}${path}${pairs.length === 0 ? "" : `?${pairs.join("&")}`}`;
}

/** As AWS signs it. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function bodyOf(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  throw new TypeError("expected the body of an AWS request as text or bytes");
}
