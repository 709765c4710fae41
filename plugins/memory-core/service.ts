import {
  type CitationMode,
  commonErrors,
  type Disposable,
  type EmbeddingAdapter,
  type Memory,
  type MemoryEmbedding,
  type MemoryEmbedOptions,
  type MemoryFigures,
  type MemoryPreparation,
  type MemorySearchOptions,
  type MemorySearchResult,
  type MemoryStatus,
  messageOf,
  type PluginContext,
  settledWithin,
} from "svc/sdk";
import type { AgentMemory } from "./agent-memory.ts";
import { searchAgent } from "./agent-search.ts";
import { needsSameIndex, refusalOf } from "./agent-settings-checks.ts";
import { memoryErrors } from "./errors.ts";
import type { IndexThreadOptions } from "./index-worker-host.ts";
import { type OpenedAgent, openAgent } from "./open-agent.ts";
import type { ProviderAssignment } from "./open-memory-index.ts";
import { type AgentProvider, createAgentProvider } from "./providers/agent-provider.ts";
import { prepareProvider } from "./providers/prepare-provider.ts";
import { createTextEmbedder, type TextEmbedder } from "./providers/text-embedder.ts";
import { unavailableResult } from "./search-result.ts";
import type { Transcripts } from "./sessions/transcripts.ts";
import type { AgentMemorySettings } from "./settings.ts";
import { statusOf } from "./status.ts";

export type MemoryHost = Pick<
  PluginContext,
  "logger" | "timers" | "clock" | "signal" | "emit" | "isHookUsed" | "runHook" | "contributions" | "secret" | "snapshot" | "kv"
>;

export interface MemoryServiceOptions {
  /** An index is up to date, or its provider is another one. */
  onChanged?(): void;
  /** Called when the index of an agent stops or starts to answer: `problem` names the agent and the reason, and is undefined when every index works. */
  onOutage?(problem: string | undefined): void;
  /** Called after each search, with its time in milliseconds. */
  onSearched?(ms: number, result: MemorySearchResult): void;
  /** Called after each sync that has brought an index up to date, with its time in milliseconds. */
  onSynced?(ms: number): void;
  transcripts?: Transcripts;
  /** Agents whose index is followed in the background; default all. */
  isFollowed?(agentId: string): boolean;
  /** Thread options for tests. */
  threads?: IndexThreadOptions;
}

/** `memory@1` with its life. */
export interface MemoryService extends Memory {
  prepare(agentId: string, preparation: MemoryPreparation): Promise<void>;
  readonly agents: readonly AgentMemory[];
  /** @throws {SvcError} `unknown-agent`, `memory-disabled`, `memory-store-shared` */
  requireUsable(agentId: string): void;
  /** Provider that embeds for an agent. @throws {SvcError} `unknown-agent` */
  provider(agentId: string): AgentProvider;
  /** Reports the provider's state for `doctor.memory.status`. Without `probe` nobody is called. @throws {SvcError} `unknown-agent` */
  providerState(
    agentId: string,
    options: { probe: boolean },
  ): Promise<{ provider?: string; embedding: { ok: boolean; checked?: boolean; error?: string } }>;
  /** Chooses providers, catches up with the files and follows them, agent after agent. Failures are logged and shown in status. */
  startBackground(): Promise<void>;
  /** Begins to follow the files of one agent, when that was not done before. Never rejects. */
  follow(agentId: string): Promise<void>;
  /** Why another engine than the configured one searches; undefined where none does. */
  backendProblem?(agentId: string): string | undefined;
  /**
   * Follows a changed config. Only agents whose index settings differ get another index; the old one ends after its open requests.
   * @param options.reopenProviders keys of vendors may be other ones, and they are read when a provider is opened
   */
  reconfigure(settings: readonly AgentMemorySettings[], options?: { reopenProviders?: boolean }): void;
  /** A plugin is there now that is loaded on first use; it may have adapters. */
  pluginWaits(): void;
  close(): Promise<void>;
}

/** Time an index that was replaced has to finish its requests. */
const RETIRE_MS = 2_000;
/** Maximum wait of a first search for the choice of a provider; then words are searched. */
const FIRST_CHOICE_MS = 1_500;
/** Time a status waits for the first choice of a provider. */
const CHOICE_MS = 2_000;

