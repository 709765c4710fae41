import { join, resolve } from "node:path";
import { type AgentInfo, expandPath, resolveAgents, type SvcConfig } from "svc/sdk";
import type { IndexSettings } from "./index-settings.ts";

type MemorySearch = NonNullable<SvcConfig["agents"]["defaults"]["memorySearch"]>;

/** Everything that is settled about one agent's memory, defaults applied. */
export interface AgentMemorySettings {
  agentId: string;
  isDefault: boolean;
  enabled: boolean;
  requestedProvider: string;
  index: IndexSettings;
  query: { maxResults: number; minScore: number; candidateMultiplier: number };
  limits: { maxSnippetChars: number; maxInjectedChars: number | undefined; timeoutMs: number };
  sync: { watch: boolean; onSessionStart: boolean; onSearch: boolean; intervalMinutes: number };
  citations: "auto" | "on" | "off";
  /** Other agents that would write the same database. */
  sharedWith: string[];
}

/** Settings of every agent, in order. Pure. */
export function resolveMemorySettings(config: SvcConfig, stateDir: string): AgentMemorySettings[] {
  const all = resolveAgents(config, stateDir).map((agent) => settingsOf(config, agent, stateDir));
  return all.map((one) => ({ ...one, sharedWith: sharers(one, all) }));
}

function settingsOf(config: SvcConfig, agent: AgentInfo, stateDir: string): AgentMemorySettings {
  const own = config.agents.list.find((entry) => entry.id === agent.id)?.memorySearch;
  const merged = mergeSearch(config.agents.defaults.memorySearch ?? {}, own ?? {});
  const { query = {}, limits = {}, sync = {} } = merged;
  return {
    agentId: agent.id,
    isDefault: agent.isDefault,
    enabled: merged.enabled ?? true,
    requestedProvider: merged.provider ?? "auto",
    index: indexSettings(merged, agent, stateDir),
    query: {
      maxResults: limits.maxResults ?? query.maxResults ?? 6,
      minScore: query.minScore ?? 0.35,
      candidateMultiplier: query.hybrid?.candidateMultiplier ?? 4,
    },
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
    sharedWith: [],
  };
}

function indexSettings(merged: MemorySearch, agent: AgentInfo, stateDir: string): IndexSettings {
  const tokens = merged.chunking?.tokens ?? 400;
  const template = merged.store?.path ?? join(stateDir, "memory", "{agentId}.sqlite");
  const extraPaths = (merged.extraPaths ?? []).map((path) => path.trim()).filter((path) => path !== "");
  return {
    agentId: agent.id,
    workspace: resolve(agent.workspace),
    dbPath: resolve(expandPath(template.replaceAll("{agentId}", agent.id), stateDir)),
    extraPaths: [...new Set(extraPaths.map((path) => resolve(expandPath(path, agent.workspace))))],
    chunking: { tokens, overlap: Math.min(merged.chunking?.overlap ?? 80, tokens - 1) },
    tokenizer: merged.store?.fts?.tokenizer ?? "unicode61",
    watchDebounceMs: merged.sync?.watchDebounceMs ?? 1_500,
  };
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
    merged[key] = isPlain(below) && isPlain(value) ? mergeObjects(below, value) : (value ?? below);
  }
  return merged;
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
