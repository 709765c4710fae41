import type { IndexSettings } from "../index-settings.ts";
import type { IndexState, SyncReply, SyncRequest, WorkerNews } from "../worker-protocol.ts";
import { isCorrupt, isReadonly } from "./database.ts";
import { codeOf, IndexFault, reasonOf } from "./fault.ts";
import { identityOf, isSameIdentity } from "./identity.ts";
import type { LiveIndex } from "./live-index.ts";
import { createPacer } from "./pacer.ts";
import { optimizeText, rebuildIndex } from "./rebuild.ts";
import { type SyncOutcome, type SyncScope, syncFiles } from "./sync.ts";
import { createDirectoryWatcher, type DirectoryWatcher } from "./watcher.ts";

/** Keeps an index up to date: one sync at a time, by request, by watcher, by search. */
export interface Syncer {
  /** Joins a running sync; a forced one waits for an ordinary one and then starts. */
  sync(request: SyncRequest): Promise<SyncReply>;
  /** Starts a sync in the background unless one runs or the last ones failed just now. */
  kick(reason: string): void;
  watch(): void;
  markDirty(): void;
  /** Puts the damaged index aside and starts a new one. */
  abandonDamaged(): void;
  /** Ends a running sync. */
  interrupt(): Promise<void>;
  close(): Promise<void>;
  state(): Omit<IndexState, "files" | "chunks">;
  /** False after a known change, and where changes are not seen once the last sync is older than `unwatchedMs`. */
  isFresh(unwatchedMs: number): boolean;
}

export interface SyncerParts {
  settings: IndexSettings;
  live: LiveIndex;
  tell(news: WorkerNews): void;
  /** The state is another one than before. */
  changed(): void;
}

interface Run {
  force: boolean;
  stop: AbortController;
  done: Promise<void>;
}

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 300_000;
const BULK_FILES = 500;
const MAX_REPORTED = 1_000;
const PROGRESS_EVERY_MS = 50;

export function createSyncer(parts: SyncerParts): Syncer {
  return new FileSyncer(parts);
}

class FileSyncer implements Syncer {
  readonly #parts: SyncerParts;
  readonly #reported = new Set<string>();
  #run: Run | undefined;
  #watcher: DirectoryWatcher | undefined;
  #isClosed = false;
  /** Counts known changes; a sync is good for those it started after. */
  #changes = 1;
  #syncedChanges = 0;
  #failures = 0;
  #retryAtMs = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #lastSyncAt: number | undefined;
  /** The same by the monotonic clock. */
  #syncedAtMs = Number.NEGATIVE_INFINITY;
  #lastError: string | undefined;

  constructor(parts: SyncerParts) {
    this.#parts = parts;
  }