export function createMemoryService(
  host: MemoryHost,
  settings: readonly AgentMemorySettings[],
  options: MemoryServiceOptions = {},
): MemoryService {
  return new AgentMemories(host, settings, options);
}

/** One agent of the present config. */
interface Agent extends OpenedAgent {
  provider: ProviderSlot;
  /** Periodic sync, while there is one. */
  repeat?: Disposable;
  isFollowed?: boolean;
}

/** The provider outlives the index: it is the same one after a change of the chunk size. */
interface ProviderSlot {
  keeper: AgentProvider;
  assignment: ProviderAssignment | undefined;
}

class AgentMemories implements MemoryService {
  readonly #host: MemoryHost;
  readonly #options: MemoryServiceOptions;
  readonly #embedder: TextEmbedder;
  readonly #retiring = new Map<Promise<void>, Agent>();
  readonly #watching: Disposable;
  #agents: Agent[];
  #inBackground = false;
  #outage: string | undefined;

  constructor(host: MemoryHost, settings: readonly AgentMemorySettings[], options: MemoryServiceOptions) {
    this.#host = host;
    this.#options = options;
    this.#embedder = createTextEmbedder(host);
    this.#agents = settings.map((one) => this.#open(one, this.#createProvider(one)));
    this.#watching = host.contributions<EmbeddingAdapter>("embeddingAdapter").watch(() => this.#adaptersChanged(false));
  }

  get agents(): readonly AgentMemory[] {
    return this.#agents.map((agent) => agent.memory);
  }

  provider(agentId: string): AgentProvider {
    return this.#agent(agentId).provider.keeper;
  }

  async search(agentId: string, query: string, options: MemorySearchOptions = {}): Promise<MemorySearchResult> {
    const startedAt = performance.now();
    const result = await this.#search(agentId, query, { options, startedAt });
    this.#options.onSearched?.(performance.now() - startedAt, result);
    return result;
  }

