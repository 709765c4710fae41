import type { MemoryProgress } from "svc/sdk";
import { type MemoryIndex, type MemoryIndexOptions, openMemoryIndex } from "./open-memory-index.ts";
import type { AgentMemorySettings } from "./settings.ts";
import type { IndexState, SearchRequest } from "./worker-protocol.ts";

/** One agent's index with what decides when it is opened and brought up to date. */
export interface AgentMemory {
  readonly settings: AgentMemorySettings;
  /** Takes settings that need no other index. */
  adopt(settings: AgentMemorySettings): void;
  /** Opens the index on first use; its thread starts with the first request. */
  index(): MemoryIndex;
  /** Figures as last heard; undefined before the first use. */
  state(): IndexState | undefined;
  /** What a search by this session starts afterwards. */
  syncAfter(sessionKey: string | undefined): SearchRequest["syncAfter"];
  onProgress(listener: (progress: MemoryProgress) => void): () => void;
  /** @param graceMs how long open requests may still take */
  close(graceMs?: number): Promise<void>;
}

export type AgentMemoryEvents = Pick<MemoryIndexOptions, "onProgress" | "onSynced" | "onState" | "log" | "startAfter">;

/** Session keys remembered as seen; the oldest is forgotten and then costs one more background sync. */
const MAX_SESSIONS = 1_000;

export function createAgentMemory(first: AgentMemorySettings, events: AgentMemoryEvents): AgentMemory {
  let settings = first;
  const listeners = new Set<(progress: MemoryProgress) => void>();
  const sessions = new Set<string>();
  let index: MemoryIndex | undefined;

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
      index ??= openMemoryIndex({
        ...settings.index,
        ...events,
        onProgress(progress) {
          events.onProgress?.(progress);
          for (const listener of listeners) listener(progress);
        },
      });
      return index;
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
      await index?.close(graceMs);
      index = undefined;
    },
  };
}