  async sync(request: SyncRequest): Promise<SyncReply> {
    if (this.#isClosed) throw new IndexFault("memory-sync-aborted", {});
    const running = this.#run;
    if (running && (running.force || !request.force)) {
      await running.done;
      return { started: false, joined: true };
    }
    if (running) {
      await running.done.catch(() => undefined);
      return this.sync(request);
    }
    await this.#start(request.force);
    return { started: true, joined: false };
  }

  kick(reason: string): void {
    if (this.#run || this.#isClosed || performance.now() < this.#retryAtMs) return;
    this.sync({ force: false, reason }).catch((error) => {
      if (codeOf(error) === "memory-sync-aborted") return;
      this.#log("warn", `memory sync (${reason}) failed: ${reasonOf(error)}; the old index answers, the next attempt is later`);
    });
  }

  watch(): void {
    if (this.#isClosed) return;
    this.#watcher ??= createDirectoryWatcher({
      debounceMs: this.#parts.settings.watchDebounceMs,
      onQuiet: () => {
        this.markDirty();
        this.#kickAgain("watch");
      },
      onFailure: (path, code) =>
        this.#log("warn", `memory files cannot be watched (${code} at ${path}); changes are found by the next search`),
    });
    this.kick("watch-start");
  }

  markDirty(): void {
    this.#changes++;
    this.#parts.changed();
  }

  abandonDamaged(): void {
    this.#parts.live.giveUp();
    this.#log("warn", "the memory index is damaged and is made anew from the files");
    this.markDirty();
    this.#kickAgain("damaged");
  }

  async interrupt(): Promise<void> {
    const run = this.#run;
    run?.stop.abort();
    await run?.done.catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    this.#watcher?.close();
    await this.interrupt();
  }

  state(): Omit<IndexState, "files" | "chunks"> {
    return {
      dirty: this.#changes !== this.#syncedChanges,
      syncing: this.#run !== undefined,
      watching: this.#watcher?.isComplete ?? false,
      ...(this.#lastSyncAt === undefined ? {} : { lastSyncAt: this.#lastSyncAt }),
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
    };
  }

  isFresh(unwatchedMs: number): boolean {
    const { dirty, watching } = this.state();
    return !dirty && (watching || performance.now() - this.#syncedAtMs <= unwatchedMs);
  }

  /** After the running sync, if there is one: it may have read the file before the change. */
  #kickAgain(reason: string): void {
    const running = this.#run;
    if (!running) return this.kick(reason);
    running.done.catch(() => undefined).then(() => this.kick(reason));
  }

  #start(force: boolean): Promise<void> {
    const stop = new AbortController();
    const done = this.#syncOnce(force, stop.signal).finally(() => {
      this.#run = undefined;
      this.#parts.changed();
    });
    this.#run = { force, stop, done };
    this.#parts.changed();
    return done;
  }

  async #syncOnce(force: boolean, signal: AbortSignal): Promise<void> {
    await Promise.resolve(); // `#run` is set before anything can fail
    const startedAt = performance.now();
    const changes = this.#changes;
    const report = this.#progressReporter();
    try {
      const outcome = await this.#attempt(force, this.#scope(signal, report));
      const counts = this.#parts.live.recount();
      this.#succeeded(changes, outcome);
      report("done", counts.files, counts.files);
      this.#parts.tell({ news: "synced", ...counts, ms: Math.round(performance.now() - startedAt) });
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  /** Once more with a fresh handle after "read-only database", and with a fresh index after damage. */
  async #attempt(force: boolean, scope: SyncScope): Promise<SyncOutcome> {
    try {
      return await this.#update(force, scope);
    } catch (error) {
      if (isReadonly(error)) this.#parts.live.close();
      else if (isCorrupt(error)) this.#parts.live.giveUp();
      else throw error;
      return this.#update(force, scope);
    }
  }

  async #update(force: boolean, scope: SyncScope): Promise<SyncOutcome> {
    const { live, settings } = this.#parts;
    const identity = identityOf(settings);
    const open = live.use();
    if (open && !force && isSameIdentity(open.identity, identity)) {
      const outcome = await syncFiles(open.db, scope);
      if (outcome.changed >= BULK_FILES) await optimizeText(open.db, scope);
      if (outcome.changed > 0) open.db.pragma("shrink_memory");
      return outcome;
    }
    const { dbPath, tokenizer } = settings;
    const outcome = await rebuildIndex({ dbPath, tokenizer, identity, scope, closeLive: () => live.close() });
    live.use();
    return outcome;
  }

  #scope(signal: AbortSignal, progress: SyncScope["progress"]): SyncScope {
    const { workspace, extraPaths, chunking } = this.#parts.settings;
    return { workspace, extraPaths, chunking, pacer: createPacer(signal), now: Date.now, progress };
  }

  #succeeded(changes: number, outcome: SyncOutcome): void {
    this.#syncedChanges = changes;
    this.#lastSyncAt = Date.now();
    this.#syncedAtMs = performance.now();
    this.#lastError = undefined;
    this.#failures = 0;
    this.#retryAtMs = 0;
    for (const { path, code } of outcome.skipped) this.#reportOnce(path, code);
    if (this.#watcher?.follow(outcome.listing.directories)) {
      // A file may have been put into a new directory between the listing and the watch.
      this.markDirty();
      this.#kickAgain("watch-added");
    }
  }

  #failed(error: unknown): void {
    if (codeOf(error) === "memory-sync-aborted") return;
    this.#failures++;
    const waitMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.#failures - 1, 20));
    this.#retryAtMs = performance.now() + waitMs;
    clearTimeout(this.#retryTimer);
    // Whoever only writes notes and never searches would else wait for ever.
    if (this.#watcher && !this.#isClosed) this.#retryTimer = setTimeout(() => this.kick("retry"), waitMs + 1);
    this.#lastError = reasonOf(error);
    this.#changes++;
    this.#parts.tell({ news: "progress", progress: { phase: "error", done: 0, total: 0, error: reasonOf(error) } });
  }

  #progressReporter(): SyncScope["progress"] {
    let last = { phase: "", at: 0 };
    return (phase, done, total) => {
      const at = performance.now();
      if (phase === last.phase && at - last.at < PROGRESS_EVERY_MS) return;
      last = { phase, at };
      this.#parts.tell({ news: "progress", progress: { phase, done, total } });
    };
  }

  #reportOnce(path: string, code: string): void {
    const key = `${code} ${path}`;
    if (this.#reported.has(key) || this.#reported.size >= MAX_REPORTED) return;
    this.#reported.add(key);
    this.#log("warn", `memory file ${path} was skipped: ${explain(code)}`);
  }

  #log(level: "info" | "warn", message: string): void {
    this.#parts.tell({ news: "log", level, message });
  }
}

function explain(code: string): string {
  if (code === "EFBIG") return "it is larger than 16 MiB; split it to have it indexed";
  if (code === "TOO_MANY_FILES") return "the index already holds 200,000 files; narrow extraPaths";
  return code;
}
