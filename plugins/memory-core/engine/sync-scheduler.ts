import type { IndexSettings, ProviderFacts } from "../index-settings.ts";
import type { IndexMethods, IndexState, SyncReply, SyncRequest, WorkerNews } from "../worker-protocol.ts";
import type { DocumentGuard } from "./document-guard.ts";
import type { SyncOutcome, SyncScope } from "./document-sync.ts";
import type { DocumentSource } from "./documents.ts";
import { BatchRunner } from "./embedding/batch.ts";
import { Embedder } from "./embedding/embedder.ts";
import type { Wait } from "./embedding/retry.ts";
import { codeOf, IndexFault, reasonOf } from "./fault.ts";
import { createFileSource, type FileSource } from "./file-documents.ts";
import { createChangedFiles } from "./file-news.ts";
import type { Host } from "./host.ts";
import type { ProviderChoice } from "./identity.ts";
import { type ActiveProvider, IndexUpdate } from "./index-update.ts";
import type { LiveIndex, LiveIndexOptions } from "./live-index.ts";
import { isMedia } from "./media.ts";
import { createPacer } from "./pacer.ts";
import { createProgressReport } from "./progress-report.ts";
import type { RebuildJob } from "./rebuild.ts";
import { createSessions, type Sessions } from "./sessions/session-source.ts";
import { explainSkip } from "./skip-reasons.ts";
import type { Listing } from "./walk.ts";
import { createDirectoryWatcher, type DirectoryWatcher } from "./watcher.ts";

/** Keeps an index up to date: one sync at a time, by request, by watcher, by search. */
export interface SyncScheduler {
  /**
   * Joins a running sync. One of certain transcripts never joins and is never joined by others; a forced one joins whatever makes the whole index anew and
   * waits for anything less; one of everything waits for one that looks at known changes only.
   */
  sync(request: SyncRequest): Promise<SyncReply>;
  /** Starts a sync in the background unless one runs or the last ones failed just now. */
  kick(reason: string): void;
  watch(): void;
  /** Sets the embedding provider; a running sync starts again when that makes a difference. */
  setProvider(told: IndexMethods["provider"]["params"]): void;
  sessionsGrown(grown: IndexMethods["sessionsGrown"]["params"]["grown"]): void;
  /** The provider of the moment: undefined when there is none. */
  provider(): ActiveProvider | undefined;
  choice(): ProviderChoice;
  markDirty(): void;
  /** Puts the damaged index aside and starts a new one. */
  abandonDamaged(): void;
  /** Ends a running sync. */
  interrupt(): Promise<void>;
  close(): Promise<void>;
  state(): Omit<IndexState, "files" | "chunks" | "vectors">;
  /** False after a known change, and where changes are not seen once the last sync is older than `unwatchedMs`. */
  isFresh(unwatchedMs: number): boolean;
}

export interface SyncSchedulerParts {
  settings: IndexSettings;
  live: LiveIndex;
  host: Host;
  guard: DocumentGuard;
  openVectors: LiveIndexOptions["openVectors"];
  tell(news: WorkerNews): void;
  /** The state is another one than before. */
  changed(): void;
  /** See `PacerOptions`. */
  isHeld?: (() => boolean) | undefined;
  /** Step hook for tests. */
  step?: RebuildJob["step"];
  wait?: Wait | undefined;
}

interface Run {
  /** The whole index was asked for. */
  force: boolean;
  /** True when it rebuilds the whole index, asked for or not. */
  isRebuild: boolean;
  /** True when it reads certain transcripts only. */
  isTargeted: boolean;
  reason: string;
  stop: AbortController;
  /** Reason why it was stopped: to begin anew, or for good. */
  end: "restart" | "stop" | undefined;
  done: Promise<void>;
}

interface PassOptions {
  request: SyncRequest;
  progress: SyncScope["progress"];
  /** Changes that the pass takes in. */
  seen: { changes: number };
}

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 300_000;
const MAX_REPORTED = 1_000;
/** Syncs for these reasons look at the files that are known to have changed, as long as every folder is watched. */
const newsReasons = new Set(["watch", "session-delta"]);
/** Work without anything to count is told this often, so that nobody takes it for dead. */
const HEARTBEAT_MS = 30_000;

export function createSyncScheduler(parts: SyncSchedulerParts): SyncScheduler {
  return new FileSyncer(parts);
}

