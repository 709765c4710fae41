import { type Env, type MemoryHit, messageOf, settledWithin } from "svc/sdk";
import { setUpCollections } from "./collection-setup.ts";
import type { Collection } from "./collections.ts";
import { lookUpDocument } from "./document-lookup.ts";
import { createEngine, type Engine, isMissingCollection } from "./engine.ts";
import { EngineFault } from "./engine-fault.ts";
import { applyModels, type EngineHome, engineHome, prepareHome } from "./engine-home.ts";
import { engineEnv, modelNames } from "./environment.ts";
import { IndexKeeper, type IndexState, type KeeperHost } from "./index-keeper.ts";
import { interleave, toMemoryHit } from "./locate.ts";
import type { EngineHit } from "./parse.ts";
import { createSearchSlots } from "./search-slots.ts";
import type { SearchMode, SidecarSettings } from "./settings.ts";

/** Parts of the gateway that a manager needs. */
export interface ManagerHost extends KeeperHost {
  env: Env;
}

/** A question to one agent's engine. */
export interface ManagerSearch {
  query: string;
  maxResults: number;
  minScore: number;
  /** Default all. */
  sources: ReadonlyArray<MemoryHit["source"]> | undefined;
  signal: AbortSignal;
}

/** State of an engine as far as it is known. */
export interface ManagerState extends IndexState {
  isOpen: boolean;
  /** Collections that it has. */
  collections: readonly Collection[];
  failedCollections: ReadonlyArray<{ name: string; reason: string }>;
  /** Figures of its last `status`. */
  files: number | undefined;
  vectors: number | undefined;
  pending: number | undefined;
  /** Mode of the next search. */
  mode: SearchMode;
}

const CLOSE_MS = 2_000;
const PLACES = { places: 4, waiting: 32 };

/** The engine of one agent. One that has failed is closed, and another one takes its place. */
export class SidecarManager {
  readonly settings: SidecarSettings;
  readonly home: EngineHome;
  readonly index: IndexKeeper;
  readonly #host: ManagerHost;
  readonly #ended = new AbortController();
  readonly #engine: Engine;
  readonly #slots = createSearchSlots(PLACES);
  #opening: Promise<void> | undefined;
  #isOpen = false;
  #isRepaired = false;
  #isModelChanged = false;
  #saysNoVectors = false;
  #collections: readonly Collection[] = [];
  #failed: ManagerState["failedCollections"] = [];
  #figures: Pick<ManagerState, "files" | "vectors" | "pending"> = { files: undefined, vectors: undefined, pending: undefined };

  constructor(settings: SidecarSettings, host: ManagerHost) {
    this.settings = settings;
    this.#host = host;
    this.home = engineHome(settings.home);
    const { signal } = this.#ended;
    this.#engine = createEngine(settings, engineEnv(host.env, this.home), signal);
    this.index = new IndexKeeper({
      settings,
      host,
      engine: this.#engine,
      signal,
      recreate: () => this.#setUp(true),
      isModelChanged: () => this.#isModelChanged,
      onEmbedded: () => {
        this.#isModelChanged = false;
        void this.#readFiguresQuietly();
      },
    });
  }

  state(): ManagerState {
    return {
      ...this.index.state(),
      ...this.#figures,
      isOpen: this.#isOpen,
      collections: this.#collections,
      failedCollections: this.#failed,
      mode: this.#modeNow(),
    };
  }

