import type { IndexSettings, ProviderFacts } from "../index-settings.ts";
import { type Database, isCorrupt, isReadonly } from "./database.ts";
import { type SyncOutcome, type SyncScope, syncDocuments } from "./document-sync.ts";
import type { DocumentSource } from "./documents.ts";
import type { BatchRunner } from "./embedding/batch.ts";
import { evictCache } from "./embedding/cache.ts";
import type { Embedder, EmbedRun } from "./embedding/embedder.ts";
import { fillPending } from "./embedding/fill.ts";
import type { VectorPlan } from "./embedding/vectorizer.ts";
import { IndexFault, reasonOf } from "./fault.ts";
import { type IndexIdentity, identityOf, isKeywordOnly, isOfProvider, isSameIdentity, type ProviderChoice } from "./identity.ts";
import { prepareFolder } from "./index-files.ts";
import type { LiveIndex, LiveIndexOptions, OpenLiveIndex } from "./live-index.ts";
import type { Pacer } from "./pacer.ts";
import { optimizeText, type RebuildJob, rebuildIndex } from "./rebuild.ts";
import { takeRebuildLock } from "./rebuild-lock.ts";

/** Provider that embeds, with its state over many syncs. */
export interface ActiveProvider {
  facts: ProviderFacts;
  embedder: Embedder;
  batches: BatchRunner;
}

export interface IndexUpdateParts {
  settings: IndexSettings;
  live: LiveIndex;
  openVectors: LiveIndexOptions["openVectors"];
  choice: ProviderChoice;
  provider: ActiveProvider | undefined;
  sources(isFull: boolean): DocumentSource[];
  /** Called when the whole index is rebuilt. */
  rebuilds(): void;
  /** True once for each time that something has changed since this run began. */
  takeNews(): boolean;
  signal: AbortSignal;
  pacer: Pacer;
  guard: SyncScope["guard"];
  progress: SyncScope["progress"];
  step?: RebuildJob["step"];
}

const BULK_DOCUMENTS = 500;

/** One pass over everything: the index is updated, or rebuilt beside itself when it was made with other settings. */
export class IndexUpdate {
  readonly #parts: IndexUpdateParts;

  constructor(parts: IndexUpdateParts) {
    this.#parts = parts;
  }

  /** Once more with a fresh handle after "read-only database", and with a fresh index after damage. */
  async run(force: boolean): Promise<SyncOutcome> {
    try {
      return await this.#update(force);
    } catch (error) {
      if (isReadonly(error)) this.#parts.live.close();
      else if (isCorrupt(error)) this.#parts.live.giveUp();
      else throw error;
      return this.#update(force);
    }
  }