class FileSyncer implements SyncScheduler {
  readonly #parts: SyncSchedulerParts;
  readonly #reported = new Set<string>();
  #run: Run | undefined;
  /** Reason for a sync of everything that was requested while one of certain transcripts ran. */
  #kickedMeanwhile: string | undefined;
  #watcher: DirectoryWatcher | undefined;
  #isClosed = false;
  /** Counts known changes; a sync is good for those it started after. */
  #changes = 1;
  #syncedChanges = 0;
  #failures = 0;
  #retryAtMs = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #lastSyncAt: number | undefined;
  #lastSyncMs: number | undefined;
  /** The same by the monotonic clock. */
  #syncedAtMs = Number.NEGATIVE_INFINITY;
  #lastError: string | undefined;
  readonly #files: FileSource;
  readonly #changedFiles = createChangedFiles();
  readonly #sessions: Sessions;
  #choice: ProviderChoice = "absent";
  #provider: ActiveProvider | undefined;
  #embedTimer: NodeJS.Timeout | undefined;

  constructor(parts: SyncSchedulerParts) {
    this.#parts = parts;
    this.#files = createFileSource(parts.settings, (listing) => this.#follow(listing));
    this.#sessions = createSessions(parts.settings, parts.host, parts.guard);
  }

  async sync(request: SyncRequest): Promise<SyncReply> {
    if (this.#isClosed) throw new IndexFault("memory-sync-aborted", {});
    if (request.retryLeftOut) this.#parts.guard.release();
    const running = this.#run;
    if (running && this.#joins(running, request)) {
      await running.done;
      return { started: false, joined: true };
    }
    if (running) {
      await running.done.catch(() => undefined);
      return this.sync(request);
    }
    await this.#start(request);
    return { started: true, joined: false };
  }

  #joins(running: Run, { force, reason, sessionIds }: SyncRequest): boolean {
    if (running.isTargeted || sessionIds) return false;
    if (newsReasons.has(running.reason) && !running.isRebuild && !newsReasons.has(reason)) return false;
    if (force && !running.force && !running.isRebuild) return false;
    running.force ||= force;
    return true;
  }

