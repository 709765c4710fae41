import type { MemoryHit, MemoryStatus } from "./memory.ts";

/** A memory engine behind the tools of the plugin in the slot `memory`; chosen by `memory.backend`. */
export interface MemoryBackend {
  id: string;
  search(agentId: string, query: string, options: { maxResults?: number; minScore?: number; signal?: AbortSignal }): Promise<MemoryHit[]>;
  get(agentId: string, path: string, range: { from?: number; lines?: number }): Promise<{ path: string; text: string }>;
  status(agentId: string, options?: { deep?: boolean }): Promise<MemoryStatus>;
  sync(agentId: string, options?: { force?: boolean; reason?: string; signal?: AbortSignal }): Promise<void>;
  close(): Promise<void>;
}
