import type { Worker } from "node:worker_threads";
import { type SvcError, startWorker, workerUrl } from "svc/sdk";
import { reasonOf } from "./engine/fault.ts";
import { memoryErrors } from "./errors.ts";
import { createHostCallServer, type HostCallServer, type HostHandlers } from "./host-calls.ts";
import type { IndexSettings } from "./index-settings.ts";
import { createPendingRequests, type RequestOptions } from "./pending-requests.ts";
import type { IndexMethod, IndexMethods, WorkerMessage, WorkerNews } from "./worker-protocol.ts";

/** The thread of one index: started on first use, started again after a death, gone after `close`. */
export interface IndexWorkerHost {
  /** Rejects with `memory-worker-down` while the thread is down, `memory-busy`, `memory-timed-out`, or what the index says. */
  request<M extends IndexMethod>(method: M, params: IndexMethods[M]["params"], options: RequestOptions): Promise<IndexMethods[M]["reply"]>;
  readonly isRunning: boolean;
  /** @param graceMs how long open requests may still take */
  close(graceMs?: number): Promise<void>;
}

export interface IndexWorkerEvents {
  /** What the thread may ask of this one. */
  handlers: HostHandlers;
  news(news: WorkerNews): void;
  /** A thread begins; what is requested in here reaches it before everything else. */
  started(): void;
  /** The thread died; called before the next one can start. */
  died(reason: string): void;
  /** The time to start again has come; called once per death. */
  canRestart(): void;
}

const FIRST_BACKOFF_MS = 500;
const LAST_BACKOFF_MS = 30_000;
const HEALTHY_AFTER_MS = 60_000;
const CLOSE_MS = 3_000;
const HEAP_MB = 512;
/** A thread keeps what it once took for short-lived objects: after a full index 20 to 30 MB more stayed, and indexing was no quicker. */
const YOUNG_MB = 12;

/** @param startThread how a thread is made; another one is of use to tests only */
export function createIndexWorkerHost(
  settings: IndexSettings,
  events: IndexWorkerEvents,
  startThread: (settings: IndexSettings) => Worker = startIndexThread,
): IndexWorkerHost {
  return new WorkerHost(settings, events, startThread);
}

/** Starts the thread of one index. */
export function startIndexThread(settings: IndexSettings): Worker {
  return startWorker(workerUrl(import.meta.url, "./index.worker"), {
    workerData: settings,
    name: `memory-index ${settings.agentId}`,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_MB },
  });
}

class WorkerHost implements IndexWorkerHost {
  readonly #settings: IndexSettings;
  readonly #events: IndexWorkerEvents;
  readonly #startThread: (settings: IndexSettings) => Worker;
  readonly #pending = createPendingRequests();
  #worker: Worker | undefined;
  #calls: HostCallServer | undefined;
  #startedAtMs = 0;
  #deaths = 0;
  #down: { reason: string; untilMs: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(settings: IndexSettings, events: IndexWorkerEvents, startThread: (settings: IndexSettings) => Worker) {
    this.#settings = settings;
    this.#events = events;
    this.#startThread = startThread;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  request<M extends IndexMethod>(method: M, params: IndexMethods[M]["params"], options: RequestOptions): Promise<IndexMethods[M]["reply"]> {
    if (this.#isClosed) return Promise.reject(this.#downError("it was closed", 0));
    const waitMs = this.#down ? this.#down.untilMs - performance.now() : 0;
    if (this.#down && waitMs > 0) return Promise.reject(this.#downError(this.#down.reason, waitMs));
    const worker = this.#worker ?? this.#start();
    return this.#pending.track(method, options, (id) => worker.postMessage({ id, method, params })) as Promise<IndexMethods[M]["reply"]>;
  }

  async close(graceMs = 0): Promise<void> {
    if (graceMs > 0) await this.#pending.whenIdle(graceMs);
    if (this.#isClosed) return;
    const worker = this.#worker;
    const ended = worker && this.request("close", {}, { timeoutMs: CLOSE_MS }).catch(() => undefined);
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await ended;
    this.#calls?.dispose();
    this.#worker = undefined;
    this.#pending.rejectAll(this.#downError("it was closed", 0));
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = this.#startThread(this.#settings);
    this.#down = undefined;
    this.#startedAtMs = performance.now();
    this.#worker = worker;
    const calls = createHostCallServer(this.#events.handlers, (answer, moved = []) => worker.postMessage(answer, moved));
    this.#calls = calls;
    let reason = "its thread ended";
    worker.on("message", (message: WorkerMessage) => this.#receive(message, calls));
    worker.on("error", (error) => {
      reason = reasonOf(error);
    });
    worker.on("exit", () => {
      calls.dispose();
      this.#died(worker, reason);
    });
    this.#events.started();
    return worker;
  }

  #receive(message: WorkerMessage, calls: HostCallServer): void {
    if ("call" in message) {
      this.#pending.extend("sync"); // embedding a group of texts may take longer than a sync may be silent
      return calls.receive(message);
    }
    if ("news" in message) {
      if (message.news === "progress") this.#pending.extend("sync");
      return this.#events.news(message);
    }
    this.#pending.settle(message);
  }

  #died(worker: Worker, reason: string): void {
    if (this.#worker !== worker || this.#isClosed) return;
    this.#worker = undefined;
    if (performance.now() - this.#startedAtMs > HEALTHY_AFTER_MS) this.#deaths = 0;
    const waitMs = Math.min(LAST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#deaths);
    this.#deaths++;
    this.#down = { reason, untilMs: performance.now() + waitMs };
    this.#pending.rejectAll(this.#downError(reason, waitMs));
    this.#events.died(reason);
    this.#timer = setTimeout(() => {
      this.#down = undefined;
      this.#events.canRestart();
    }, waitMs);
    this.#timer.unref();
  }

  #downError(reason: string, retryMs: number): SvcError {
    return memoryErrors.memoryWorkerDown({ agentId: this.#settings.agentId, reason, retryMs });
  }
}
