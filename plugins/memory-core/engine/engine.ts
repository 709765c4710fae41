import type { IndexSettings } from "../index-settings.ts";
import type { IndexState, SearchReply, SearchRequest, StatusReply, SyncReply, SyncRequest, WorkerNews } from "../worker-protocol.ts";
import { isCorrupt } from "./database.ts";
import { reasonOf } from "./fault.ts";
import { type GetOutcome, getMemoryFile, type LineRange } from "./get-file.ts";
import { createLiveIndex, type LiveIndex } from "./live-index.ts";
import { searchIndex } from "./search.ts";
import { describeIndex } from "./status.ts";
import { createSyncer, type Syncer } from "./syncer.ts";

/** Without a watcher an index counts as out of date this soon after a sync. */
const UNWATCHED_FRESH_MS = 1_000;

/** Everything that one agent's index does, on the thread that owns its database. */
export class IndexEngine {
  readonly #settings: IndexSettings;
  readonly #tell: (news: WorkerNews) => void;
  readonly #live: LiveIndex;
  readonly #syncer: Syncer;

  constructor(settings: IndexSettings, tell: (news: WorkerNews) => void) {
    this.#settings = settings;
    this.#tell = tell;
    this.#live = createLiveIndex(settings.dbPath, (message) => tell({ news: "log", level: "warn", message }));
    this.#syncer = createSyncer({ settings, live: this.#live, tell, changed: () => this.#tellState() });
  }

  /** Answers from the index as it is; only an empty one is filled first. */
  async search(request: SearchRequest, interim: (reply: SearchReply) => void): Promise<SearchReply> {
    const deadline = performance.now() + request.timeoutMs;
    this.#live.use();
    if (this.#live.counts().chunks === 0) await this.#fill();
    const open = this.#live.use();
    this.#syncAfter(request.syncAfter);
    if (!open) return { hits: [], partial: false };
    try {
      return searchIndex(
        {
          ...open,
          chunks: this.#live.counts().chunks,
          interim: (hits) => interim({ hits, partial: true }),
          isLate: () => performance.now() > deadline,
        },
        request,
      );
    } catch (error) {
      if (isCorrupt(error)) this.#syncer.abandonDamaged();
      throw error;
    }
  }

  get(path: string, range: LineRange): GetOutcome {
    return getMemoryFile(this.#settings, path, range);
  }

  sync(request: SyncRequest): Promise<SyncReply> {
    return this.#syncer.sync(request);
  }

  status(files: boolean): StatusReply {
    const open = this.#live.use();
    return { ...this.#state(), ...describeIndex(open?.db, files) };
  }

  async reset(): Promise<{ removed: boolean }> {
    await this.#syncer.interrupt();
    this.#live.use(); // refuses a database that is something else
    const removed = this.#live.remove();
    this.#syncer.markDirty();
    return { removed };
  }

  /** Follows the files from now on, and catches up with what changed before. */
  watch(): { watching: boolean } {
    this.#syncer.watch();
    return { watching: this.#syncer.state().watching };
  }

  async close(): Promise<{ closed: true }> {
    await this.#syncer.close();
    this.#live.close();
    return { closed: true };
  }

  async #fill(): Promise<void> {
    try {
      await this.#syncer.sync({ force: false, reason: "search-empty" });
    } catch (error) {
      this.#tell({ news: "log", level: "warn", message: `the memory index is empty and could not be filled: ${reasonOf(error)}` });
    }
  }

  /** The answer goes out first. */
  #syncAfter(when: SearchRequest["syncAfter"]): void {
    if (when === "never") return;
    setImmediate(() => {
      if (when === "always" || !this.#syncer.isFresh(UNWATCHED_FRESH_MS)) this.#syncer.kick("search");
    });
  }

  #state(): IndexState {
    return { ...this.#live.counts(), ...this.#syncer.state() };
  }

  #tellState(): void {
    this.#tell({ news: "state", state: this.#state() });
  }
}
