import { type Clock, type Logger, messageOf, settledWithin, type Timers } from "svc/sdk";
import { type CollectionWatcher, createCollectionWatcher } from "./collection-watcher.ts";
import type { Collection } from "./collections.ts";
import { createEmbedSchedule, type EmbedSchedule } from "./embed-schedule.ts";
import { type Engine, isPassing, isRepairableIndex } from "./engine.ts";
import { retried } from "./retried.ts";
import { exportSessions, type ReadTranscripts } from "./session-export.ts";
import type { SidecarSettings } from "./settings.ts";
import { createUpdateQueue, type UpdateQueue } from "./update-queue.ts";

/** Parts of the gateway that keeping an index up to date needs. */
export interface KeeperHost {
  clock: Clock;
  timers: Pick<Timers, "setTimeout" | "setInterval">;
  logger: Logger;
  /** Lock of embed runs. */
  embedLock: string;
  transcripts(agentId: string): ReadTranscripts;
}

export interface KeeperOptions {
  settings: SidecarSettings;
  host: KeeperHost;
  engine: Pick<Engine, "update" | "embed">;
  /** Ends everything. */
  signal: AbortSignal;
  /** Recreates the collections of the engine. */
  recreate(): Promise<void>;
  /** The model that makes vectors is another one than that of the present vectors. */
  isModelChanged(): boolean;
  onEmbedded(): void;
}

/** State of an index. */
export interface IndexState {
  isUpdating: boolean;
  isDirty: boolean;
  /** Epoch ms. */
  lastUpdateAt: number | undefined;
  lastUpdateMs: number | undefined;
  lastError: string | undefined;
  embedError: string | undefined;
}

/** A search waits so long for a running update. */
const UPDATE_WAIT_MS = 500;
/** A file that is being written settles in this time. */
const SETTLE_MS = 1_500;
const BOOT_TRIES = 3;
const BOOT_RETRY_MS = 500;

