import {
  type Disposable,
  isSvcError,
  type Memory,
  type MemoryFigures,
  type MemorySearchOptions,
  type MemorySearchResult,
  type MemoryStatus,
  messageOf,
  type PluginContext,
  SvcError,
} from "svc/sdk";
import { type AgentMemory, createAgentMemory } from "./agent-memory.ts";
import { fitInjected, showsCitations, withCitations } from "./citations.ts";
import "./errors.ts";
import type { IndexHit } from "./engine/search.ts";
import { createProgressEvents } from "./progress-events.ts";
import { keepHits, keywordResult, unavailableResult } from "./search-result.ts";
import type { AgentMemorySettings } from "./settings.ts";
import { statusOf } from "./status.ts";

export type MemoryHost = Pick<PluginContext, "logger" | "timers" | "signal" | "emit" | "isHookUsed" | "runHook">;

/** `memory@1` with its life. */
export interface MemoryService extends Memory {
  readonly agents: readonly AgentMemory[];
  /** @throws {SvcError} `unknown-agent`, `memory-disabled`, `memory-store-shared` */
  requireUsable(agentId: string): void;
  /** Catches up with the files and follows them, agent after agent. Failures are logged and shown in status. */
  startBackground(): Promise<void>;
  /** Follows a changed config. Only agents whose index settings differ get another index; the old one ends after its open requests. */
  reconfigure(settings: readonly AgentMemorySettings[]): void;
  close(): Promise<void>;
}

/** How long an index that was replaced may finish what it was asked. */
const RETIRE_MS = 2_000;
const SESSIONS_WARNING = "session transcripts are not indexed";

export function createMemoryService(
  host: MemoryHost,
  settings: readonly AgentMemorySettings[],
  onSynced: () => void = () => undefined,
): MemoryService {
  return new AgentMemories(host, settings, (one, startAfter) => openAgent(host, one, { onSynced, startAfter }));
}

type OpenAgent = (settings: AgentMemorySettings, startAfter?: Promise<void>) => OpenedAgent;

interface OpenedAgent {
  memory: AgentMemory;
  stopEvents(): void;
  /** Its periodic sync, while there is one. */
  repeat?: Disposable;
}

class AgentMemories implements MemoryService {
  readonly #host: MemoryHost;
  readonly #open: OpenAgent;
  readonly #retiring = new Set<Promise<void>>();
  #opened: OpenedAgent[];
  #inBackground = false;

  constructor(host: MemoryHost, settings: readonly AgentMemorySettings[], open: OpenAgent) {
    this.#host = host;
    this.#open = open;
    this.#opened = settings.map((one) => open(one));
  }

  get agents(): readonly AgentMemory[] {
    return this.#opened.map((agent) => agent.memory);
  }

  async search(agentId: string, query: string, options: MemorySearchOptions = {}): Promise<MemorySearchResult> {
    const startedAt = performance.now();
    const agent = this.#agent(agentId);
    if (query.trim() === "") throw new SvcError("invalid-query");
    const refusal = refusalOf(agent.settings);
    if (refusal) return unavailableResult(agent.settings, { error: refusal.message, action: refusal.message });
    if (options.corpus === "sessions") return { ...keywordResult(agent.settings, []), warning: SESSIONS_WARNING };
    try {
      return await this.#search(agent, { query: query.trim(), options, startedAt });
    } catch (error) {
      if (options.signal?.aborted) throw error;
      const message = messageOf(error);
      this.#host.logger.warn(`memory search of agent "${agentId}" failed: ${message}`);
      return unavailableResult(agent.settings, { error: message, action: "run: svc memory status" });
    }
  }

  async get(agentId: string, path: string, range: { from?: number; lines?: number } = {}): ReturnType<Memory["get"]> {
    const agent = this.#agent(agentId);
    const from = Math.max(1, Math.floor(range.from ?? 1));
    const refusal = refusalOf(agent.settings);
    if (refusal) return { path, text: "", from, totalLines: 0, disabled: true, error: refusal.message };
    const lines = range.lines === undefined ? undefined : Math.max(1, Math.floor(range.lines));
    const found = await agent.index().get(path, { from, lines });
    if (found.kind === "refused") return { path, text: "", from, totalLines: 0, disabled: true, error: "path required" };
    if (found.kind === "missing") return { path, text: "", from, totalLines: 0 };
    return { path, text: found.text, from, totalLines: found.totalLines, ...(found.truncated ? { truncated: true } : {}) };
  }

