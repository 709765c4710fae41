import { EventEmitter, once } from "node:events";
import { isSvcError, settledWithin } from "svc/sdk";
import type { GetOutcome, LineRange } from "./engine/get-file.ts";
import type { HostHandlers } from "./host-calls.ts";
import type { IndexSettings } from "./index-settings.ts";
import { createIndexWorkerHost, type IndexThreadOptions, type IndexWorkerEvents } from "./index-worker-host.ts";
import { noHostHandlers } from "./no-host-handlers.ts";
import { createQuarantine, type Quarantine } from "./quarantine.ts";
import type {
  IndexMethods,
  IndexProgress,
  IndexState,
  SearchReply,
  SearchRequest,
  StatusReply,
  SyncReply,
  SyncRequest,
  WorkerNews,
} from "./worker-protocol.ts";

/** Provider that embeds for an index from now on. */
export type ProviderAssignment = IndexMethods["provider"]["params"];
export type EmbeddingFailed = Extract<WorkerNews, { news: "embedding-failed" }>;
export type SessionGrowth = IndexMethods["sessionsGrown"]["params"]["grown"][number];

/** The index of one agent, on its own thread. Usable without a gateway. */
export interface MemoryIndex {
  /** Searches for at most `timeoutMs`; `partial` when the result is not complete. */
  search(request: SearchRequest, options?: { signal?: AbortSignal | undefined }): Promise<SearchReply>;
  get(path: string, range?: LineRange): Promise<GetOutcome>;
  /** Resolves when the index is up to date. The signal ends the wait, not the sync. */
  sync(request?: Partial<SyncRequest>, options?: { signal?: AbortSignal | undefined }): Promise<SyncReply>;
  status(options?: { files?: boolean }): Promise<StatusReply>;
  reset(): Promise<{ removed: boolean }>;
  /** Follows the files until closed, also after a restart of the thread. */
  watch(): Promise<void>;
  /** Tells who embeds, now and after each restart of the thread. Starts no thread. */
  assign(assignment: ProviderAssignment): void;
  sessionsGrown(grown: SessionGrowth[]): Promise<void>;
  /** Figures as last heard, without asking the thread. */
  state(): IndexState;
  /** @param graceMs how long open requests may still take */
  close(graceMs?: number): Promise<void>;
}

export interface MemoryIndexOptions extends IndexSettings {
  onProgress?(progress: IndexProgress): void;
  onSynced?(summary: { files: number; chunks: number; ms: number }): void;
  onState?(state: IndexState): void;
  /** A document could not be embedded after all retries. */
  onEmbeddingFailed?(failed: EmbeddingFailed): void;
  /** Handlers for requests of the thread; absent: nothing is embedded and there are no sessions. */
  handlers?: HostHandlers;
  log?(level: "info" | "warn" | "error", message: string): void;
  /** The thread starts no sooner: another one may still hold the same database. */
  startAfter?: Promise<void> | undefined;
  /** Documents that stop the index; absent: they are forgotten when the process ends. */
  quarantine?: Quarantine;
  /** Thread options for tests. */
  threads?: IndexThreadOptions | undefined;
}

const REQUEST_MS = 10_000;
/** A sync may take as long as it needs, but not be silent this long. */
const SILENT_SYNC_MS = 300_000;
/** Longest wait of a sync for the next thread. */
const RESTART_MS = 60_000;

export function openMemoryIndex(options: MemoryIndexOptions): MemoryIndex {
  return new ThreadedIndex(options);
}

class ThreadedIndex implements MemoryIndex {
  readonly #options: MemoryIndexOptions;
  readonly #quarantine: Quarantine;
  readonly #threads: ReturnType<typeof createIndexWorkerHost>;
  readonly #restarts = new EventEmitter().setMaxListeners(0);
  #state: IndexState = { files: 0, chunks: 0, dirty: true, syncing: false, watching: false };
  /** Reason why nothing can be searched at present. */
  #outage: string | undefined;
  #wantsWatch = false;
  #assignment: ProviderAssignment | undefined;

  constructor(options: MemoryIndexOptions) {
    const { onProgress, onSynced, onState, onEmbeddingFailed, handlers, log, startAfter, threads, quarantine, ...settings } = options;
    this.#options = options;
    this.#quarantine = quarantine ?? createQuarantine(options.agentId, { warn: (message) => log?.("warn", message) });
    this.#threads = createIndexWorkerHost(settings, this.#events(), { ...threads, quarantine: this.#quarantine });
  }

