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
  const { onProgress, onSynced, onState, onEmbeddingFailed, handlers, log, startAfter, threads: threadOptions, ...rest } = options;
  const { quarantine = createQuarantine(rest.agentId, { warn: (message) => log?.("warn", message) }), ...settings } = rest;
  const ready = () => Promise.all([startAfter, quarantine.ready()]);
  let state: IndexState = { files: 0, chunks: 0, dirty: true, syncing: false, watching: false };
  /** Why nothing can be searched at present. */
  let outage: string | undefined;
  let wantsWatch = false;
  let assignment: ProviderAssignment | undefined;
  const stateNow = (): IndexState => (outage === undefined ? state : { ...state, isDown: true, lastError: outage });
  const update = (change: { state?: IndexState; outage: string | undefined }) => {
    ({ state = state, outage } = change);
    onState?.(stateNow());
  };
  const watch = () => ask("watch", {}, { timeoutMs: REQUEST_MS });

  /** A thread that dies meanwhile is told again when the next one starts. */
  const tellProvider = (told: ProviderAssignment) =>
    void threads.request("provider", told, { timeoutMs: REQUEST_MS }).catch(() => undefined);

  const restarts = new EventEmitter().setMaxListeners(0);
  const restarted = async (signal: AbortSignal | undefined) => {
    await settledWithin(once(restarts, "restart", { signal }), RESTART_MS);
    signal?.throwIfAborted();
  };

  const events: IndexWorkerEvents = {
    handlers: handlers ?? noHostHandlers,
    started: () => void (assignment && tellProvider(assignment)),
    news(news) {
      if (news.news === "state") update({ state: news.state, outage: undefined });
      else if (news.news === "progress") onProgress?.(news.progress);
      else if (news.news === "synced") onSynced?.({ files: news.files, chunks: news.chunks, ms: news.ms });
      else if (news.news === "embedding-failed") onEmbeddingFailed?.(news);
      else log?.(news.level, news.message);
    },
    silent(reason) {
      update({ outage: reason });
      log?.("warn", reason === undefined ? "the thread of the memory index answers again" : `the memory index does not answer: ${reason}`);
    },
    died(reason) {
      update({ state: { ...state, dirty: true, syncing: false, watching: false, lastError: reason }, outage: reason });
      log?.("error", `the thread of the memory index ended: ${reason}`);
    },
    canRestart() {
      restarts.emit("restart");
      const works = () => update({ outage: undefined });
      // Without a watch the next request starts the thread.
      if (wantsWatch)
        watch().then(works, () => undefined); // its death was reported; the next one waits longer
      else works();
    },
  };
  const threads = createIndexWorkerHost(settings, events, { ...threadOptions, quarantine });
  const ask: typeof threads.request = async (...args) => {
    await ready();
    return threads.request(...args);
  };

  return {
    async search(request, { signal } = {}) {
      let found: SearchReply = { hits: [], partial: true, mode: "fts-only" };
      const interim = (value: unknown) => {
        found = value as SearchReply;
      };
      const until = performance.now() + request.timeoutMs;
      await settledWithin(ready(), request.timeoutMs);
      signal?.throwIfAborted();
      const timeoutMs = Math.ceil(until - performance.now());
      if (timeoutMs <= 0) return found;
      try {
        return await threads.request("search", { ...request, timeoutMs }, { timeoutMs, signal, interim });
      } catch (error) {
        if (!isSvcError(error, "memory-timed-out")) throw error;
        return outage === undefined ? found : { ...found, degraded: outage, outage };
      }
    },
    get: (path, range = {}) => ask("get", { path, range }, { timeoutMs: REQUEST_MS }),
    async sync({ force = false, reason = "request", sessionIds } = {}, { signal } = {}) {
      await ready();
      if (force) quarantine.clear();
      const params = { force, reason, ...(sessionIds ? { sessionIds } : {}) };
      for (let retryLeftOut = force; ; retryLeftOut = false) {
        const before = quarantine.entries();
        try {
          return await threads.request("sync", { ...params, retryLeftOut }, { timeoutMs: SILENT_SYNC_MS, signal });
        } catch (error) {
          // The document that ended the thread is left out by the next one.
          if (!isSvcError(error, "memory-worker-down") || quarantine.entries() === before) throw error;
          await restarted(signal);
        }
      }
    },
    status: ({ files = false } = {}) => ask("status", { files }, { timeoutMs: REQUEST_MS }),
    reset: () => ask("reset", {}, { timeoutMs: REQUEST_MS }),
    async watch() {
      wantsWatch = true;
      await watch();
    },
    assign(next) {
      assignment = next;
      if (threads.isRunning) tellProvider(next);
    },
    async sessionsGrown(grown) {
      await ask("sessionsGrown", { grown }, { timeoutMs: REQUEST_MS });
    },
    state: stateNow,
    async close(graceMs) {
      await threads.close(graceMs);
      restarts.emit("restart");
    },
  };
}
