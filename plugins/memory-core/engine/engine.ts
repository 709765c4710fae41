import type { IndexSettings } from "../index-settings.ts";
import type {
  IndexMethods,
  IndexState,
  SearchReply,
  SearchRequest,
  StatusReply,
  SyncReply,
  SyncRequest,
  WorkerNews,
} from "../worker-protocol.ts";
import type { Database } from "./database.ts";
import { createDocumentGuard, type DocumentGuardOptions } from "./document-guard.ts";
import type { Wait } from "./embedding/retry.ts";
import { type GetOutcome, getMemoryFile, type LineRange } from "./get-file.ts";
import { type Host, noHost } from "./host.ts";
import { isKeywordOnly } from "./identity.ts";
import { type IdleVectors, watchIdleVectors } from "./idle-vectors.ts";
import { createLiveIndex, type LiveIndex, type OpenLiveIndex } from "./live-index.ts";
import type { RebuildStep } from "./rebuild.ts";
import { createSearcher, type Searcher } from "./searcher.ts";
import { describeIndex } from "./status.ts";
import { createSyncScheduler, type SyncScheduler } from "./sync-scheduler.ts";
import { probeVectorExtension } from "./vectors/extension.ts";
import { createVectorStore } from "./vectors/store.ts";

export interface EngineOptions {
  /** Host that embeds and reads transcripts; without one only files and words are there. */
  host?: Host;
  guard?: DocumentGuardOptions;
  /** See `PacerOptions`. */
  isHeld?: () => boolean;
  /** Called when vectors have left memory. */
  released?: () => void;
  /** Called at each moment of a rebuild, for tests. */
  step?: (step: RebuildStep) => void;
  /** Replaces the waiting between attempts, for tests. */
  wait?: Wait;
}

/** Without a watcher an index counts as out of date this soon after a sync. */
const UNWATCHED_FRESH_MS = 1_000;

/** Everything that one agent's index does, on the thread that owns its database. */
export class IndexEngine {
  readonly #settings: IndexSettings;
  readonly #tell: (news: WorkerNews) => void;
  readonly #live: LiveIndex;
  readonly #scheduler: SyncScheduler;
  readonly #searcher: Searcher;
  readonly #idleVectors: IdleVectors;
  /** The library of vectors may lie on a disk that does not answer. */
  readonly #ready: Promise<void>;

  constructor(
    settings: IndexSettings,
    tell: (news: WorkerNews) => void,
    { host = noHost, guard: guardOptions, isHeld, released = () => undefined, step, wait }: EngineOptions = {},
  ) {
    this.#settings = settings;
    this.#tell = tell;
    const warn = (message: string) => tell({ news: "log", level: "warn", message });
    let isLackTold = !settings.vector.enabled;
    const openVectors = (db: Database) => {
      const vectors = createVectorStore(db, { vector: settings.vector, warn });
      if (vectors.loadError !== undefined && !isLackTold) warn(`${vectors.loadError}; vectors are compared in the process`);
      isLackTold ||= vectors.loadError !== undefined;
      return vectors;
    };
    const live = createLiveIndex(settings.dbPath, { warn, openVectors });
    this.#live = live;
    const guard = createDocumentGuard(guardOptions);
    const changed = () => this.#tellState();
    this.#scheduler = createSyncScheduler({ settings, live, host, guard, openVectors, tell, changed, isHeld, step, wait });
    this.#searcher = createSearcher({ settings, live, scheduler: this.#scheduler, host, guard, tell });
    this.#idleVectors = watchIdleVectors({ opened: () => live.opened(), isHeld: isHeld ?? (() => false), released });
    this.#ready = probeVectorExtension(settings.vector);
  }

  /** Answers from the index as it is; only an empty one is filled first. */
  async search(request: SearchRequest, interim: (reply: SearchReply) => void): Promise<SearchReply> {
    await this.#ready;
    try {
      return await this.#searcher.search(request, interim);
    } finally {
      this.#syncAfter(request.syncAfter);
    }
  }

  get(path: string, range: LineRange): GetOutcome {
    return getMemoryFile(this.#settings, path, range);
  }

  async sync(request: SyncRequest): Promise<SyncReply> {
    await this.#ready;
    return this.#scheduler.sync(request);
  }

  async status(files: boolean): Promise<StatusReply> {
    await this.#ready;
    const open = this.#live.use();
    return { ...this.#state(), ...describeIndex(open, { files, batches: this.#scheduler.provider()?.batches }) };
  }

  async setProvider(told: IndexMethods["provider"]["params"]): Promise<{ accepted: true }> {
    await this.#ready;
    this.#searcher.noteAbsence(told.reason);
    this.#scheduler.setProvider(told);
    return { accepted: true };
  }

  sessionsGrown({ grown }: IndexMethods["sessionsGrown"]["params"]): { accepted: true } {
    this.#scheduler.sessionsGrown(grown);
    return { accepted: true };
  }

  async reset(): Promise<{ removed: boolean }> {
    await this.#scheduler.interrupt();
    this.#live.use(); // refuses a database that is something else
    const removed = this.#live.remove();
    this.#scheduler.markDirty();
    return { removed };
  }

  /** Follows the files from now on, and catches up with what changed before. */
  async watch(): Promise<{ watching: boolean }> {
    await this.#ready;
    this.#scheduler.watch();
    return { watching: this.#scheduler.state().watching };
  }

  async close(): Promise<{ closed: true }> {
    this.#searcher.close();
    this.#idleVectors.close();
    await this.#scheduler.close();
    this.#live.close();
    return { closed: true };
  }

  /** The answer goes out first. */
  #syncAfter(when: SearchRequest["syncAfter"]): void {
    if (when === "never") return;
    setImmediate(() => {
      if (when === "always") this.#scheduler.kick("session-start");
      else if (!this.#scheduler.isFresh(UNWATCHED_FRESH_MS)) this.#scheduler.kick("search");
    });
  }

  #state(): IndexState {
    return { ...this.#live.counts(), ...this.#scheduler.state(), ...vectorsOf(this.#live.opened()) };
  }

  #tellState(): void {
    this.#tell({ news: "state", state: this.#state() });
  }
}

function vectorsOf(open: OpenLiveIndex | undefined): Pick<IndexState, "vectors"> {
  if (open?.vectors.dims === undefined || isKeywordOnly(open.identity)) return {};
  const { provider, model } = open.identity;
  return { vectors: { provider, model, dims: open.vectors.dims } };
}
