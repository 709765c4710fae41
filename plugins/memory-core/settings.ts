import { join, resolve } from "node:path";
import { type AgentInfo, type CitationMode, expandPath, isRecord, type PluginContext, resolveAgents, type SvcConfig } from "svc/sdk";
import { memoryBackendId } from "./backend/backend-id.ts";
import type { IndexSettings, MemorySource, Modality } from "./index-settings.ts";
import { type MemorySearch, type ProviderSettings, resolveProviderSettings } from "./providers/provider-settings.ts";

/** Everything that is settled about one agent's memory, defaults applied. */
export interface AgentMemorySettings {
  agentId: string;
  isDefault: boolean;
  enabled: boolean;
  provider: ProviderSettings;
  index: IndexSettings;
  query: {
    maxResults: number;
    minScore: number;
    candidateMultiplier: number;
    /** Weights sum to 1. */
    hybrid: { enabled: boolean; vectorWeight: number; textWeight: number };
    mmr: { enabled: boolean; lambda: number };
    temporalDecay: { enabled: boolean; halfLifeDays: number };
  };
  limits: { maxSnippetChars: number; maxInjectedChars: number | undefined; timeoutMs: number };
  sync: { watch: boolean; onSessionStart: boolean; onSearch: boolean; intervalMinutes: number };
  citations: CitationMode;
  /** Id of the engine that searches. */
  backend: string;
  /** Other agents that would write the same database. */
  sharedWith: string[];
}

/** Settings of every agent, in order. Pure. */
export function resolveMemorySettings(config: SvcConfig, stateDir: string): AgentMemorySettings[] {
  const all = resolveAgents(config, stateDir).map((agent) => settingsOf(config, agent, stateDir));
  return all.map((one) => ({ ...one, sharedWith: sharers(one, all) }));
}

function settingsOf(config: SvcConfig, agent: AgentInfo, stateDir: string): AgentMemorySettings {
  const at = config.agents.list.findIndex((entry) => entry.id === agent.id);
  const defaults = config.agents.defaults.memorySearch ?? {};
  const own = config.agents.list[at]?.memorySearch ?? {};
  const merged = mergeSearch(defaults, own);
  const index = indexSettings(merged, agent, stateDir);
  const { limits = {}, sync = {} } = merged;
  return {
    agentId: agent.id,
    isDefault: agent.isDefault,
    enabled: merged.enabled ?? true,
    provider: resolveProviderSettings({ defaults, own, merged, index: at < 0 ? undefined : at }, index.multimodal.modalities.length > 0),
    index,
    query: querySettings(merged),
    limits: {
      maxSnippetChars: limits.maxSnippetChars ?? 700,
      maxInjectedChars: limits.maxInjectedChars,
      timeoutMs: limits.timeoutMs ?? 4_000,
    },
    sync: {
      watch: sync.watch ?? true,
      onSessionStart: sync.onSessionStart ?? true,
      onSearch: sync.onSearch ?? true,
      intervalMinutes: sync.intervalMinutes ?? 0,
    },
    citations: config.memory.citations,
    backend: memoryBackendId(config),
    sharedWith: [],
  };
}

function querySettings({ query = {}, limits = {} }: MemorySearch): AgentMemorySettings["query"] {
  const {
    enabled = true,
    vectorWeight = 0.7,
    textWeight = 0.3,
    candidateMultiplier = 4,
    mmr = {},
    temporalDecay = {},
  } = query.hybrid ?? {};
  const sum = vectorWeight + textWeight;
  const weights = sum > 0 ? { vectorWeight: vectorWeight / sum, textWeight: textWeight / sum } : { vectorWeight: 0.7, textWeight: 0.3 };
  return {
    maxResults: limits.maxResults ?? query.maxResults ?? 6,
    minScore: query.minScore ?? 0.35,
    candidateMultiplier,
    hybrid: { enabled, ...weights },
    mmr: { enabled: mmr.enabled ?? false, lambda: mmr.lambda ?? 0.7 },
    temporalDecay: { enabled: temporalDecay.enabled ?? false, halfLifeDays: Math.max(1, Math.floor(temporalDecay.halfLifeDays ?? 30)) },
  };
}

