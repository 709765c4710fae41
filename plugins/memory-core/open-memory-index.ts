import type { Worker } from "node:worker_threads";
import { isSvcError } from "svc/sdk";
import type { GetOutcome, LineRange } from "./engine/get-file.ts";
import type { HostHandlers } from "./host-calls.ts";
import type { IndexSettings } from "./index-settings.ts";
import { createIndexWorkerHost, type IndexWorkerEvents } from "./index-worker-host.ts";
import { noHostHandlers } from "./no-host-handlers.ts";
import { within } from "./within.ts";
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

/** Who embeds for an index from now on. */
export type ProviderAssignment = IndexMethods["provider"]["params"];
export type EmbeddingFailed = Extract<WorkerNews, { news: "embedding-failed" }>;
export type SessionGrowth = IndexMethods["sessionsGrown"]["params"]["grown"][number];

/** The index of one agent, on its own thread. Usable without a gateway. */
export interface MemoryIndex {
  /** What was found within `timeoutMs`; `partial` when that is not all. */
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
  /** What the thread may ask for; absent: nobody embeds and there are no sessions. */
  handlers?: HostHandlers;
  log?(level: "info" | "warn" | "error", message: string): void;
  /** The thread starts no sooner: another one may still hold the same database. */
  startAfter?: Promise<void> | undefined;
  /** Replaces how the thread is made; for tests. */
  startThread?(settings: IndexSettings): Worker;
}

const REQUEST_MS = 10_000;
/** A sync may take as long as it needs, but not be silent this long. */
const SILENT_SYNC_MS = 300_000;

export function openMemoryIndex(options: MemoryIndexOptions): MemoryIndex {
  const { onProgress, onSynced, onState, onEmbeddingFailed, handlers, log, startAfter, startThread, ...settings } = options;
  let state: IndexState = { files: 0, chunks: 0, dirty: true, syncing: false, watching: false };
  let wantsWatch = false;
  let assignment: ProviderAssignment | undefined;
  const setState = (next: IndexState) => {
    state = next;
    onState?.(state);
  };
  const watch = () => ask("watch", {}, { timeoutMs: REQUEST_MS });

  /** A thread that dies meanwhile is told again when the next one starts. */
  const tellProvider = (told: ProviderAssignment) =>
    void threads.request("provider", told, { timeoutMs: REQUEST_MS }).catch(() => undefined);

  const events: IndexWorkerEvents = {
    handlers: handlers ?? noHostHandlers,
    started: () => void (assignment && tellProvider(assignment)),
    news(news) {
      if (news.news === "state") setState(news.state);
      else if (news.news === "progress") onProgress?.(news.progress);
      else if (news.news === "synced") onSynced?.({ files: news.files, chunks: news.chunks, ms: news.ms });
      else if (news.news === "embedding-failed") onEmbeddingFailed?.(news);
      else log?.(news.level, news.message);
    },
    died(reason) {
      setState({ ...state, dirty: true, syncing: false, watching: false, lastError: reason });
      log?.("error", `the thread of the memory index ended: ${reason}`);
    },
    canRestart() {
      if (wantsWatch) watch().catch(() => undefined); // its death was reported; the next one waits longer
    },
  };
  const threads = createIndexWorkerHost(settings, events, startThread);
  const ask: typeof threads.request = async (...args) => {
    await startAfter;
    return threads.request(...args);
  };

  return {
    async search(request, { signal } = {}) {
      let found: SearchReply = { hits: [], partial: true, mode: "fts-only" };
      const interim = (value: unknown) => {
        found = value as SearchReply;
      };
      const until = performance.now() + request.timeoutMs;
      if (startAfter) await within(startAfter, request.timeoutMs);
      signal?.throwIfAborted();
      const timeoutMs = Math.ceil(until - performance.now());
      if (timeoutMs <= 0) return found;
      try {
        return await threads.request("search", { ...request, timeoutMs }, { timeoutMs, signal, interim });
      } catch (error) {
        if (isSvcError(error, "memory-timed-out")) return found;
        throw error;
      }
    },
    get: (path, range = {}) => ask("get", { path, range }, { timeoutMs: REQUEST_MS }),
    sync: ({ force = false, reason = "request", sessionIds } = {}, { signal } = {}) =>
      ask("sync", { force, reason, ...(sessionIds ? { sessionIds } : {}) }, { timeoutMs: SILENT_SYNC_MS, signal }),
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
    state: () => state,
    close: (graceMs) => threads.close(graceMs),
  };
}
