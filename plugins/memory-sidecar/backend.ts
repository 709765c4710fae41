import {
  commonErrors,
  type MemoryBackend,
  type MemoryBackendFacts,
  type MemoryBackendSearch,
  type MemoryBackendStatus,
  messageOf,
} from "svc/sdk";
import { EngineFault } from "./engine-fault.ts";
import { sidecarErrors } from "./errors.ts";
import { type ManagerHost, SidecarManager } from "./manager.ts";
import { readNote } from "./read-note.ts";
import { removeIndex } from "./remove-index.ts";
import { isInScope, scopedSession } from "./scope.ts";
import type { SidecarSettings } from "./settings.ts";
import { statusOf } from "./status.ts";

/** Parts of the gateway that the backend needs. */
export interface BackendHost extends ManagerHost {
  /** Key of the session that made this one; undefined when nobody knows. */
  parentOf(sessionKey: string): Promise<string | undefined>;
}

/** The backend with its life. */
export interface SidecarBackend extends MemoryBackend {
  /** Managers that are there now, by agent. */
  readonly managers: ReadonlyMap<string, SidecarManager>;
  readonly settings: readonly SidecarSettings[];
  /** Updates the agents whose settings ask for it at the start, and waits for those that are waited for. */
  boot(): Promise<void>;
  /** Follows a changed config: agents whose settings differ begin anew. */
  reconfigure(settings: readonly SidecarSettings[]): void;
}

const SEARCH_MODES = { search: "fts-only", vsearch: "vector", query: "hybrid" } as const;

export function createSidecarBackend(host: BackendHost, settings: readonly SidecarSettings[]): SidecarBackend {
  return new Backend(host, settings);
}

class Backend implements SidecarBackend {
  readonly id = "sidecar";
  readonly managers = new Map<string, SidecarManager>();
  readonly #host: BackendHost;
  /** Agents that were updated at the start, or do not want to be. */
  readonly #booted = new Set<string>();
  readonly #closing = new Set<Promise<void>>();
  settings: readonly SidecarSettings[];
  #isClosed = false;

  constructor(host: BackendHost, settings: readonly SidecarSettings[]) {
    this.#host = host;
    this.settings = settings;
  }

  async search(agentId: string, query: string, options: MemoryBackendSearch): ReturnType<MemoryBackend["search"]> {
    options.signal?.throwIfAborted();
    const manager = this.#manager(agentId);
    const { limits } = manager.settings;
    const limit = AbortSignal.timeout(limits.timeoutMs);
    try {
      return await manager.search({
        query,
        maxResults: options.maxResults ?? limits.maxResults,
        minScore: options.minScore ?? 0,
        sources: options.sources,
        signal: options.signal ? AbortSignal.any([options.signal, limit]) : limit,
      });
    } catch (error) {
      // Nothing is known of an engine that failed: the next question begins with a new manager.
      if (!options.signal?.aborted || limit.aborted) this.#discard(manager);
      throw limit.aborted ? new EngineFault("timed-out", `the engine did not answer within ${limits.timeoutMs} ms`) : error;
    }
  }

  async get(agentId: string, path: string, range: { from?: number; lines?: number }): ReturnType<MemoryBackend["get"]> {
    const { workspace, collections } = this.#settingsOf(agentId);
    return readNote({ workspace, collections }, path, range);
  }

  async status(agentId: string, { deep = false }: { deep?: boolean } = {}): Promise<MemoryBackendStatus> {
    return statusOf(this.#manager(agentId), { deep });
  }

  async sync(
    agentId: string,
    { force = false, reason = "request", signal }: { force?: boolean; reason?: string; signal?: AbortSignal } = {},
  ): Promise<void> {
    signal?.throwIfAborted();
    const manager = this.#manager(agentId);
    try {
      await manager.open();
    } catch (error) {
      this.#discard(manager, error);
      throw error;
    }
    if (reason === "start") this.#bootLater(manager);
    // Somebody asks for it and is told when it is done: no debounce is in the way.
    else await manager.index.update({ force: true });
    if (force) await manager.readFigures();
  }

  async reset(agentId: string): Promise<{ removed: boolean }> {
    const manager = this.#manager(agentId);
    this.managers.delete(agentId);
    await manager.close();
    return { removed: await removeIndex(manager.home) };
  }

  facts(agentId: string): MemoryBackendFacts {
    const settings = this.settings.find((one) => one.agentId === agentId);
    if (!settings) return {};
    const mode = this.managers.get(agentId)?.state().mode ?? settings.searchMode;
    const sources = new Set(settings.collections.map(({ source }) => source));
    return { mode: SEARCH_MODES[mode], model: mode, limits: settings.limits, sources: [...sources] };
  }

  async mayAnswer(agentId: string, sessionKey: string | undefined): Promise<boolean> {
    const { scope } = this.#settingsOf(agentId);
    // Without a store nobody knows the parent of a helper.
    const session = await scopedSession(sessionKey, (key) => this.#host.parentOf(key).catch(() => undefined));
    if (isInScope(scope, session)) return true;
    const { channel = "none", chatType = "unknown" } = session;
    this.#host.logger.info(`memory.sidecar.scope denies results to session "${sessionKey}" (channel ${channel}, chat type ${chatType})`, {
      agentId,
    });
    return false;
  }

  async boot(): Promise<void> {
    const waitedFor = this.settings.filter(({ update }) => update.onBoot && update.waitForBootSync);
    await Promise.all(
      waitedFor.map(async ({ agentId }) => {
        const manager = this.#manager(agentId);
        this.#booted.add(agentId);
        try {
          await manager.open();
        } catch (error) {
          this.#discard(manager, error);
          this.#host.logger.debug(`the start waits for no refresh: ${messageOf(error)}`, { agentId }); // the memory says so
          return;
        }
        await manager.index.bootUpdate();
      }),
    );
  }

  reconfigure(settings: readonly SidecarSettings[]): void {
    const before = new Map(this.settings.map((one) => [one.agentId, one]));
    this.settings = settings;
    for (const [agentId, manager] of this.managers) {
      const now = settings.find((one) => one.agentId === agentId);
      if (JSON.stringify(now) !== JSON.stringify(before.get(agentId))) this.#discard(manager);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const manager of this.managers.values()) this.#discard(manager);
    await Promise.all(this.#closing);
  }

  /** The first update of an agent in the background; `boot` may have made it already. */
  #bootLater(manager: SidecarManager): void {
    const { agentId, update } = manager.settings;
    if (this.#booted.has(agentId)) return;
    this.#booted.add(agentId);
    if (update.onBoot) void manager.index.bootUpdate();
  }

  #settingsOf(agentId: string): SidecarSettings {
    if (this.#isClosed) throw sidecarErrors.sidecarClosed();
    const settings = this.settings.find((one) => one.agentId === agentId);
    if (!settings) throw commonErrors.unknownAgent({ agentId });
    return settings;
  }

  #manager(agentId: string): SidecarManager {
    const settings = this.#settingsOf(agentId);
    const present = this.managers.get(agentId);
    if (present) return present;
    const manager = new SidecarManager(settings, this.#host);
    this.managers.set(agentId, manager);
    return manager;
  }

  #discard(manager: SidecarManager, reason?: unknown): void {
    const { agentId } = manager.settings;
    if (this.managers.get(agentId) === manager) this.managers.delete(agentId);
    const closed = manager.close(reason).finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}