  /** Makes the engine ready to be asked, once. @throws {EngineFault} */
  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** @throws {EngineFault}, {SvcError} `sidecar-busy`, the signal's reason */
  async search(search: ManagerSearch): Promise<MemoryHit[]> {
    const { timeoutMs } = this.settings.limits;
    const until = performance.now() + timeoutMs;
    const signal = AbortSignal.any([search.signal, this.#ended.signal]);
    await unlessAborted(this.open(), signal);
    await unlessAborted(this.index.catchUp(), signal);
    return this.#slots.run(async () => {
      const leftMs = Math.max(1, Math.round(until - performance.now()));
      const hits = await this.#ask(search, { timeoutMs: leftMs, signal });
      const located = await Promise.all(hits.map((hit) => toMemoryHit(hit, this.#places())));
      const found = located.filter((hit) => hit !== undefined).filter(({ score }) => score >= search.minScore);
      return interleave(found).slice(0, search.maxResults);
    }, signal);
  }

  /** Asks the engine for its figures; what it does not tell stays as it was. @throws {EngineFault} */
  async readFigures(): Promise<void> {
    await this.open();
    await this.#readFigures();
  }

  /** Kills what runs. @param reason rejection of whoever still waits */
  async close(reason: unknown = new Error("the memory sidecar is closed")): Promise<void> {
    this.#ended.abort(reason);
    await settledWithin(Promise.allSettled([this.#opening, this.index.close()]), CLOSE_MS);
  }

  async #open(): Promise<void> {
    const { agentId, workspace, searchMode, skipped } = this.settings;
    for (const { path, pattern, keeps } of skipped) {
      this.#host.logger.debug("a folder is a collection already, and its second entry is skipped", {
        agentId,
        path,
        pattern,
        collection: keeps,
      });
    }
    await prepareHome(this.home, { workspace, userHome: this.#host.env.HOME });
    await this.#engine.probe();
    this.#isModelChanged = await applyModels(this.home, modelNames(this.#host.env));
    await this.#setUp(false);
    if (searchMode !== "search") await this.#readFiguresQuietly();
    this.#isOpen = true;
    this.index.follow(this.#collections);
  }

  async #setUp(recreate: boolean): Promise<void> {
    const { ready, failed } = await setUpCollections(this.#engine, this.settings.collections, { recreate, log: this.#host.logger });
    this.#collections = ready;
    this.#failed = failed;
    const [first] = failed;
    if (ready.length === 0 && first) throw new EngineFault("failed", `not one collection could be made: ${first.reason}`);
  }

  async #readFigures(): Promise<void> {
    const { files, vectors, pending } = await this.#engine.status();
    this.#figures = { files: files ?? this.#figures.files, vectors: vectors ?? this.#figures.vectors, pending };
  }

  async #readFiguresQuietly(): Promise<void> {
    await this.#readFigures().catch((error: unknown) => this.#host.logger.debug(`the engine did not tell its state: ${messageOf(error)}`));
  }

  /** Asks the collections of the wanted sources; where the engine has lost one, all are recreated, once. */
  async #ask(search: ManagerSearch, limits: { timeoutMs: number; signal: AbortSignal }): Promise<EngineHit[]> {
    try {
      return await this.#askOnce(search, limits);
    } catch (error) {
      if (this.#isRepaired || !isMissingCollection(error)) throw error;
      this.#isRepaired = true;
      this.#host.logger.info(`memory sidecar of agent "${this.settings.agentId}": the collections are recreated: ${messageOf(error)}`);
      await unlessAborted(this.#setUp(true), limits.signal);
      return this.#askOnce(search, limits);
    }
  }

  async #askOnce({ query, maxResults, sources }: ManagerSearch, limits: { timeoutMs: number; signal: AbortSignal }): Promise<EngineHit[]> {
    const asked = this.#collections.filter(({ source }) => !sources || sources.includes(source));
    if (asked.length === 0) return [];
    const kinds = new Set(asked.map(({ source }) => source)).size;
    const limit = Math.min(200, maxResults * kinds);
    return this.#engine.search({ mode: this.#mode(), query, limit, collections: asked.map(({ name }) => name), ...limits });
  }

  #mode(): SearchMode {
    const mode = this.#modeNow();
    const { agentId, searchMode } = this.settings;
    if (mode !== searchMode && !this.#saysNoVectors) {
      this.#saysNoVectors = true;
      this.#host.logger.warn(
        `memory sidecar of agent "${agentId}": there are no vectors yet, so mode "search" is used instead of "${searchMode}"`,
      );
    }
    return mode;
  }

  /** Without a single vector only words can be searched. */
  #modeNow(): SearchMode {
    return this.#figures.vectors === 0 ? "search" : this.settings.searchMode;
  }

  #places() {
    const { workspace, limits } = this.settings;
    return {
      workspace,
      collections: this.#collections,
      maxSnippetChars: limits.maxSnippetChars,
      lookUp: (docid: string) => lookUpDocument(this.home.database, docid),
    };
  }
}

/** Waits for work, but no longer than a signal lets it. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