  setProvider({ provider, keepVectors }: IndexMethods["provider"]["params"]): void {
    const choice = provider ?? (keepVectors ? "absent" : "none");
    if (JSON.stringify(choice) === JSON.stringify(this.#choice)) return void this.#provider?.embedder.resume();
    this.#choice = choice;
    this.#provider = provider ? this.#activate(provider) : undefined;
    this.markDirty();
    // It embeds with the one before, or leaves vectors out: what it has done is kept or thrown away, and it begins anew.
    const running = this.#run;
    if (running) this.#restart(running);
    if (running?.isTargeted || (!running && this.#isInUse())) this.kick("provider");
  }

  sessionsGrown(grown: IndexMethods["sessionsGrown"]["params"]["grown"]): void {
    if (!this.#sessions.grown(grown)) return;
    this.#noteChange();
    this.#kickAgain("session-delta");
  }

  provider(): ActiveProvider | undefined {
    return this.#provider;
  }

  choice(): ProviderChoice {
    return this.#choice;
  }

  kick(reason: string): void {
    if (this.#isClosed || performance.now() < this.#retryAtMs) return;
    if (this.#run?.isTargeted) this.#kickedMeanwhile ??= reason;
    if (this.#run) return;
    this.sync({ force: false, reason }).catch((error) => {
      if (codeOf(error) === "memory-sync-aborted") return;
      this.#log("warn", `memory sync (${reason}) failed: ${reasonOf(error)}; the old index answers, the next attempt is later`);
    });
  }

  watch(): void {
    if (this.#isClosed) return;
    this.#watcher ??= createDirectoryWatcher({
      debounceMs: this.#parts.settings.watchDebounceMs,
      isNote: (name) => isMedia(name, this.#parts.settings.multimodal.modalities),
      onQuiet: (changed) => {
        this.#changedFiles.add(changed);
        this.#noteChange();
        this.#kickAgain("watch");
      },
      onFailure: (path, code) =>
        this.#log("warn", `memory files cannot be watched (${code} at ${path}); changes are found by the next search`),
    });
    this.#kickAgain("watch-start");
  }

  markDirty(): void {
    this.#changedFiles.add(undefined);
    this.#noteChange();
  }

  abandonDamaged(): void {
    this.#parts.live.giveUp();
    this.#log("warn", "the memory index is damaged and is being rebuilt from the files");
    this.markDirty();
    this.#kickAgain("damaged");
  }

  async interrupt(): Promise<void> {
    const run = this.#run;
    if (run) run.end = "stop";
    run?.stop.abort(aborted());
    await run?.done.catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#embedTimer);
    this.#watcher?.close();
    await this.interrupt();
  }

  state(): Omit<IndexState, "files" | "chunks" | "vectors"> {
    const leftOut = this.#parts.guard.leftOut();
    return {
      dirty: this.#isDirty(),
      syncing: this.#run !== undefined,
      watching: this.#watcher?.isComplete ?? false,
      ...(this.#lastSyncAt === undefined ? {} : { lastSyncAt: this.#lastSyncAt }),
      ...(this.#lastSyncMs === undefined ? {} : { lastSyncMs: this.#lastSyncMs }),
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
      ...(leftOut.total === 0 ? {} : { leftOut }),
    };
  }

  isFresh(unwatchedMs: number): boolean {
    return !this.#isDirty() && (this.#watcher?.isComplete || performance.now() - this.#syncedAtMs <= unwatchedMs);
  }

  #isDirty(): boolean {
    return this.#changes !== this.#syncedChanges || this.#sessions.isDirty();
  }

  #noteChange(): void {
    this.#changes++;
    this.#parts.changed();
  }

  /** One that was opened to be looked at, or searched, is not changed just because there is somebody who could embed. */
  #isInUse(): boolean {
    return this.#watcher !== undefined || this.#lastSyncAt !== undefined;
  }

  /** After the running sync, if there is one: it may have read the file before the change. */
  #kickAgain(reason: string): void {
    const running = this.#run;
    if (!running) return this.kick(reason);
    running.done.catch(() => undefined).then(() => this.kick(reason));
  }

  #start(request: SyncRequest): Promise<void> {
    if (request.force || request.reason === "request") this.#provider?.embedder.resume();
    const run: Run = {
      force: request.force,
      isRebuild: false,
      isTargeted: request.sessionIds !== undefined,
      reason: request.reason,
      stop: new AbortController(),
      end: undefined,
      done: Promise.resolve(),
    };
    this.#run = run;
    run.done = this.#syncAll(run, request).finally(() => {
      this.#run = undefined;
      this.#parts.changed();
      const reason = this.#kickedMeanwhile;
      this.#kickedMeanwhile = undefined;
      if (reason !== undefined && run.end !== "stop") this.kick(reason);
    });
    this.#parts.changed();
    return run.done;
  }

  #restart(run: Run): void {
    run.end ??= "restart";
    run.stop.abort(aborted());
  }

  async #syncAll(run: Run, request: SyncRequest): Promise<void> {
    await Promise.resolve(); // `#run` is set before anything can fail
    const startedAt = performance.now();
    const report = createProgressReport((progress) => this.#parts.tell({ news: "progress", progress }));
    const beating = setInterval(report.again, HEARTBEAT_MS);
    try {
      await this.#passes(run, request, report.tell);
      const counts = this.#parts.live.recount();
      report.tell("done", counts.files, counts.files);
      const ms = Math.round(performance.now() - startedAt);
      if (!run.isTargeted) this.#lastSyncMs = ms;
      this.#parts.tell({ news: "synced", ...counts, ms });
    } catch (error) {
      this.#failed(error);
      throw error;
    } finally {
      clearInterval(beating);
    }
  }

  /** Again from the start when the provider changes meanwhile. */
  async #passes(run: Run, request: SyncRequest, progress: SyncScope["progress"]): Promise<void> {
    for (;;) {
      const seen = { changes: this.#changes };
      try {
        const outcome = await this.#pass(run, { request, progress, seen });
        return this.#succeeded(run, seen.changes, outcome);
      } catch (error) {
        this.#changedFiles.failed();
        if (run.end !== "restart" || codeOf(error) !== "memory-sync-aborted") throw error;
        run.end = undefined;
        run.isRebuild = false;
        run.stop = new AbortController();
      }
    }
  }

  #pass(current: Run, { request, progress, seen }: PassOptions): Promise<SyncOutcome> {
    const { settings, live, guard, openVectors, step, isHeld } = this.#parts;
    const { signal } = current.stop;
    const rebuilds = () => {
      current.isRebuild = true;
    };
    const sources = (isFull: boolean) => this.#sources(request, isFull);
    const takeNews = () => {
      const isNew = this.#changes !== seen.changes;
      seen.changes = this.#changes;
      return isNew;
    };
    const run = { settings, live, guard, openVectors, choice: this.#choice, provider: this.#provider, sources, takeNews, rebuilds };
    return new IndexUpdate({ ...run, signal, pacer: createPacer(signal, isHeld ? { isHeld } : {}), progress, step }).run(current.force);
  }

  /** Every kind of memory has its source here; a sync of certain transcripts leaves the files alone. */
  #sources({ reason, force, sessionIds }: SyncRequest, isFull: boolean): DocumentSource[] {
    const sessions = this.#sessions.sourceFor({ reason, isFull: isFull || force, sessionIds });
    const hasFiles = this.#parts.settings.sources.includes("memory") && (isFull || sessionIds === undefined);
    const files = hasFiles ? this.#filesFor(reason, isFull) : undefined;
    return [...(files ? [files] : []), ...(sessions ? [sessions] : [])];
  }

  /** All files, or those that have changed since all of them were looked at for this index. */
  #filesFor(reason: string, isFull: boolean): DocumentSource | undefined {
    const changed = this.#changedFiles.take(isFull ? undefined : this.#parts.live.opened()?.db);
    if (!changed || !newsReasons.has(reason) || !this.#watcher?.isComplete) return this.#files;
    return changed.length === 0 ? undefined : (this.#files.among(changed) ?? this.#files);
  }

  #succeeded({ isTargeted, isRebuild }: Run, changes: number, outcome: SyncOutcome): void {
    for (const { path, code } of outcome.skipped) this.#reportOnce(path, code);
    const trouble = this.#embeddingError() ?? this.#sessions.problem();
    if (!isTargeted || isRebuild) this.#changedFiles.settled(this.#parts.live.opened()?.db);
    if (isTargeted) {
      this.#lastError ??= trouble; // of everything else it knows nothing
      return;
    }
    this.#syncedChanges = changes;
    this.#lastSyncAt = Date.now();
    this.#syncedAtMs = performance.now();
    this.#lastError = trouble;
    this.#failures = 0;
    this.#retryAtMs = 0;
  }

  /** A file may have been put into a new directory between the listing and the watch. */
  #follow({ directories }: Listing): void {
    if (!this.#watcher?.follow(directories)) return;
    this.markDirty();
    this.#kickAgain("watch-added");
  }

  /** Vectors that could not be had are tried again once the provider's pause is over. */
  #embeddingError(): string | undefined {
    clearTimeout(this.#embedTimer);
    const embedder = this.#provider?.embedder;
    if (embedder?.pausedBy === undefined) return undefined;
    if (this.#watcher && !this.#isClosed) this.#embedTimer = setTimeout(() => this.kick("embed-retry"), embedder.pauseMs + 1);
    return `some passages have no vector yet: ${embedder.pausedBy}`;
  }

  #activate(facts: ProviderFacts): ActiveProvider {
    const { host, tell, wait, settings } = this.#parts;
    return {
      facts,
      embedder: new Embedder({ provider: facts, host, tell, wait }),
      batches: new BatchRunner({ settings: settings.batch, provider: facts, host, wait }),
    };
  }

  #failed(error: unknown): void {
    if (codeOf(error) === "memory-sync-aborted") return;
    this.#failures++;
    const waitMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.#failures - 1, 20));
    this.#retryAtMs = performance.now() + waitMs;
    clearTimeout(this.#retryTimer);
    // Without a timer, notes of somebody who never searches would wait for ever.
    if (this.#watcher && !this.#isClosed) this.#retryTimer = setTimeout(() => this.kick("retry"), waitMs + 1);
    this.#lastError = reasonOf(error);
    this.#changes++;
    this.#parts.tell({ news: "progress", progress: { phase: "error", done: 0, total: 0, error: reasonOf(error) } });
  }

  #reportOnce(path: string, code: string): void {
    const key = `${code} ${path}`;
    if (this.#reported.has(key) || this.#reported.size >= MAX_REPORTED) return;
    this.#reported.add(key);
    this.#log("warn", `memory file ${path} was skipped: ${explainSkip(code)}`);
  }

  #log(level: "info" | "warn", message: string): void {
    this.#parts.tell({ news: "log", level, message });
  }
}

function aborted(): IndexFault {
  return new IndexFault("memory-sync-aborted", {});
}