  async status(agentId: string, options: { files?: boolean } = {}): Promise<MemoryStatus> {
    const agent = this.#agent(agentId);
    return statusOf(agent, { files: options.files ?? false, refusal: refusalOf(agent.settings) });
  }

  figures(agentId: string): MemoryFigures | undefined {
    const agent = this.#opened.find(({ memory }) => memory.settings.agentId === agentId)?.memory;
    if (!agent) return undefined;
    const { files, chunks, dirty } = agent.state() ?? { files: 0, chunks: 0, dirty: true };
    return { files, chunks, dirty, provider: "none" };
  }

  async sync(agentId: string, options: Parameters<Memory["sync"]>[1] = {}): ReturnType<Memory["sync"]> {
    const agent = this.#usable(agentId);
    const stop = options.onProgress && agent.onProgress(options.onProgress);
    try {
      const { force = false, reason = "request", signal } = options;
      return await agent.index().sync({ force, reason }, { signal });
    } finally {
      stop?.();
    }
  }

  async reset(agentId: string): Promise<{ removed: boolean }> {
    return this.#usable(agentId).index().reset();
  }

  requireUsable(agentId: string): void {
    this.#usable(agentId);
  }

  async startBackground(): Promise<void> {
    this.#inBackground = true;
    await this.#follow(this.#opened);
  }

  reconfigure(settings: readonly AgentMemorySettings[]): void {
    const before = new Map(this.#opened.map((opened) => [opened.memory.settings.agentId, opened]));
    const changed: OpenedAgent[] = [];
    const replaced = new Set(before.values());
    const next = settings.map((one) => {
      const old = before.get(one.agentId);
      if (old && needsSameIndex(old.memory.settings, one)) {
        replaced.delete(old);
        old.memory.adopt(one);
        return old;
      }
      const opened = this.#open(one, old && this.#retire(old));
      changed.push(opened);
      return opened;
    });
    this.#opened = next;
    for (const gone of replaced) if (!next.some((one) => one.memory.settings.agentId === gone.memory.settings.agentId)) this.#retire(gone);
    if (this.#inBackground) void this.#follow(changed);
  }

  /** Ends an index that nobody is sent to any more. */
  #retire(agent: OpenedAgent): Promise<void> {
    void agent.repeat?.dispose();
    const ended = agent.memory.close(RETIRE_MS).catch((error) => this.#host.logger.warn(`an index did not close: ${messageOf(error)}`));
    const retired = ended.finally(() => {
      agent.stopEvents();
      this.#retiring.delete(retired);
    });
    this.#retiring.add(retired);
    return retired;
  }

  async #follow(opened: readonly OpenedAgent[]): Promise<void> {
    for (const one of opened) {
      const { memory: agent } = one;
      const { sync, agentId } = agent.settings;
      if (this.#host.signal.aborted || !this.#opened.includes(one)) continue;
      if (refusalOf(agent.settings)) continue;
      try {
        if (sync.watch) await agent.index().watch();
        else await agent.index().sync({ reason: "start" });
      } catch (error) {
        this.#host.logger.warn(`memory of agent "${agentId}" is not up to date: ${messageOf(error)}`);
      }
      if (sync.intervalMinutes > 0) one.repeat = this.#repeat(agent, sync.intervalMinutes * 60_000);
    }
  }

  async close(): Promise<void> {
    for (const agent of this.#opened) agent.stopEvents();
    await Promise.all([...this.#opened.map((agent) => agent.memory.close()), ...this.#retiring]);
  }

  async #search(
    agent: AgentMemory,
    { query, options, startedAt }: { query: string; options: MemorySearchOptions; startedAt: number },
  ): Promise<MemorySearchResult> {
    const { settings } = agent;
    const asked = await this.#beforeSearch(settings.agentId, query, clampResults(options.maxResults ?? settings.query.maxResults));
    if (asked.query.trim() === "") return keywordResult(settings, []);
    const { hits, partial } = await agent.index().search(
      {
        query: asked.query,
        maxResults: clampResults(asked.limit),
        minScore: Math.min(1, Math.max(0, options.minScore ?? settings.query.minScore)),
        explicit: options.minScore !== undefined,
        candidateMultiplier: settings.query.candidateMultiplier,
        maxSnippetChars: settings.limits.maxSnippetChars,
        timeoutMs: Math.max(1, Math.round(settings.limits.timeoutMs - (performance.now() - startedAt))),
        syncAfter: agent.syncAfter(options.sessionKey),
      },
      { signal: options.signal },
    );
    const kept = await this.#afterSearch(settings.agentId, asked.query, hits);
    const cited = showsCitations(options.citations ?? settings.citations, options.sessionKey) ? withCitations(kept) : kept;
    const result = keywordResult(settings, fitInjected(cited, settings.limits.maxInjectedChars));
    if (!partial) return result;
    return { ...result, partial: true, warning: `the search was cut off after ${settings.limits.timeoutMs} ms; there may be more` };
  }

  async #beforeSearch(agentId: string, query: string, limit: number): Promise<{ query: string; limit: number }> {
    if (!this.#host.isHookUsed("memory.query")) return { query, limit };
    return this.#host.runHook("memory.query", { agentId, query, limit }, { agentId });
  }

  async #afterSearch(agentId: string, query: string, hits: IndexHit[]): Promise<IndexHit[]> {
    if (!this.#host.isHookUsed("memory.results")) return hits;
    const changed = await this.#host.runHook("memory.results", { agentId, query, hits }, { agentId });
    return keepHits(changed.hits);
  }

  #repeat(agent: AgentMemory, everyMs: number): Disposable {
    return this.#host.timers.setInterval(() => {
      agent
        .index()
        .sync({ reason: "interval" })
        .catch((error) => this.#host.logger.warn(`memory sync of agent "${agent.settings.agentId}" failed: ${messageOf(error)}`));
    }, everyMs);
  }

  #agent(agentId: string): AgentMemory {
    const agent = this.agents.find((one) => one.settings.agentId === agentId);
    if (!agent) throw new SvcError("unknown-agent", { agentId });
    return agent;
  }

  #usable(agentId: string): AgentMemory {
    const agent = this.#agent(agentId);
    const refusal = refusalOf(agent.settings);
    if (refusal) throw refusal;
    return agent;
  }
}

