import { join, resolve } from "node:path";
import { type AgentInfo, expandPath, resolveAgents, type SvcConfig } from "svc/sdk";
import { isInside } from "svc/sdk/internal";
import { type Collection, type FolderEntry, type ResolvedCollections, resolveCollections } from "./collections.ts";

type Sidecar = SvcConfig["memory"]["sidecar"];
type MemorySearch = NonNullable<SvcConfig["agents"]["defaults"]["memorySearch"]>;

/** Modes of a search: words, vectors, or expansion and reranking. */
export type SearchMode = Sidecar["searchMode"];

/** Everything that is settled about one agent's sidecar. */
export interface SidecarSettings {
  agentId: string;
  /** Absolute. */
  workspace: string;
  /** Folder of the engine's config and index of this agent. */
  home: string;
  /** First word of `command`. */
  command: string;
  searchMode: SearchMode;
  collections: Collection[];
  skipped: ResolvedCollections["skipped"];
  sessions: { exportDir: string; retentionDays: number | undefined } | undefined;
  update: {
    /** 0: off. */
    intervalMs: number;
    debounceMs: number;
    onBoot: boolean;
    waitForBootSync: boolean;
    /** Time between embed runs; 0: only forced ones and the first; undefined: none at all. */
    embedIntervalMs: number | undefined;
    commandTimeoutMs: number;
    updateTimeoutMs: number;
    embedTimeoutMs: number;
  };
  limits: { maxResults: number; maxSnippetChars: number; maxInjectedChars: number; timeoutMs: number };
  scope: Sidecar["scope"];
  /** Files are watched, and a search brings the index up to date first. */
  sync: { watch: boolean; onSearch: boolean };
}

const EMBED_INTERVAL_MS = 3_600_000;

/** True while `memory.backend` names this engine, by either of its names. */
export function isChosen({ memory }: SvcConfig): boolean {
  return memory.backend === "sidecar" || memory.backend === "qmd";
}

/** Settings of every agent whose memory is on; none while another engine is chosen. Pure. */
export function resolveSidecarSettings(config: SvcConfig, stateDir: string): SidecarSettings[] {
  if (!isChosen(config)) return [];
  const agents = resolveAgents(config, stateDir).filter(({ id }) => searchOf(config, id).enabled !== false);
  return agents.map((agent) => settingsOf(config, { agent, agents, stateDir }));
}

interface Place {
  agent: AgentInfo;
  agents: readonly AgentInfo[];
  stateDir: string;
}

function settingsOf(config: SvcConfig, place: Place): SidecarSettings {
  const { agent, stateDir } = place;
  const { command, searchMode, includeDefaultMemory, paths, update, scope } = config.memory.sidecar;
  const search = searchOf(config, agent.id);
  const workspace = resolve(agent.workspace);
  const sessions = sessionsOf(config.memory.sidecar, place);
  const resolved = resolveCollections({
    agentId: agent.id,
    workspace,
    includeDefaultMemory,
    paths,
    extraPaths: search.extraPaths,
    extraCollections: search.extraCollections,
    exportDir: sessions?.exportDir,
    isTranscriptFolder: transcriptFolders(config, place),
  });
  return {
    agentId: agent.id,
    workspace,
    home: join(stateDir, "agents", agent.id, "sidecar"),
    command: firstWord(command),
    searchMode,
    ...resolved,
    sessions,
    update: { ...update, intervalMs: update.interval, embedIntervalMs: embedEvery(searchMode, update.embedInterval) },
    limits: limitsOf(config.memory.sidecar.limits, search.limits),
    scope,
    sync: { watch: search.sync.watch ?? true, onSearch: search.sync.onSearch ?? true },
  };
}

/** Searching by words needs no models, so they are made only where somebody asks for them. */
function embedEvery(mode: SearchMode, interval: number | undefined): number | undefined {
  return interval ?? (mode === "search" ? undefined : EMBED_INTERVAL_MS);
}

type Limits = { [K in keyof SidecarSettings["limits"]]?: number | undefined };

function limitsOf(own: Limits, shared: Limits): SidecarSettings["limits"] {
  return {
    maxResults: own.maxResults ?? shared.maxResults ?? 6,
    maxSnippetChars: own.maxSnippetChars ?? shared.maxSnippetChars ?? 700,
    maxInjectedChars: own.maxInjectedChars ?? shared.maxInjectedChars ?? 4_000,
    timeoutMs: own.timeoutMs ?? shared.timeoutMs ?? 4_000,
  };
}

interface AgentSearch {
  enabled: boolean | undefined;
  extraPaths: string[];
  extraCollections: FolderEntry[];
  limits: Limits;
  sync: { watch?: boolean | undefined; onSearch?: boolean | undefined };
}

/** The part of `memorySearch` that counts here: the agent's fields win, lists are joined. */
function searchOf(config: SvcConfig, agentId: string): AgentSearch {
  const defaults: MemorySearch = config.agents.defaults.memorySearch ?? {};
  const own: MemorySearch = config.agents.list.find(({ id }) => id === agentId)?.memorySearch ?? {};
  return {
    enabled: own.enabled ?? defaults.enabled,
    extraPaths: [...(defaults.extraPaths ?? []), ...(own.extraPaths ?? [])].filter((path) => path.trim() !== ""),
    extraCollections: [...(defaults.sidecar?.extraCollections ?? []), ...(own.sidecar?.extraCollections ?? [])],
    limits: { ...defaults.limits, ...own.limits, maxResults: maxResultsOf(own) ?? maxResultsOf(defaults) },
    sync: { ...defaults.sync, ...own.sync },
  };
}

function maxResultsOf({ limits, query }: MemorySearch): number | undefined {
  return limits?.maxResults ?? query?.maxResults;
}

function sessionsOf(sidecar: Sidecar, place: Place): SidecarSettings["sessions"] {
  const { enabled, retentionDays } = sidecar.sessions;
  return enabled ? { exportDir: exportDirOf(sidecar, place), retentionDays } : undefined;
}

/**
 * Folder of an agent's exported transcripts. A relative one is below the agent's own state; agents that would share one get a folder each below it, because
 * every agent deletes files without a session there.
 */
function exportDirOf({ sessions }: Sidecar, { agent, agents, stateDir }: Place): string {
  const given = sessions.exportDir;
  const folderOf = (agentId: string) => {
    const state = join(stateDir, "agents", agentId);
    return resolve(given === undefined ? join(state, "sidecar", "sessions") : expandPath(given.replaceAll("{agentId}", agentId), state));
  };
  const own = folderOf(agent.id);
  const isShared = agents.some(({ id }) => id !== agent.id && folderOf(id) === own);
  return isShared ? join(own, agent.id) : own;
}

function transcriptFolders({ memory }: SvcConfig, place: Place): (path: string) => boolean {
  const folders = place.agents.flatMap((agent) => [
    exportDirOf(memory.sidecar, { ...place, agent }),
    join(place.stateDir, "agents", agent.id, "sidecar", "sessions"),
  ]);
  return (path) => folders.some((folder) => path === folder || isInside(folder, path));
}

/** The first word as a shell would read it: quotes hold blanks together. */
export function firstWord(command: string): string {
  const [, double, single, bare] = /^\s*(?:"([^"]*)"|'([^']*)'|(\S+))/.exec(command) ?? [];
  return double ?? single ?? bare ?? command;
}