/** Keeps the index of one agent up to date: at the start, at intervals, after changes, before searches; vectors follow. */
export class IndexKeeper {
  readonly #options: KeeperOptions;
  readonly #queue: UpdateQueue;
  readonly #embeds: EmbedSchedule;
  #watcher: CollectionWatcher | undefined;
  #interval: { dispose(): unknown } | undefined;
  #dirtyTimer: { dispose(): unknown } | undefined;
  #isRepaired = false;
  #isDirty = true;
  #last: Pick<IndexState, "lastUpdateAt" | "lastUpdateMs" | "lastError"> = {
    lastUpdateAt: undefined,
    lastUpdateMs: undefined,
    lastError: undefined,
  };

  constructor(options: KeeperOptions) {
    this.#options = options;
    const { settings, host, engine, signal } = options;
    this.#queue = createUpdateQueue({
      debounceMs: settings.update.debounceMs,
      now: () => host.clock.monotonic(),
      work: (force) => this.#update(force),
    });
    this.#embeds = createEmbedSchedule({
      agentId: settings.agentId,
      intervalMs: settings.update.embedIntervalMs,
      hasSharedCollections: settings.collections.some(({ isShared }) => isShared),
      lockPath: host.embedLock,
      clock: host.clock,
      timers: host.timers,
      signal,
      embed: (all, stop) => engine.embed(all, stop),
      isModelChanged: () => options.isModelChanged(),
      onEmbedded: () => options.onEmbedded(),
      warn: (message) => this.#warn(message),
    });
  }

  state(): IndexState {
    return { ...this.#last, isUpdating: this.#queue.isRunning, isDirty: this.#isDirty, embedError: this.#embeds.lastError };
  }

  /** Begins to follow the files of these collections, and the clock. */
  follow(collections: readonly Collection[]): void {
    const { settings, host, signal } = this.#options;
    if (signal.aborted) return;
    const { intervalMs } = settings.update;
    if (intervalMs > 0) this.#interval = host.timers.setInterval(() => this.#inBackground("at an interval"), intervalMs);
    if (!settings.sync.watch) return;
    this.#watcher = createCollectionWatcher({
      collections,
      timers: host.timers,
      onChange: () => this.#changed(),
      onFailure: (path, code) => this.#warn(`${path} cannot be watched (${code}); changes are found at the next interval`),
    });
    void this.#watcher.rescan();
  }

  /** Brings the index up to date. Without `force` it may just have been, and nothing is done. @throws {EngineFault} */
  async update({ force }: { force: boolean }): Promise<void> {
    await this.#queue.request({ force });
  }

  /** Updates for the first time. Never rejects: a failure is a warning. */
  async bootUpdate(): Promise<void> {
    const { signal } = this.#options;
    const update = () => this.#queue.request({ force: true }) as Promise<void>;
    try {
      await retried(update, { tries: BOOT_TRIES, waitMs: BOOT_RETRY_MS, isPassing, signal });
    } catch (error) {
      if (!signal.aborted) this.#warn(`the index is not up to date after the start: ${messageOf(error)}`);
    }
  }

  /** Updates before a search where notes have changed, as far as that is quick. */
  async catchUp(): Promise<void> {
    const update = this.#isDirty && this.#options.settings.sync.onSearch ? this.#queue.request({ force: false }) : undefined;
    if (update) await settledWithin(update, UPDATE_WAIT_MS);
  }

  /** Resolves when nothing runs any more; the signal has ended it. */
  async close(): Promise<void> {
    this.#watcher?.close();
    void this.#interval?.dispose();
    void this.#dirtyTimer?.dispose();
    await Promise.all([this.#queue.idle(), this.#embeds.idle()]);
  }

  #changed(): void {
    this.#isDirty = true;
    if (this.#dirtyTimer || this.#options.signal.aborted) return;
    const waitMs = Math.max(SETTLE_MS, this.#queue.waitMs + 1);
    this.#dirtyTimer = this.#options.host.timers.setTimeout(() => {
      this.#dirtyTimer = undefined;
      if (this.#isDirty) this.#inBackground("after a change");
    }, waitMs);
  }

  /** Failures are reported where the update runs. */
  #inBackground(reason: string): void {
    const { host, settings } = this.#options;
    const update = this.#queue.request({ force: false });
    update?.catch((error: unknown) => host.logger.debug(`update ${reason}: ${messageOf(error)}`, { agentId: settings.agentId }));
  }

  async #update(force: boolean): Promise<void> {
    const { host, signal } = this.#options;
    const startedAt = host.clock.monotonic();
    this.#isDirty = false;
    try {
      signal.throwIfAborted();
      await this.#exportSessions();
      await this.#updateOrRepair();
      this.#last = { lastUpdateAt: host.clock.now(), lastUpdateMs: host.clock.monotonic() - startedAt, lastError: undefined };
    } catch (error) {
      this.#isDirty = true;
      const message = messageOf(error);
      if (this.#last.lastError === undefined && !signal.aborted) this.#warn(`the index was not updated: ${message}`);
      this.#last = { ...this.#last, lastError: message };
      throw error;
    }
    void this.#watcher?.rescan();
    this.#embeds.afterUpdate({ force });
  }

  /** Recreates the collections and tries again, once. */
  async #updateOrRepair(): Promise<void> {
    const { engine, host, settings, recreate } = this.#options;
    try {
      await engine.update();
    } catch (error) {
      if (this.#isRepaired || !isRepairableIndex(error)) throw error;
      this.#isRepaired = true;
      host.logger.info(`memory sidecar of agent "${settings.agentId}": the collections are recreated: ${messageOf(error)}`);
      await recreate();
      await engine.update();
    }
  }

  /** Transcripts that cannot be written keep no note from being indexed. */
  async #exportSessions(): Promise<void> {
    const { host, settings, signal } = this.#options;
    const { sessions, agentId } = settings;
    if (!sessions) return;
    try {
      await exportSessions(sessions, host.transcripts(agentId), { now: host.clock.now(), signal });
    } catch (error) {
      if (signal.aborted) throw error;
      this.#warn(`transcripts were not exported: ${messageOf(error)}`);
    }
  }

  #warn(message: string): void {
    const { host, settings } = this.#options;
    host.logger.warn(`memory sidecar of agent "${settings.agentId}": ${message}`);
  }
}