/** What the index and its background work are made from; the rest is read at each search. */
function needsSameIndex(a: AgentMemorySettings, b: AgentMemorySettings): boolean {
  const made = ({ enabled, index, sync, sharedWith }: AgentMemorySettings) => JSON.stringify({ enabled, index, sync, sharedWith });
  return made(a) === made(b);
}

/** Why an agent has no memory by its configuration. */
function refusalOf(settings: AgentMemorySettings): SvcError | undefined {
  const { agentId, index, sharedWith } = settings;
  if (!settings.enabled) return new SvcError("memory-disabled", { agentId });
  if (sharedWith.length === 0) return undefined;
  const agents = [agentId, ...sharedWith].sort().join(", ");
  return new SvcError("memory-store-shared", { agents, path: index.dbPath, token: "{agentId}" });
}

function clampResults(count: number): number {
  return Number.isFinite(count) ? Math.min(200, Math.max(1, Math.floor(count))) : 6;
}

/** One agent with its events on the wire, in the log and on the hook bus. */
function openAgent(
  host: MemoryHost,
  settings: AgentMemorySettings,
  { onSynced, startAfter }: { onSynced(): void; startAfter: Promise<void> | undefined },
): OpenedAgent {
  const { agentId } = settings;
  const events = createProgressEvents((progress) => host.emit("memory.progress", { agentId, ...progress }));
  const memory = createAgentMemory(settings, {
    startAfter,
    onProgress: (progress) => events.push(progress),
    onSynced(summary) {
      onSynced();
      if (!host.isHookUsed("memory.synced")) return;
      host.runHook("memory.synced", { agentId, ...summary }, { agentId }).catch((error) => {
        if (!isSvcError(error, "plugin-disposed")) host.logger.warn(`hook memory.synced failed: ${messageOf(error)}`);
      });
    },
    log: (level, message) => host.logger[level](message, { agentId }),
  });
  return { memory, stopEvents: () => events.dispose() };
}
