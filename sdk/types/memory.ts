/** One passage found in memory. Lines are 1-based and inclusive. */
export interface MemoryHit {
  path: string;
  startLine: number;
  endLine: number;
  score: number;
  vectorScore?: number;
  textScore?: number;
  snippet: string;
  source: "memory" | "sessions";
  /** `<path>#L<start>` or `<path>#L<start>-L<end>`; absent with citations off. */
  citation?: string;
}

/** What narrows a search. */
export interface MemorySearchOptions {
  maxResults?: number;
  minScore?: number;
  corpus?: "memory" | "sessions" | "all";
  /** Decides about citations in `auto` mode. */
  sessionKey?: string;
  /** Replaces the configured mode, for callers that show places themselves. */
  citations?: "auto" | "on" | "off";
  signal?: AbortSignal;
}

/** Hits, best first, and how they were found. */
export interface MemorySearchResult {
  results: MemoryHit[];
  provider: string;
  model: string;
  fallback: string | null;
  citations: "auto" | "on" | "off";
  mode: "hybrid" | "vector" | "fts-only";
  partial?: boolean;
  disabled?: boolean;
  unavailable?: boolean;
  error?: string;
  warning?: string;
  action?: string;
}

/** How far a sync is; `total` is 0 while it is not known. */
export interface MemoryProgress {
  phase: "scan" | "embed" | "write" | "swap" | "done" | "error";
  done: number;
  total: number;
  error?: string;
}

/** State of one agent's memory. */
export interface MemoryStatus {
  agentId: string;
  backend: string;
  workspace: string;
  files: number;
  chunks: number;
  dirty: boolean;
  syncing: boolean;
  dbPath: string;
  provider: string;
  model: string;
  requestedProvider: string;
  sources: string[];
  sourceCounts: Array<{ source: string; files: number; chunks: number }>;
  fts: { enabled: boolean; available: boolean; error?: string };
  custom: { searchMode: string };
  lastSyncAt?: number;
  lastError?: string;
  fileList?: Array<{ path: string; source: string; chunks: number; mtime: number }>;
  truncated?: boolean;
}

/** How much one agent's memory holds, as far as it is known without a look. */
export interface MemoryFigures {
  files: number;
  chunks: number;
  /** Files have changed since, or nothing is known yet. */
  dirty: boolean;
  provider: string;
}

/** Service `memory@1`; the tools, the RPCs and the CLI are its three faces. */
export interface Memory {
  /** @throws {SvcError} `unknown-agent`, `invalid-query` */
  search(agentId: string, query: string, options?: MemorySearchOptions): Promise<MemorySearchResult>;
  get(
    agentId: string,
    path: string,
    range?: { from?: number; lines?: number },
  ): Promise<{ path: string; text: string; from: number; totalLines: number; truncated?: boolean; disabled?: boolean; error?: string }>;
  status(agentId: string, options?: { files?: boolean }): Promise<MemoryStatus>;
  /** From what is at hand: no index is opened or asked. Undefined for an agent without a memory. */
  figures(agentId: string): MemoryFigures | undefined;
  /** Joins a running sync. Resolves when the index is up to date. */
  sync(
    agentId: string,
    options?: { force?: boolean; reason?: string; signal?: AbortSignal; onProgress?(progress: MemoryProgress): void },
  ): Promise<{ started: boolean; joined: boolean }>;
  reset(agentId: string): Promise<{ removed: boolean }>;
}
