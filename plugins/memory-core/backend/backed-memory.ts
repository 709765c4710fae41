import {
  commonErrors,
  isSvcError,
  type Memory,
  type MemoryBackend,
  type MemoryFigures,
  type MemorySearchOptions,
  type MemorySearchResult,
  type MemoryStatus,
  type PluginContext,
  settledWithin,
  withLimit,
} from "svc/sdk";
import type { AgentMemory } from "../agent-memory.ts";
import { refusalOf } from "../agent-settings-checks.ts";
import { memoryErrors } from "../errors.ts";
import { unavailableResult } from "../search-result.ts";
import type { MemoryService } from "../service.ts";
import type { AgentMemorySettings } from "../settings.ts";
import { askWithSpare, type SpareAnswer } from "./ask-with-spare.ts";
import { backendResult, factsOf, searchByBackend } from "./backend-search.ts";
import { backendStatus, figuresOf } from "./backend-status.ts";
import { type BackendSwitch, createBackendSwitch } from "./backend-switch.ts";

/** Id of the engine of this plugin itself. */
export const BUILTIN = "builtin";

export type BackedHost = Pick<PluginContext, "logger" | "timers" | "contributions" | "isHookUsed" | "runHook">;

export interface BackedMemoryOptions {
  /** State that health or readiness show has changed. */
  onChanged?(): void;
  /** Called after each search of a backend, with its time in milliseconds. */
  onSearched?(ms: number, result: MemorySearchResult): void;
  /** Transcripts for backends with an index of their own. */
  transcripts?: NonNullable<Memory["transcripts"]>;
}

/** The memory of all agents, whichever engine searches. */
export interface BackedMemory extends MemoryService {
  /** Agents whose builtin index is in use: no backend is chosen, or it does not answer. */
  readonly indexed: readonly AgentMemory[];
  /** True for an agent whose backend answers. */
  isBacked(agentId: string): boolean;
}

/** A backend has to say at once whether a session may have its passages; else the session gets none. */
const SCOPE_MS = 1_000;

/** Puts the backend that `memory.backend` names before the builtin engine, which answers where it does not. */
export function createBackedMemory(host: BackedHost, builtin: MemoryService, options: BackedMemoryOptions = {}): BackedMemory {
  return new Backed(host, builtin, options);
}

class Backed implements BackedMemory {
  readonly #host: BackedHost;
  readonly #builtin: MemoryService;
  readonly #options: BackedMemoryOptions;
  readonly #switches = new Map<string, BackendSwitch>();
  readonly #figures = new Map<string, MemoryFigures>();
  readonly #watching: { dispose(): unknown };
  /** Agents whose builtin index was brought up to date once, in the place of their backend. */
  readonly #warmed = new Set<string>();
  transcripts?: NonNullable<Memory["transcripts"]>;
  #inBackground = false;

  constructor(host: BackedHost, builtin: MemoryService, options: BackedMemoryOptions) {
    this.#host = host;
    this.#builtin = builtin;
    this.#options = options;
    if (options.transcripts) this.transcripts = options.transcripts;
    this.#watching = host.contributions<MemoryBackend>("memoryBackend").watch(() => this.#offersChanged());
    this.#followSettings();
  }

  get agents(): readonly AgentMemory[] {
    return this.#builtin.agents;
  }

  get indexed(): readonly AgentMemory[] {
    return this.agents.filter(({ settings }) => !this.isBacked(settings.agentId));
  }

  isBacked(agentId: string): boolean {
    return this.#switches.get(agentId)?.fallback() === undefined && this.#switches.has(agentId);
  }

  backendProblem(agentId: string): string | undefined {
    const fallback = this.#inBackground ? this.#switches.get(agentId)?.fallback() : undefined;
    return fallback && `the builtin engine searches in the place of "${fallback.from}": ${fallback.reason}`;
  }