function indexSettings(merged: MemorySearch, agent: AgentInfo, stateDir: string): IndexSettings {
  const { store = {}, sync = {}, cache = {} } = merged;
  const batch = merged.remote?.batch ?? {};
  const tokens = merged.chunking?.tokens ?? 400;
  const template = store.path ?? join(stateDir, "memory", "{agentId}.sqlite");
  const extraPaths = (merged.extraPaths ?? []).map((path) => path.trim()).filter((path) => path !== "");
  const extensionPath = store.vector?.extensionPath;
  return {
    agentId: agent.id,
    workspace: resolve(agent.workspace),
    dbPath: resolve(expandPath(template.replaceAll("{agentId}", agent.id), stateDir)),
    extraPaths: [...new Set(extraPaths.map((path) => resolve(expandPath(path, agent.workspace))))],
    sources: sourcesOf(merged),
    chunking: { tokens, overlap: Math.min(merged.chunking?.overlap ?? 80, tokens - 1) },
    tokenizer: store.fts?.tokenizer ?? "unicode61",
    vector: { enabled: store.vector?.enabled ?? true, extensionPath: extensionPath && resolve(expandPath(extensionPath, stateDir)) },
    multimodal: { modalities: modalitiesOf(merged), maxFileBytes: merged.multimodal?.maxFileBytes ?? 10_000_000 },
    cache: { enabled: cache.enabled ?? false, maxEntries: cache.maxEntries ?? 50_000 },
    batch: {
      enabled: batch.enabled ?? false,
      wait: batch.wait ?? true,
      concurrency: batch.concurrency ?? 2,
      pollIntervalMs: batch.pollIntervalMs ?? 2_000,
      timeoutMs: (batch.timeoutMinutes ?? 60) * 60_000,
    },
    sessions: { deltaBytes: sync.sessions?.deltaBytes ?? 100_000, deltaMessages: sync.sessions?.deltaMessages ?? 50 },
    watchDebounceMs: sync.watchDebounceMs ?? 1_500,
  };
}

/** Sorted, because the order changes nothing and the index would else be rebuilt. */
function sourcesOf({ sources, experimental }: MemorySearch): MemorySource[] {
  const usable = [...new Set(sources ?? [])].filter((source) => source === "memory" || experimental?.sessionMemory === true).sort();
  return usable.length > 0 ? usable : ["memory"];
}

/** Sorted; on without a list means both. */
function modalitiesOf({ multimodal }: MemorySearch): Modality[] {
  if (!multimodal?.enabled) return [];
  const wanted = multimodal.modalities ?? ["all"];
  return (["audio", "image"] as const).filter((one) => wanted.includes("all") || wanted.includes(one));
}

/** Field by field, the agent's value first; extra paths of both, those of the defaults first. */
function mergeSearch(defaults: MemorySearch, own: MemorySearch): MemorySearch {
  const merged = mergeObjects(defaults, own) as MemorySearch;
  const extraPaths = [...(defaults.extraPaths ?? []), ...(own.extraPaths ?? [])];
  return { ...merged, extraPaths };
}

function mergeObjects(base: object, over: object): object {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isRecord(below) && isRecord(value) ? mergeObjects(below, value) : (value ?? below);
  }
  return merged;
}

function sharers(one: AgentMemorySettings, all: readonly AgentMemorySettings[]): string[] {
  if (!one.enabled) return [];
  return all
    .filter((other) => other.agentId !== one.agentId && other.enabled && other.index.dbPath === one.index.dbPath)
    .map((other) => other.agentId);
}

/** Config issues: agents that would write the same database. One issue for each database. */
export function sharedStoreIssues(all: readonly AgentMemorySettings[]): Array<{ path: string; message: string }> {
  const first = all.filter((one) => one.sharedWith.length > 0 && all.find((other) => other.index.dbPath === one.index.dbPath) === one);
  return first.map(({ agentId, sharedWith, index }) => ({
    path: "agents.defaults.memorySearch.store.path",
    message: `agents ${[agentId, ...sharedWith].join(", ")} share the memory index ${index.dbPath}; expected one file for each agent; put "{agentId}" into the path`,
  }));
}

/** Reports these issues when a config is checked. */
export function checkSharedStores(ctx: Pick<PluginContext, "on">, stateDir: string): void {
  ctx.on("config.validate", ({ config }, meta) => {
    for (const issue of sharedStoreIssues(resolveMemorySettings(config, stateDir))) meta.report(issue);
  });
}
