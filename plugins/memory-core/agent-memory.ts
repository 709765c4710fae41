import type { MemoryProgress } from "svc/sdk";
import { memoryErrors } from "./errors.ts";
import { type MemoryIndex, type MemoryIndexOptions, openMemoryIndex, type ProviderAssignment } from "./open-memory-index.ts";
import type { AgentMemorySettings } from "./settings.ts";
import type { IndexState, SearchRequest } from "./worker-protocol.ts";

/** One agent's index with what decides when it is opened and brought up to date. */
export interface AgentMemory {
  readonly settings: AgentMemorySettings;
  /** Takes settings that need no other index. */
  adopt(settings: AgentMemorySettings): void;
  /** Opens the index on first use; its thread starts with the first request. @throws {SvcError} `memory-worker-down` when it was closed before: nobody would close that one */
  index(): MemoryIndex;
  /** Tells the index who embeds, now or when it is opened. */
  assign(assignment: ProviderAssignment): void;
  /** Figures as last heard; undefined before the first use. */
  state(): IndexState | undefined;
  /** Sync that a search by this session starts afterwards. */
  syncAfter(sessionKey: string | undefined): SearchRequest["syncAfter"];
  onProgress(listener: (progress: MemoryProgress) => void): () => void;
  /** @param graceMs how long open requests may still take */
  close(graceMs?: number): Promise<void>;
}

export type AgentMemoryEvents = Pick<
  MemoryIndexOptions,
  "onProgress" | "onSynced" | "onState" | "onEmbeddingFailed" | "handlers" | "log" | "startAfter" | "quarantine" | "threads"
>;

/** Session keys remembered as seen; the oldest is forgotten and then costs one more background sync. */
const MAX_SESSIONS = 1_000;

/** @param assigned who embeds at the moment, if that is known already */
export function createAgentMemory(first: AgentMemorySettings, events: AgentMemoryEvents, assigned?: ProviderAssignment): AgentMemory {
  let settings = first;
  let assignment = assigned;
  const listeners = new Set<(progress: MemoryProgress) => void>();
  const sessions = new Set<string>();
  let index: MemoryIndex | undefined;
  let isClosed = false;

  const isFirstSearch = (sessionKey: string) => {
    if (sessions.has(sessionKey)) return false;
    for (const oldest of sessions) {
      if (sessions.size < MAX_SESSIONS) break;
      sessions.delete(oldest);
    }
    sessions.add(sessionKey);
    return true;
  };

  return {
    get settings() {
      return settings;
    },
    adopt(next) {
      settings = next;
    },
    index() {
      if (index) return index;
      if (isClosed) throw memoryErrors.memoryWorkerDown({ agentId: settings.agentId, reason: "it was closed", retryMs: 0 });
      index = openMemoryIndex({
        ...settings.index,
        ...events,
        onProgress(progress) {
          events.onProgress?.(progress);
          for (const listener of listeners) listener(progress);
        },
      });
      if (assignment) index.assign(assignment);
      return index;
    },
    assign(next) {
      assignment = next;
      index?.assign(next);
    },
    state: () => index?.state(),
    syncAfter(sessionKey) {
      const { onSessionStart, onSearch } = settings.sync;
      if (onSessionStart && sessionKey !== undefined && isFirstSearch(sessionKey)) return "always";
      return onSearch ? "if-dirty" : "never";
    },
    onProgress(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close(graceMs) {
      isClosed = true;
      await index?.close(graceMs);
    },
  };
}
