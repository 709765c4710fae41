import type { Worker } from "node:worker_threads";
import { backoffDelayMs, type SvcError, settledWithin, startWorker, workerUrl } from "svc/sdk";
import { reasonOf } from "./engine/fault.ts";
import { memoryErrors } from "./errors.ts";
import { createHostCallServer, type HostCallServer, type HostHandlers } from "./host-calls.ts";
import type { IndexSettings } from "./index-settings.ts";
import { createPendingRequests, type RequestOptions } from "./pending-requests.ts";
import type { Quarantine } from "./quarantine.ts";
import { createActivityMemory, type DocumentVersion, readActivity } from "./thread-activity.ts";
import { type StallLimits, watchThread } from "./thread-watch.ts";
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
  /** Handlers for requests of the thread. */
  handlers: HostHandlers;
  news(news: WorkerNews): void;
  /** A thread begins; what is requested in here reaches it before everything else. */
  started(): void;
  /** The thread does not answer at present, for this reason; undefined: it answers again. */
  silent(reason: string | undefined): void;
  /** The thread died, or is being ended because it does not answer; called before the next one can start. */
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

/** The `workerData` of a thread. */
export interface IndexThreadData {
  settings: IndexSettings;
  /** Shared memory of `thread-activity.ts`. */
  activity: SharedArrayBuffer;
  /** Documents that stopped a thread before. */
  quarantined: readonly DocumentVersion[];
  /** Shared with the main thread: 1 while indexing pauses. */
  hold: SharedArrayBuffer;
}

/** Ways to create and watch threads; but for `hold` only tests use others than the default. */
export interface IndexThreadOptions {
  /** Absent: indexing never pauses. */
  hold?: SharedArrayBuffer;
  startThread?: (data: IndexThreadData) => Worker;
  stallLimits?: StallLimits;
}

export interface IndexWorkerOptions extends IndexThreadOptions {
  /** Takes the documents that stop a thread. */
  quarantine: Quarantine;
}

export function createIndexWorkerHost(settings: IndexSettings, events: IndexWorkerEvents, options: IndexWorkerOptions): IndexWorkerHost {
  return new WorkerHost(settings, events, options);
}

/** Starts the thread of one index. */
export function startIndexThread(data: IndexThreadData): Worker {
  return startWorker(workerUrl(import.meta.url, "./index.worker"), {
    workerData: data,
    name: `memory-index ${data.settings.agentId}`,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_MB },
  });
}

class WorkerHost implements IndexWorkerHost {
  readonly #settings: IndexSettings;
  readonly #events: IndexWorkerEvents;
  readonly #options: IndexWorkerOptions;
  readonly #pending = createPendingRequests();
  #worker: Worker | undefined;
  #calls: HostCallServer | undefined;
  #startedAtMs = 0;
  /** The document on which the last thread died. */
  #suspect: DocumentVersion | undefined;
  #deaths = 0;
  #down: { reason: string; untilMs: number } | undefined;
  /** Resolves when the last thread has ended: one that waits for a disk cannot be ended at once. */
  #ending: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(settings: IndexSettings, events: IndexWorkerEvents, options: IndexWorkerOptions) {
    this.#settings = settings;
    this.#events = events;
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  request<M extends IndexMethod>(method: M, params: IndexMethods[M]["params"], options: RequestOptions): Promise<IndexMethods[M]["reply"]> {
    if (this.#isClosed) return Promise.reject(this.#downError("it was closed", 0));
    if (this.#down) return Promise.reject(this.#downError(this.#down.reason, Math.max(0, this.#down.untilMs - performance.now())));
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
    await settledWithin(Promise.all([worker?.terminate(), this.#ending]), CLOSE_MS);
  }

  #start(): Worker {
    const { quarantine, startThread = startIndexThread, stallLimits, hold = new SharedArrayBuffer(4) } = this.#options;
    const activity = createActivityMemory();
    const worker = startThread({ settings: this.#settings, activity, quarantined: quarantine.entries(), hold });
    this.#startedAtMs = performance.now();
    this.#worker = worker;
    const calls = createHostCallServer(this.#events.handlers, (answer, moved = []) => worker.postMessage(answer, moved));
    this.#calls = calls;
    const isCurrent = () => this.#worker === worker && !this.#isClosed;
    const exited = new Promise<void>((resolve) => void worker.once("exit", () => resolve()));
    const watch = watchThread(
      activity,
      {
        onSilence: (reason) => void (isCurrent() && this.#events.silent(reason)),
        onStall: (reason, document) => {
          void worker.terminate();
          if (!isCurrent()) return;
          if (document) quarantine.add(document);
          calls.dispose();
          this.#died({ reason, isCauseLeftOut: document !== undefined, exited });
        },
      },
      stallLimits,
    );
    let reason = "its thread ended";
    worker.on("message", (message: WorkerMessage) => void (this.#worker === worker && this.#receive(message, calls)));
    worker.on("error", (error) => {
      reason = reasonOf(error);
    });
    worker.on("exit", () => {
      watch.dispose();
      calls.dispose();
      if (isCurrent()) this.#died({ reason, isCauseLeftOut: this.#isGuilty(readActivity(activity).document), exited });
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

  /** Two threads that die on one document, one after the other, die of it: it takes all memory, for example. It is left out from then on. */
  #isGuilty(document: DocumentVersion | undefined): boolean {
    const isGuilty = document !== undefined && document.path === this.#suspect?.path && document.stamp === this.#suspect.stamp;
    if (isGuilty) this.#options.quarantine.add(document);
    this.#suspect = document;
    return isGuilty;
  }

  #died({ reason, isCauseLeftOut, exited }: Death): void {
    this.#worker = undefined;
    if (isCauseLeftOut || performance.now() - this.#startedAtMs > HEALTHY_AFTER_MS) this.#deaths = 0;
    const waitMs = backoffDelayMs(this.#deaths + 1, { firstMs: FIRST_BACKOFF_MS, maxMs: LAST_BACKOFF_MS });
    this.#deaths++;
    this.#down = { reason, untilMs: performance.now() + waitMs };
    this.#pending.rejectAll(this.#downError(reason, waitMs));
    this.#events.died(reason);
    this.#ending = exited.then(() => {
      if (this.#isClosed) return;
      this.#timer = setTimeout(() => {
        this.#down = undefined;
        this.#events.canRestart();
      }, waitMs);
      this.#timer.unref();
    });
  }

  #downError(reason: string, retryMs: number): SvcError {
    return memoryErrors.memoryWorkerDown({ agentId: this.#settings.agentId, reason, retryMs });
  }
}

interface Death {
  reason: string;
  /** The next thread leaves out the document that it died of. */
  isCauseLeftOut: boolean;
  /** Settles when the thread has ended. */
  exited: Promise<void>;
}