  async #update(force: boolean): Promise<SyncOutcome> {
    const { live, settings, choice, signal } = this.#parts;
    const open = live.use();
    if (open && !force && this.#isCurrent(open)) return this.#updateLive(open);
    prepareFolder(settings.dbPath);
    const release = await takeRebuildLock(settings.dbPath, { signal });
    try {
      const now = live.use();
      // Another process has made it while this one waited.
      if (now && now.db !== open?.db && this.#isCurrent(now)) return await this.#updateLive(now);
      return await this.#rebuild(now, { identity: identityOf(settings, choice, now?.identity), force });
    } finally {
      release();
    }
  }

  #isCurrent({ identity }: OpenLiveIndex): boolean {
    return isSameIdentity(identity, identityOf(this.#parts.settings, this.#parts.choice, identity));
  }

  async #updateLive(open: OpenLiveIndex): Promise<SyncOutcome> {
    const { pacer } = this.#parts;
    const outcome = await syncDocuments(open, this.#scope(open.identity, { isFull: false, known: open.db }));
    await this.#complete(open, outcome);
    if (outcome.changed >= BULK_DOCUMENTS) await optimizeText(open.db, { pacer });
    if (outcome.changed > 0) open.db.pragma("shrink_memory");
    return outcome;
  }

  async #rebuild(old: OpenLiveIndex | undefined, { identity, force }: { identity: IndexIdentity; force: boolean }): Promise<SyncOutcome> {
    const { live, settings, openVectors, step } = this.#parts;
    const { dbPath, tokenizer, cache } = settings;
    this.#parts.rebuilds();
    const make = (kept: OpenLiveIndex | undefined) =>
      rebuildIndex({
        dbPath,
        tokenizer,
        identity,
        scope: this.#scope(identity, { isFull: true, known: this.#knownOf(kept, force) }),
        openVectors,
        live: kept,
        maxCacheEntries: cache.enabled ? cache.maxEntries : Number.POSITIVE_INFINITY,
        check: (made) => this.#check(made.vectors, old),
        closeLive: () => live.close(),
        step,
      });
    const outcome = await this.#orOld(old, () => {
      this.#check({ dims: undefined }, old); // a provider that pauses need not be waited for
      return this.#orFromFiles(old, make);
    });
    const fresh = live.use();
    if (fresh) await this.#complete(fresh, outcome);
    return outcome;
  }

  /**
   * Damage may be in the old index, of which something is kept, or in the new one. Made from the files alone it is none of the old one's, which stays;
   * while nobody embeds, that would cost its vectors.
   */
  async #orFromFiles(
    old: OpenLiveIndex | undefined,
    make: (kept: OpenLiveIndex | undefined) => Promise<SyncOutcome>,
  ): Promise<SyncOutcome> {
    const damaged = (error: unknown) => {
      if (!isCorrupt(error)) throw error;
      return new IndexFault("memory-index-failed", { reason: `the new index was damaged while it was made: ${reasonOf(error)}` });
    };
    try {
      return await make(old);
    } catch (error) {
      const fault = damaged(error);
      if (old && this.#parts.choice === "absent" && !isKeywordOnly(old.identity)) throw fault;
    }
    return make(undefined).catch((error) => {
      throw damaged(error);
    });
  }

  /** With an index at hand that has vectors, one without would be a step back: it stays, and learns at least the new words. */
  async #orOld(old: OpenLiveIndex | undefined, rebuild: () => SyncOutcome | Promise<SyncOutcome>): Promise<SyncOutcome> {
    try {
      return await rebuild();
    } catch (error) {
      if (!(error instanceof KeepsOld) || !old) throw error;
      const scope = this.#scope(old.identity, { isFull: false, known: undefined });
      const by = isKeywordOnly(old.identity) ? "none" : "later";
      await syncDocuments(old, { ...scope, vectors: { by, maxTextBytes: undefined, known: old.db } });
      throw new IndexFault("memory-index-failed", { reason: error.message });
    }
  }

  /** @throws {KeepsOld} when the outage of the provider would cost vectors that are of use, or of which none could be made */
  #check(made: { dims: number | undefined }, old: OpenLiveIndex | undefined): void {
    const { provider } = this.#parts;
    const reason = provider?.embedder.pausedBy;
    if (reason === undefined || !provider || old?.vectors.dims === undefined) return;
    const isUseful = isOfProvider(old.identity, provider.facts);
    if (isUseful || made.dims === undefined) throw new KeepsOld(`the new index has no vectors: ${reason}`);
  }

  /** Vectors that are still to come, and a cache within its bounds. */
  async #complete(open: OpenLiveIndex, outcome: SyncOutcome): Promise<void> {
    const { settings, provider, signal, pacer, progress } = this.#parts;
    if (provider && provider.embedder.pausedBy === undefined && isOfProvider(open.identity, provider.facts)) {
      await fillPending(open, {
        ...provider,
        run: { signal, dims: undefined },
        useCache: settings.cache.enabled,
        pacer,
        now: Date.now,
        progress: (done, total) => progress("embed", done, total),
        skip: (path, code) => outcome.skipped.push({ path, code }),
        meanwhile: () => this.#catchUp(open, outcome),
      });
    }
    this.#parts.live.noteDims();
    if (settings.cache.enabled) await evictCache(open.db, settings.cache.maxEntries, pacer);
  }

  /** The words of what changes while a job is waited for are searchable at once. */
  async #catchUp(open: OpenLiveIndex, outcome: SyncOutcome): Promise<void> {
    if (!this.#parts.takeNews()) return;
    const { changed, removed, skipped } = await syncDocuments(open, this.#scope(open.identity, { isFull: false, known: open.db }));
    outcome.changed += changed;
    outcome.removed += removed;
    for (const one of skipped) outcome.skipped.push(one);
    this.#parts.live.recount();
  }

  /**
   * Vectors of the old index that the new one may take over: none when somebody asked for a new one, who may have a reason to mistrust them. While nobody
   * embeds, they are the only ones.
   */
  #knownOf(old: OpenLiveIndex | undefined, force: boolean): Database | undefined {
    const { choice, provider } = this.#parts;
    if (!old || isKeywordOnly(old.identity)) return undefined;
    if (choice === "absent") return old.db;
    return !force && provider && isOfProvider(old.identity, provider.facts) ? old.db : undefined;
  }

  #scope(identity: IndexIdentity, { isFull, known }: { isFull: boolean; known: Database | undefined }): SyncScope {
    const { settings, pacer, guard, progress, sources } = this.#parts;
    return {
      sources: sources(isFull),
      chunking: settings.chunking,
      model: identity.model,
      vectors: this.#vectorPlan(identity, known),
      pacer,
      guard,
      now: Date.now,
      progress,
    };
  }

  #vectorPlan(identity: IndexIdentity, known: Database | undefined): VectorPlan {
    const { provider, settings, signal } = this.#parts;
    if (!provider) return { by: isKeywordOnly(identity) ? "none" : "later", maxTextBytes: undefined, known };
    const { embedder, batches } = provider;
    const run: EmbedRun = { signal, dims: undefined };
    // Jobs take hours: rows are searched by their words meanwhile, and `fillPending` brings the vectors.
    const isLater = batches.isOn;
    return { by: { embedder, run, useCache: settings.cache.enabled, isLater }, maxTextBytes: embedder.maxTextBytes, known };
  }
}

class KeepsOld extends Error {}
