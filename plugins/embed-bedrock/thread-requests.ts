import { type HttpRequestFunction, type HttpRequestOptions, isSvcError, messageOf } from "svc/sdk";
import { MAX_ANSWER_BYTES, type RequestFailure, type ThreadExchange, type ThreadHttp } from "./client-protocol.ts";

/** Limit of a request: longer than any call that embeds waits, so that the caller's own limit is reached first. */
const SILENCE_MS = 180_000;

type Post = (message: ThreadExchange, transfer?: ArrayBuffer[]) => void;

/** Sends the requests of one thread over the plugin's connections and passes the responses back as they arrive. */
export class ThreadRequests {
  readonly #request: HttpRequestFunction;
  readonly #post: Post;
  readonly #silenceMs: number;
  readonly #open = new Map<number, AbortController>();

  constructor(request: HttpRequestFunction, { post, silenceMs = SILENCE_MS }: { post: Post; silenceMs?: number | undefined }) {
    this.#request = request;
    this.#post = post;
    this.#silenceMs = silenceMs;
  }

  receive(message: ThreadHttp): void {
    if ("leave" in message) this.#open.get(message.http)?.abort();
    else void this.#send(message);
  }

  /** Ends them all. */
  close(): void {
    for (const stop of this.#open.values()) stop.abort();
  }

  async #send({ http: id, url, method, headers, body }: Exclude<ThreadHttp, { leave: true }>): Promise<void> {
    const stop = new AbortController();
    this.#open.set(id, stop);
    try {
      const options = { method: method as NonNullable<HttpRequestOptions["method"]>, headers, body, signal: stop.signal };
      const response = await this.#request(url, { ...options, timeoutMs: this.#silenceMs });
      this.#post({ http: id, head: { status: response.status, headers: response.headers as Record<string, string> } });
      let size = 0;
      for await (const piece of response.body) {
        const chunk = new Uint8Array(piece as Buffer);
        size += chunk.length;
        this.#post({ http: id, chunk }, [chunk.buffer]);
        if (size > MAX_ANSWER_BYTES) break; // the thread rejects it for its size
      }
      this.#post({ http: id, end: true });
    } catch (error) {
      this.#post({ http: id, failure: toFailure(error) });
    } finally {
      this.#open.delete(id);
    }
  }
}

/** A request that failed on its way, in the terms in which the AWS client itself would report it. */
function toFailure(error: unknown): RequestFailure {
  if (isSvcError(error, "response-timeout")) return { name: "TimeoutError", message: error.message };
  if (!isSvcError(error, "request-failed")) return { name: "Error", message: messageOf(error) };
  const { origin, reason, via = "" } = error.fields;
  return { name: reason === "ETIMEDOUT" ? "TimeoutError" : "Error", code: String(reason), message: `${origin}${via}` };
}