  async search(agentId: string, query: string, options: MemorySearchOptions = {}): Promise<MemorySearchResult> {
    const choice = this.#choiceOf(agentId);
    const settings = this.#settingsOf(agentId);
    if (!choice || !settings || query.trim() === "") return this.#builtin.search(agentId, query, options);
    const startedAt = performance.now();
    const offered = choice.offered();
    if (offered && !(await mayAnswer(offered, agentId, options.sessionKey))) return backendResult(offered, settings, []);
    const limitMs = offered ? factsOf(offered, settings).limits.timeoutMs : settings.limits.timeoutMs;
    const leftMs = () => Math.max(1, Math.round(limitMs - (performance.now() - startedAt)));
    const spare: SpareAnswer = { begin: () => this.#searchBuiltin(agentId, query, { options, leftMs: leftMs() }), leftMs };
    const backend = choice.current();
    if (!backend) return { ...(await spare.begin()), fallback: choice.fallback() ?? null };
    const result = await this.#searchBackend({ backend, choice, settings }, { query: query.trim(), options, spare });
    this.#options.onSearched?.(performance.now() - startedAt, result);
    return result;
  }

  async get(agentId: string, path: string, range: { from?: number; lines?: number } = {}): ReturnType<Memory["get"]> {
    const backend = this.#choiceOf(agentId)?.offered();
    if (!backend) return this.#builtin.get(agentId, path, range);
    const from = Math.max(1, Math.floor(range.from ?? 1));
    const lines = range.lines === undefined ? {} : { lines: Math.max(1, Math.floor(range.lines)) };
    try {
      const found = await backend.get(agentId, path, { from, ...lines });
      const { text, totalLines = text === "" ? 0 : text.split("\n").length, truncated } = found;
      return { path, text, from: found.from ?? from, totalLines, ...(truncated ? { truncated } : {}) };
    } catch (error) {
      if (isSvcError(error, commonErrors.memoryNoteMissing({ path }).code)) return { path, text: "", from, totalLines: 0 };
      return { path, text: "", from, totalLines: 0, disabled: true, error: "path required" };
    }
  }

  async status(agentId: string, options: { files?: boolean; deep?: boolean } = {}): Promise<MemoryStatus> {
    const choice = this.#choiceOf(agentId);
    const settings = this.#settingsOf(agentId);
    const backend = choice?.current();
    if (!choice || !settings) return this.#builtin.status(agentId, options);
    const fallback = choice.fallback();
    if (!backend) return { ...(await this.#builtin.status(agentId, options)), ...(fallback ? { fallback } : {}) };
    const status = await backendStatus(backend, settings, { deep: options.deep ?? false });
    this.#figures.set(agentId, figuresOf(status));
    return status;
  }

  figures(agentId: string): MemoryFigures | undefined {
    if (!this.isBacked(agentId)) return this.#builtin.figures(agentId);
    const { backendId = BUILTIN } = this.#switches.get(agentId) ?? {};
    return this.#figures.get(agentId) ?? { files: 0, chunks: 0, dirty: true, provider: backendId };
  }

  citations(agentId: string): ReturnType<NonNullable<Memory["citations"]>> {
    return this.#builtin.citations?.(agentId);
  }

  async sync(agentId: string, options: Parameters<Memory["sync"]>[1] = {}): ReturnType<Memory["sync"]> {
    const choice = this.#choiceOf(agentId);
    // An operator who asks for a new index has repaired something, or wants to know that it does not work.
    if (choice?.fallback() && options.force) await choice.start();
    const backend = choice?.current();
    if (!backend) return this.#builtin.sync(agentId, options);
    const { force = false, reason = "request", signal, onProgress } = options;
    await backend.sync(agentId, { force, reason, ...(signal ? { signal } : {}) });
    onProgress?.({ phase: "done", done: 0, total: 0 });
    void this.#readFigures(agentId);
    return { started: true, joined: false };
  }

  async reset(agentId: string): Promise<{ removed: boolean }> {
    const backend = this.#choiceOf(agentId)?.current();
    if (!backend) return this.#builtin.reset(agentId);
    if (!backend.reset) throw memoryErrors.memoryBackendCannot({ backend: backend.id, what: "drop its index" });
    return backend.reset(agentId);
  }

  embed: Memory["embed"] = (...args) => this.#builtin.embed(...args);
  prepare: MemoryService["prepare"] = (...args) => this.#builtin.prepare(...args);
  provider: MemoryService["provider"] = (agentId) => this.#builtin.provider(agentId);
  providerState: MemoryService["providerState"] = (...args) => this.#builtin.providerState(...args);
  requireUsable: MemoryService["requireUsable"] = (agentId) => this.#builtin.requireUsable(agentId);
  follow: MemoryService["follow"] = (agentId) => this.#builtin.follow(agentId);
  pluginWaits: MemoryService["pluginWaits"] = () => this.#builtin.pluginWaits();

  async startBackground(): Promise<void> {
    this.#inBackground = true;
    await Promise.all([this.#builtin.startBackground(), ...[...this.#switches.keys()].map((agentId) => this.#start(agentId))]);
  }

  reconfigure(settings: readonly AgentMemorySettings[], options: { reopenProviders?: boolean } = {}): void {
    this.#builtin.reconfigure(settings, options);
    const begun = this.#followSettings();
    if (this.#inBackground) for (const agentId of begun) void this.#start(agentId);
  }

  async close(): Promise<void> {
    void this.#watching.dispose();
    for (const choice of this.#switches.values()) void choice.dispose();
    await this.#builtin.close();
  }

  /** Makes the switches fit the settings. @returns agents that begin with another engine */
  #followSettings(): string[] {
    const begun: string[] = [];
    const gone = new Set(this.#switches.keys());
    for (const { settings } of this.agents) {
      const { agentId, backend } = settings;
      const wanted = refusalOf(settings) || backend === BUILTIN ? undefined : backend;
      gone.delete(agentId);
      if (this.#switches.get(agentId)?.backendId === wanted) continue;
      this.#drop(agentId);
      if (wanted !== undefined) this.#switches.set(agentId, this.#createSwitch(agentId, wanted));
      begun.push(agentId);
    }
    for (const agentId of gone) this.#drop(agentId);
    return begun;
  }

  #createSwitch(agentId: string, backendId: string): BackendSwitch {
    const { logger, timers, contributions } = this.#host;
    const onChange = () => {
      this.#options.onChanged?.();
      if (!this.isBacked(agentId) && this.#inBackground) void this.#builtin.follow(agentId);
    };
    return createBackendSwitch(
      { logger, timers, backends: contributions<MemoryBackend>("memoryBackend") },
      { agentId, backendId, onChange },
    );
  }

  #drop(agentId: string): void {
    void this.#switches.get(agentId)?.dispose();
    this.#switches.delete(agentId);
    this.#figures.delete(agentId);
    this.#warmed.delete(agentId);
  }

  async #start(agentId: string): Promise<void> {
    const choice = this.#switches.get(agentId);
    if (!choice) return this.#builtin.follow(agentId);
    await choice.start();
    await this.#readFigures(agentId);
  }

  async #readFigures(agentId: string): Promise<void> {
    if (!this.isBacked(agentId)) return;
    await this.status(agentId);
    this.#options.onChanged?.();
  }

  /** A plugin with a backend came or went. */
  #offersChanged(): void {
    if (!this.#inBackground) return;
    for (const choice of this.#switches.values()) if (choice.offered() && choice.fallback()) void choice.start();
  }

  async #searchBackend(
    { backend, choice, settings }: { backend: MemoryBackend; choice: BackendSwitch; settings: AgentMemorySettings },
    { query, options, spare }: { query: string; options: MemorySearchOptions; spare: SpareAnswer },
  ): Promise<MemorySearchResult> {
    const answer = await askWithSpare({
      ask: (signal) => searchByBackend(this.#host, { backend, settings, query, options, signal }),
      spare,
      signal: options.signal,
    });
    if ("failure" in answer) {
      choice.failed(answer.failure);
      return { ...(await answer.spare), fallback: choice.fallback() ?? null };
    }
    choice.worked();
    return answer.result;
  }

  /** Searches with the builtin engine in the place of a backend; the first time its index is brought up to date before, as far as the time goes. */
  async #searchBuiltin(
    agentId: string,
    query: string,
    { options, leftMs }: { options: MemorySearchOptions; leftMs: number },
  ): Promise<MemorySearchResult> {
    const until = performance.now() + leftMs;
    const left = () => Math.max(1, until - performance.now());
    if (!this.#warmed.has(agentId)) {
      this.#warmed.add(agentId);
      await settledWithin(this.#builtin.sync(agentId, { reason: "fallback" }), left() * 0.7);
    }
    return withLimit(this.#builtin.search(agentId, query, options), left(), () => this.#lateResult(agentId), options.signal);
  }

  #lateResult(agentId: string): MemorySearchResult {
    const settings = this.#settingsOf(agentId);
    if (!settings) throw commonErrors.unknownAgent({ agentId });
    const error = "neither the memory backend nor the builtin engine answered in time";
    return { ...unavailableResult({ settings, view: this.#builtin.provider(agentId).view() }, { error }), partial: true };
  }

  #settingsOf(agentId: string): AgentMemorySettings | undefined {
    return this.agents.find(({ settings }) => settings.agentId === agentId)?.settings;
  }

  #choiceOf(agentId: string): BackendSwitch | undefined {
    return this.#switches.get(agentId);
  }
}

async function mayAnswer(backend: MemoryBackend, agentId: string, sessionKey: string | undefined): Promise<boolean> {
  if (!backend.mayAnswer) return true;
  const asked = Promise.resolve(backend.mayAnswer(agentId, sessionKey)).catch(() => false);
  return withLimit(asked, SCOPE_MS, () => false);
}
