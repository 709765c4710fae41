import type { Worker } from "node:worker_threads";
import { type HttpRequestFunction, type JsonObject, type Logger, startWorker, workerUrl } from "svc/sdk";
import type { ClientSettings, EmbedCall, EmbedReply, ThreadCall, ThreadHttp, ThreadMessage, ThreadRequest } from "./client-protocol.ts";
import type { RawFailure } from "./raw-failure.ts";
import { ThreadRequests } from "./thread-requests.ts";

/** A call that the AWS client gave up. */
export class CallGivenUp extends Error {
  readonly failure: RawFailure;
  constructor(failure: RawFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Start options of a thread. */
export interface ThreadOptions {
  settings: ClientSettings;
  env: Record<string, string>;
  /** Sends the thread's requests. */
  request: HttpRequestFunction;
  /** Longest wait for the head of a response and longest silence within it; default three minutes, more than a call that embeds waits. */
  silenceMs?: number;
  logger: Logger;
}

/** One user's hold on the thread of an AWS client. Calls reject with `CallGivenUp`, or with the signal's reason. */
export interface ClientLease {
  resolveCredentials(signal: AbortSignal): Promise<void>;
  embed(call: EmbedCall, signal: AbortSignal): Promise<EmbedReply>;
  /** One turn of a conversation, event by event. Leaving it early ends the request. */
  converse(input: JsonObject, signal: AbortSignal): AsyncIterable<JsonObject>;
  /** Ends the thread when nobody else holds it. Idempotent. */
  release(): Promise<void>;
}

export interface ClientThreads {
  /** The same settings and environment share one thread; it starts with the first call. */
  lease(options: ThreadOptions): ClientLease;
  /** Ends all threads. */
  close(): Promise<void>;
}

const HEAP_MB = 256;
/** Events of a turn that wait to be read; a reader that far behind gets no more. */
const MAX_EVENTS = 10_000;

/**
 * Threads of the AWS client. Its import takes a tenth of a second and its answers are megabytes of JSON, too much for the main thread; and only a thread
 * can have another environment than the process, which is all the credential chain reads.
 * @param module what a thread runs; another one is of use to tests only
 */
export function createClientThreads(module: URL = workerUrl(import.meta.url, "./client.worker")): ClientThreads {
  const threads = new Map<string, { thread: ClientThread; users: number }>();
  return {
    lease(options) {
      const key = JSON.stringify([options.settings, options.env, options.silenceMs]);
      const entry = threads.get(key) ?? { thread: new ClientThread(module, options), users: 0 };
      threads.set(key, entry);
      entry.users++;
      let isHeld = true;
      return {
        async resolveCredentials(signal) {
          await entry.thread.ask({ credentials: true }, signal);
        },
        embed: (call, signal) => entry.thread.ask({ embed: call }, signal) as Promise<EmbedReply>,
        converse: (input, signal) => converse(entry.thread, input, signal),
        async release() {
          if (!isHeld) return;
          isHeld = false;
          if (--entry.users > 0) return;
          threads.delete(key);
          await entry.thread.close();
        },
      };
    },
    async close() {
      const all = [...threads.values()];
      threads.clear();
      await Promise.all(all.map(({ thread }) => thread.close()));
    },
  };
}

async function* converse(thread: ClientThread, input: JsonObject, signal: AbortSignal): AsyncIterable<JsonObject> {
  const stop = new AbortController();
  const events: JsonObject[] = [];
  let wake = () => undefined as void;
  let end: { failed?: unknown } | undefined;
  const onEvent = (event: JsonObject) => {
    if (events.push(event) > MAX_EVENTS)
      stop.abort(new CallGivenUp({ name: "", message: `more than ${MAX_EVENTS} events wait to be read` }));
    wake();
  };
  const ended = (how: { failed?: unknown }) => {
    end = how;
    wake();
  };
  thread.ask({ converse: input }, AbortSignal.any([signal, stop.signal]), onEvent).then(
    () => ended({}),
    (failed: unknown) => ended({ failed }),
  );
  try {
    for (;;) {
      signal.throwIfAborted();
      const event = events.shift();
      if (event) yield event;
      else if (end && "failed" in end) throw end.failed;
      else if (end) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    stop.abort();
  }
}

interface Waiting {
  onEvent?: ((event: JsonObject) => void) | undefined;
  resolve(reply: unknown): void;
  reject(error: unknown): void;
}

class ClientThread {
  readonly #module: URL;
  readonly #options: ThreadOptions;
  readonly #open = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #nextId = 1;
  #isClosed = false;

  constructor(module: URL, options: ThreadOptions) {
    this.#module = module;
    this.#options = options;
  }

  /** @param onEvent called with each event of a turn, before the promise resolves */
  ask(what: ThreadCall, signal: AbortSignal, onEvent?: (event: JsonObject) => void): Promise<unknown> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#isClosed) return Promise.reject(closed());
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#open.delete(id);
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = () => {
        end();
        worker.postMessage({ abort: id } satisfies ThreadRequest);
        reject(signal.reason);
      };
      this.#open.set(id, {
        onEvent,
        resolve(reply) {
          end();
          resolve(reply);
        },
        reject(error) {
          end();
          reject(error);
        },
      });
      signal.addEventListener("abort", onAbort, { once: true });
      worker.postMessage({ id, ...what } satisfies ThreadRequest);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#worker = undefined;
    this.#rejectAll(closed());
    await worker?.terminate();
  }

  #start(): Worker {
    const { settings, env, request, silenceMs } = this.#options;
    const worker = startWorker(this.#module, {
      workerData: settings,
      env,
      name: "bedrock",
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    const requests = new ThreadRequests(request, { silenceMs, post: (message, transfer) => worker.postMessage(message, transfer) });
    let reason = "it ended";
    worker.on("message", (message: ThreadMessage) => ("http" in message ? requests.receive(message) : this.#receive(message)));
    worker.on("error", (error) => {
      reason = error instanceof Error ? error.message : String(error);
    });
    worker.on("exit", () => {
      requests.close();
      if (this.#worker === worker) this.#worker = undefined;
      if (!this.#isClosed) this.#rejectAll(new CallGivenUp({ name: "", message: `the thread of the AWS client: ${reason}` }));
    });
    return worker;
  }

  #receive(message: Exclude<ThreadMessage, ThreadHttp>): void {
    if ("warning" in message) return this.#options.logger.warn(`bedrock: ${message.warning}`);
    const waiting = this.#open.get(message.id);
    if (!waiting) return; // given up meanwhile
    if ("event" in message) waiting.onEvent?.(message.event);
    else if ("failure" in message) waiting.reject(new CallGivenUp(message.failure));
    else waiting.resolve(message.reply);
  }

  #rejectAll(error: Error): void {
    for (const waiting of [...this.#open.values()]) waiting.reject(error);
  }
}

function closed(): CallGivenUp {
  return new CallGivenUp({ name: "", message: "the provider was closed" });
}
