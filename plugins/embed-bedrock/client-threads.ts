import type { Worker } from "node:worker_threads";
import { type HttpRequestFunction, type Logger, startWorker, workerUrl } from "svc/sdk";
import type { ClientSettings, EmbedCall, EmbedReply, ThreadHttp, ThreadMessage, ThreadRequest } from "./client-protocol.ts";
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
  logger: Logger;
}

/** One user's hold on the thread of an AWS client. Calls reject with `CallGivenUp`, or with the signal's reason. */
export interface ClientLease {
  resolveCredentials(signal: AbortSignal): Promise<void>;
  embed(call: EmbedCall, signal: AbortSignal): Promise<EmbedReply>;
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

/**
 * Threads of the AWS client. Its import takes a tenth of a second and its answers are megabytes of JSON, too much for the main thread; and only a thread
 * can have another environment than the process, which is all the credential chain reads.
 * @param module what a thread runs; another one is of use to tests only
 */
export function createClientThreads(module: URL = workerUrl(import.meta.url, "./client.worker")): ClientThreads {
  const threads = new Map<string, { thread: ClientThread; users: number }>();
  return {
    lease(options) {
      const key = JSON.stringify([options.settings, options.env]);
      const entry = threads.get(key) ?? { thread: new ClientThread(module, options), users: 0 };
      threads.set(key, entry);
      entry.users++;
      let isHeld = true;
      return {
        async resolveCredentials(signal) {
          await entry.thread.ask({ credentials: true }, signal);
        },
        embed: (call, signal) => entry.thread.ask({ embed: call }, signal) as Promise<EmbedReply>,
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

interface Waiting {
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

  ask(what: { embed: EmbedCall } | { credentials: true }, signal: AbortSignal): Promise<unknown> {
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
    const { settings, env, request } = this.#options;
    const worker = startWorker(this.#module, {
      workerData: settings,
      env,
      name: "bedrock",
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    const requests = new ThreadRequests(request, (message, transfer) => worker.postMessage(message, transfer));
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
    if ("failure" in message) waiting.reject(new CallGivenUp(message.failure));
    else waiting.resolve(message.reply);
  }

  #rejectAll(error: Error): void {
    for (const waiting of [...this.#open.values()]) waiting.reject(error);
  }
}

function closed(): CallGivenUp {
  return new CallGivenUp({ name: "", message: "the provider was closed" });
}