  async #search(
    agentId: string,
    query: string,
    { options, startedAt }: { options: MemorySearchOptions; startedAt: number },
  ): Promise<MemorySearchResult> {
    const { memory, provider } = this.#agent(agentId);
    if (query.trim() === "") throw memoryErrors.invalidQuery();
    const refusal = refusalOf(memory.settings);
    if (refusal) {
      const by = { settings: memory.settings, view: provider.keeper.view() };
      return unavailableResult(by, { error: refusal.message, action: refusal.message });
    }
    await settledWithin(provider.keeper.ready(), Math.min(FIRST_CHOICE_MS, memory.settings.limits.timeoutMs / 2));
    const current = this.#agent(agentId); // the config may be another one by now
    return searchAgent(
      this.#host,
      { agent: current.memory, provider: current.provider.keeper },
      { query: query.trim(), options, startedAt },
    );
  }

  async get(agentId: string, path: string, range: { from?: number; lines?: number } = {}): ReturnType<Memory["get"]> {
    const { memory } = this.#agent(agentId);
    const from = Math.max(1, Math.floor(range.from ?? 1));
    const refusal = refusalOf(memory.settings);
    if (refusal) return { path, text: "", from, totalLines: 0, disabled: true, error: refusal.message };
    const lines = range.lines === undefined ? undefined : Math.max(1, Math.floor(range.lines));
    const found = await memory.index().get(path, { from, lines });
    if (found.kind === "refused") return { path, text: "", from, totalLines: 0, disabled: true, error: "path required" };
    if (found.kind === "missing") return { path, text: "", from, totalLines: 0 };
    return { path, text: found.text, from, totalLines: found.totalLines, ...(found.truncated ? { truncated: true } : {}) };
  }

  async status(agentId: string, { files = false, deep = false } = {}): Promise<MemoryStatus> {
    const before = this.#agent(agentId);
    if (!refusalOf(before.memory.settings)) await settledWithin(before.provider.keeper.ready(), CHOICE_MS);
    const { memory, provider } = this.#agent(agentId);
    return statusOf(memory, provider.keeper, { files, deep, refusal: refusalOf(memory.settings) });
  }

  figures(agentId: string): MemoryFigures | undefined {
    const agent = this.#find(agentId);
    if (!agent) return undefined;
    const { files, chunks, dirty } = agent.memory.state() ?? { files: 0, chunks: 0, dirty: true };
    return { files, chunks, dirty, provider: agent.provider.keeper.view().provider };
  }

  citations(agentId: string): CitationMode | undefined {
    return this.#find(agentId)?.memory.settings.citations;
  }

  async sync(agentId: string, options: Parameters<Memory["sync"]>[1] = {}): ReturnType<Memory["sync"]> {
    const { keeper } = this.#usable(agentId).provider;
    const { force = false, reason = "request", signal, sessionIds, onProgress } = options;
    await (force ? keeper.forced() : keeper.ready());
    const { memory } = this.#usable(agentId); // the config may be another one by now
    const stop = onProgress && memory.onProgress(onProgress);
    try {
      return await memory.index().sync({ force, reason, ...(sessionIds ? { sessionIds } : {}) }, { signal });
    } finally {
      stop?.();
    }
  }

  async reset(agentId: string): Promise<{ removed: boolean }> {
    return this.#usable(agentId).memory.index().reset();
  }

  async embed(agentId: string, texts: readonly string[], options: MemoryEmbedOptions = {}): Promise<MemoryEmbedding> {
    const { settings } = this.#agent(agentId).memory;
    return this.#embedder.embed({ agentId, settings: settings.provider }, texts, options);
  }

  async prepare(agentId: string, preparation: MemoryPreparation): Promise<void> {
    const { settings } = this.#agent(agentId).memory;
    await prepareProvider(this.#host, { agentId, settings: settings.provider }, preparation);
    // One that failed for want of it is opened again.
    const { memory, provider } = this.#agent(agentId);
    if (memory.settings.provider.requested === preparation.provider) provider.keeper.update(memory.settings.provider, { force: true });
  }

  async providerState(agentId: string, { probe }: { probe: boolean }): ReturnType<MemoryService["providerState"]> {
    const { keeper } = this.#agent(agentId).provider;
    await settledWithin(keeper.ready(), CHOICE_MS);
    const tried = probe ? await keeper.probe() : undefined;
    const { state, provider, outage, error: lastError } = keeper.view();
    const error = tried?.error ?? outage ?? lastError;
    const embedding = { ok: tried?.ok ?? false, checked: probe, ...(error === undefined || tried?.ok ? {} : { error }) };
    return { ...(state === "provider" ? { provider } : {}), embedding };
  }

  requireUsable(agentId: string): void {
    this.#usable(agentId);
  }

  async startBackground(): Promise<void> {
    this.#inBackground = true;
    await this.#follow(this.#agents);
  }

  async follow(agentId: string): Promise<void> {
    const agent = this.#find(agentId);
    if (agent && !agent.isFollowed) await this.#follow([agent]);
  }

  reconfigure(settings: readonly AgentMemorySettings[], { reopenProviders = false } = {}): void {
    const before = new Map(this.#agents.map((agent) => [agent.memory.settings.agentId, agent]));
    const changed: Agent[] = [];
    const next = settings.map((one) => {
      const old = before.get(one.agentId);
      before.delete(one.agentId);
      const provider = old?.provider ?? this.#createProvider(one);
      if (old) provider.keeper.update(one.provider, { force: reopenProviders });
      if (old && needsSameIndex(old.memory.settings, one)) {
        old.memory.adopt(one);
        return old;
      }
      const opened = this.#open(one, provider, old && this.#retire(old));
      changed.push(opened);
      return opened;
    });
    this.#agents = next;
    for (const gone of before.values()) {
      void this.#retire(gone);
      void gone.provider.keeper.close();
    }
    this.#reportOutage();
    this.#embedder.forget();
    if (this.#inBackground) void this.#follow(changed);
  }

  pluginWaits(): void {
    this.#adaptersChanged(true);
  }

  async close(): Promise<void> {
    void this.#watching.dispose();
    for (const agent of this.#agents) agent.stopEvents();
    await Promise.all([...this.#agents.map((agent) => agent.memory.close()), ...this.#retiring.keys()]);
    await Promise.all([...this.#agents.map((agent) => agent.provider.keeper.close()), this.#embedder.close()]);
  }

  #reportOutage(): void {
    const problems = this.#agents.flatMap(({ memory }) => {
      const { isDown, lastError } = memory.state() ?? {};
      return isDown ? [`agent "${memory.settings.agentId}": ${lastError ?? "its index does not answer"}`] : [];
    });
    const outage = problems.length === 0 ? undefined : `the memory cannot be searched: ${problems.join("; ")}`;
    if (outage === this.#outage) return;
    this.#outage = outage;
    this.#options.onOutage?.(outage);
  }

  #adaptersChanged(waiting: boolean): void {
    this.#embedder.forget();
    for (const { provider } of this.#agents) provider.keeper.adaptersChanged(waiting);
  }

  #createProvider(settings: AgentMemorySettings): ProviderSlot {
    const { agentId } = settings;
    const keeper = createAgentProvider(this.#host, {
      agentId,
      settings: settings.provider,
      onAssignment: (assignment) => {
        slot.assignment = assignment;
        // An index that is being ended may still embed: it must not take another provider's vectors for those it was made with.
        for (const agent of [...this.#agents, ...this.#retiring.values()]) if (agent.provider === slot) agent.memory.assign(assignment);
        this.#options.onChanged?.();
      },
    });
    const slot: ProviderSlot = { keeper, assignment: undefined };
    return slot;
  }

  #open(settings: AgentMemorySettings, provider: ProviderSlot, startAfter?: Promise<void>): Agent {
    const { onChanged = () => undefined, transcripts, threads } = this.#options;
    const parts = {
      provider: provider.keeper,
      assignment: provider.assignment,
      transcripts,
      startAfter,
      onSynced: (ms: number) => {
        onChanged();
        this.#options.onSynced?.(ms);
      },
      onState: () => this.#reportOutage(),
      threads,
    };
    return { ...openAgent(this.#host, settings, parts), provider };
  }

  /** Ends an index that nobody is sent to any more. */
  #retire(agent: Agent): Promise<void> {
    void agent.repeat?.dispose();
    const ended = agent.memory.close(RETIRE_MS).catch((error) => this.#host.logger.warn(`an index did not close: ${messageOf(error)}`));
    const retired = ended.finally(() => {
      agent.stopEvents();
      this.#retiring.delete(retired);
    });
    this.#retiring.set(retired, agent);
    return retired;
  }

  async #follow(agents: readonly Agent[]): Promise<void> {
    for (const agent of agents) {
      const { memory, provider } = agent;
      const { sync, agentId } = memory.settings;
      const isPresent = () => !this.#host.signal.aborted && this.#agents.includes(agent);
      if (!isPresent() || refusalOf(memory.settings) || this.#options.isFollowed?.(agentId) === false) continue;
      agent.isFollowed = true;
      await provider.keeper.ready(); // else words alone would be indexed first
      if (!isPresent()) continue;
      try {
        if (sync.watch) await memory.index().watch();
        else await memory.index().sync({ reason: "start" });
      } catch (error) {
        if (isPresent()) this.#host.logger.warn(`memory of agent "${agentId}" is not up to date: ${messageOf(error)}`);
      }
      if (isPresent() && sync.intervalMinutes > 0) agent.repeat = this.#repeat(memory, sync.intervalMinutes * 60_000);
    }
  }

  #repeat(agent: AgentMemory, everyMs: number): Disposable {
    return this.#host.timers.setInterval(() => {
      agent
        .index()
        .sync({ reason: "interval" })
        .catch((error) => this.#host.logger.warn(`memory sync of agent "${agent.settings.agentId}" failed: ${messageOf(error)}`));
    }, everyMs);
  }

  #find(agentId: string): Agent | undefined {
    return this.#agents.find(({ memory }) => memory.settings.agentId === agentId);
  }

  #agent(agentId: string): Agent {
    const agent = this.#find(agentId);
    if (!agent) throw commonErrors.unknownAgent({ agentId });
    return agent;
  }

  #usable(agentId: string): Agent {
    const agent = this.#agent(agentId);
    const refusal = refusalOf(agent.memory.settings);
    if (refusal) throw refusal;
    return agent;
  }
}
