import type { MemoryHit, MemorySearchResult, MemoryStatus } from "./memory.ts";

/** Limits of one search that a backend has beside the question. */
export interface MemoryBackendSearch {
  maxResults?: number;
  /** As the caller gave it; without one the backend applies its own. */
  minScore?: number;
  /** Sources that the asking session may see; default all. */
  sources?: ReadonlyArray<MemoryHit["source"]>;
  /** Aborts at the time limit of the search at the latest. */
  signal?: AbortSignal;
}

/** Facts about one agent's memory that are at hand; `memorySearch.limits` fills in the limits that are missing. */
export interface MemoryBackendFacts {
  /** Default `fts-only`. */
  mode?: MemorySearchResult["mode"];
  /** Default: the id of the backend. */
  model?: string;
  limits?: { maxResults?: number; maxInjectedChars?: number; timeoutMs?: number };
  /** Sources that its index holds; default `memory` alone. */
  sources?: ReadonlyArray<MemoryHit["source"]>;
}

/** State of one agent's memory in a backend; what it does not tell is shown as absent. */
export type MemoryBackendStatus = Pick<MemoryStatus, "agentId" | "backend" | "files"> & Partial<MemoryStatus>;

/** Passage of a note as a backend reads it. */
export interface MemoryBackendText {
  path: string;
  text: string;
  /** First line of `text`, from 1; default the requested one. */
  from?: number;
  totalLines?: number;
  truncated?: boolean;
}

/**
 * A memory engine behind the tools of the plugin in the slot `memory`; chosen by `memory.backend`, which names its id.
 *
 * Whatever a backend cannot do is a rejection: the builtin engine answers in its place, and the backend is asked again after a minute, doubling to 15 minutes
 * while it keeps failing. After a rejected search it is prepared again (`sync` with the reason `start`), so it begins anew then.
 */
export interface MemoryBackend {
  id: string;
  /** Finds passages, best first, with snippets already cut to size; sources are cited by the caller. */
  search(agentId: string, query: string, options: MemoryBackendSearch): Promise<MemoryHit[]>;
  /**
   * Reads a note, or lines of it, by the path of a hit.
   * @throws {SvcError} `memory-note-missing` where a note may stand and none does; anything else for a path that is none of a note
   */
  get(agentId: string, path: string, range: { from?: number; lines?: number }): Promise<MemoryBackendText>;
  status(agentId: string, options?: { deep?: boolean }): Promise<MemoryBackendStatus>;
  /**
   * Brings the index up to date. Reason `start`, when the gateway has started, the agent is new or the backend failed before: makes it ready to search and
   * rejects when it cannot be; work that takes long goes on in the background then.
   */
  sync(agentId: string, options?: { force?: boolean; reason?: string; signal?: AbortSignal }): Promise<void>;
  /** Drops the index of an agent, never its notes. */
  reset?(agentId: string): Promise<{ removed: boolean }>;
  /** Read at each search; must do no work. */
  facts?(agentId: string): MemoryBackendFacts;
  /**
   * May passages be given to this session? Asked before each search, also while the builtin engine answers; without it every session may have them.
   * @param sessionKey absent: an operator or a job asks
   */
  mayAnswer?(agentId: string, sessionKey: string | undefined): boolean | Promise<boolean>;
  close(): Promise<void>;
}