  async search(request: SearchRequest, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<SearchReply> {
    let found: SearchReply = { hits: [], partial: true, mode: "fts-only" };
    const interim = (value: unknown) => {
      found = value as SearchReply;
    };
    const until = performance.now() + request.timeoutMs;
    await settledWithin(this.#ready(), request.timeoutMs);
    signal?.throwIfAborted();
    const timeoutMs = Math.ceil(until - performance.now());
    if (timeoutMs <= 0) return found;
    try {
      return await this.#threads.request("search", { ...request, timeoutMs }, { timeoutMs, signal, interim });
    } catch (error) {
      if (!isSvcError(error, "memory-timed-out")) throw error;
      const outage = this.#outage;
      return outage === undefined ? found : { ...found, degraded: outage, outage };
    }
  }

  async get(path: string, range: LineRange = {}): Promise<GetOutcome> {
    await this.#ready();
    return this.#threads.request("get", { path, range }, { timeoutMs: REQUEST_MS });
  }

  async sync(
    { force = false, reason = "request", sessionIds }: Partial<SyncRequest> = {},
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<SyncReply> {
    const quarantine = this.#quarantine;
    await this.#ready();
    if (force) quarantine.clear();
    const params = { force, reason, ...(sessionIds ? { sessionIds } : {}) };
    for (let retryLeftOut = force; ; retryLeftOut = false) {
      const before = quarantine.entries();
      try {
        return await this.#threads.request("sync", { ...params, retryLeftOut }, { timeoutMs: SILENT_SYNC_MS, signal });
      } catch (error) {
        // The document that ended the thread is left out by the next one.
        if (!isSvcError(error, "memory-worker-down") || quarantine.entries() === before) throw error;
        await settledWithin(once(this.#restarts, "restart", { signal }), RESTART_MS);
        signal?.throwIfAborted();
      }
    }
  }

  async status({ files = false }: { files?: boolean } = {}): Promise<StatusReply> {
    await this.#ready();
    return this.#threads.request("status", { files }, { timeoutMs: REQUEST_MS });
  }

  async reset(): Promise<{ removed: boolean }> {
    await this.#ready();
    return this.#threads.request("reset", {}, { timeoutMs: REQUEST_MS });
  }

  async watch(): Promise<void> {
    this.#wantsWatch = true;
    await this.#watch();
  }

  assign(next: ProviderAssignment): void {
    this.#assignment = next;
    if (this.#threads.isRunning) this.#sendProvider(next);
  }

  async sessionsGrown(grown: SessionGrowth[]): Promise<void> {
    await this.#ready();
    await this.#threads.request("sessionsGrown", { grown }, { timeoutMs: REQUEST_MS });
  }

  state(): IndexState {
    return this.#outage === undefined ? this.#state : { ...this.#state, isDown: true, lastError: this.#outage };
  }

  async close(graceMs?: number): Promise<void> {
    await this.#threads.close(graceMs);
    this.#restarts.emit("restart");
  }

  #ready(): Promise<unknown> {
    return Promise.all([this.#options.startAfter, this.#quarantine.ready()]);
  }

  async #watch(): Promise<void> {
    await this.#ready();
    await this.#threads.request("watch", {}, { timeoutMs: REQUEST_MS });
  }

  /** A thread that dies meanwhile gets it again when the next one starts. */
  #sendProvider(assignment: ProviderAssignment): void {
    void this.#threads.request("provider", assignment, { timeoutMs: REQUEST_MS }).catch(() => undefined);
  }

  #update(change: { state?: IndexState; outage: string | undefined }): void {
    this.#state = change.state ?? this.#state;
    this.#outage = change.outage;
    this.#options.onState?.(this.state());
  }

  #events(): IndexWorkerEvents {
    const { handlers = noHostHandlers, log } = this.#options;
    return {
      handlers,
      started: () => void (this.#assignment && this.#sendProvider(this.#assignment)),
      news: (news) => this.#onNews(news),
      silent: (reason) => {
        this.#update({ outage: reason });
        log?.(
          "warn",
          reason === undefined ? "the thread of the memory index answers again" : `the memory index does not answer: ${reason}`,
        );
      },
      died: (reason) => {
        this.#update({ state: { ...this.#state, dirty: true, syncing: false, watching: false, lastError: reason }, outage: reason });
        log?.("error", `the thread of the memory index ended: ${reason}`);
      },
      canRestart: () => {
        this.#restarts.emit("restart");
        const works = () => this.#update({ outage: undefined });
        // Without a watch the next request starts the thread.
        if (this.#wantsWatch)
          this.#watch().then(works, () => undefined); // its death was reported; the next one waits longer
        else works();
      },
    };
  }

  #onNews(news: WorkerNews): void {
    const { onProgress, onSynced, onEmbeddingFailed, log } = this.#options;
    if (news.news === "state") this.#update({ state: news.state, outage: undefined });
    else if (news.news === "progress") onProgress?.(news.progress);
    else if (news.news === "synced") onSynced?.({ files: news.files, chunks: news.chunks, ms: news.ms });
    else if (news.news === "embedding-failed") onEmbeddingFailed?.(news);
    else log?.(news.level, news.message);
  }
}
