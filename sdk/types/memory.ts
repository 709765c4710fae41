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

/** Whether passages carry their source: always, never, or in direct chats only (`auto`). */
export type CitationMode = "auto" | "on" | "off";

/** Filters and limits of a search. */
export interface MemorySearchOptions {
  maxResults?: number;
  minScore?: number;
  corpus?: "memory" | "sessions" | "all";
  /** Decides about citations in `auto` mode. */
  sessionKey?: string;
  /** Replaces the configured mode, for callers that show places themselves. */
  citations?: CitationMode;
  signal?: AbortSignal;
}

/** Hits, best first, and how they were found. */
export interface MemorySearchResult {
  results: MemoryHit[];
  provider: string;
  model: string;
  /** Adapter, or memory backend with the reason, that failed and is replaced. */
  fallback: string | { from: string; reason: string } | null;
  citations: CitationMode;
  mode: "hybrid" | "vector" | "fts-only";
  partial?: boolean;
  /** Answered with less than is configured; `warning` says why. */
  degraded?: boolean;
  disabled?: boolean;
  unavailable?: boolean;
  error?: string;
  warning?: string;
  action?: string;
}

/** Progress of a sync; `total` is 0 while it is not known. */
export interface MemoryProgress {
  /** `download`: bytes of a model. */
  phase: "download" | "scan" | "embed" | "write" | "swap" | "done" | "error";
  done: number;
  total: number;
  error?: string;
}

/** Provider that is to be made ready. */
export interface MemoryPreparation {
  /** Id of an embedding adapter. */
  provider: string;
  /** Model of the adapter `local`; default: that of the config, then its own. */
  modelPath?: string;
  signal?: AbortSignal;
  /** `totalBytes` is 0 while it is not known. */
  onProgress?(progress: { doneBytes: number; totalBytes: number }): void;
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
  /** `backend`: what compares vectors; `dims` once there are vectors. */
  vector: { enabled: boolean; available: boolean; backend: "sqlite-vec" | "in-process"; loadError?: string; dims?: number };
  cache: { enabled: boolean; entries: number; maxEntries: number };
  batch: { enabled: boolean; failures: number; limit: number; lastError?: string };
  /** Adapter, or memory backend, that failed and is replaced by another one. */
  fallback?: { from: string; reason: string };
  /** Reason why there is no embedding provider, or error of its last call. */
  providerError?: string;
  /** Providers that detection considered when it found none, and what each lacks. */
  skipped?: Array<{ provider: string; reason: string }>;
  /** `deep` only: one query was embedded to see whether the provider answers. */
  probe?: { ok: boolean; ms: number; dims?: number; error?: string };
  custom: { searchMode: string };
  lastSyncAt?: number;
  /** Duration of the last sync, from its start until everything was committed. */
  lastSyncMs?: number;
  lastError?: string;
  /** Notes and transcripts that are not in the index, and why: at most 100 of `total`, first those that stopped it. */
  leftOut?: { documents: Array<{ path: string; reason: string }>; total: number };
  fileList?: Array<{ path: string; source: string; chunks: number; mtime: number }>;
  truncated?: boolean;
}

/** Size of one agent's memory, as far as it is known without reading the index. */
export interface MemoryFigures {
  files: number;
  chunks: number;
  /** Files have changed since, or nothing is known yet. */
  dirty: boolean;
  provider: string;
}

/** Texts to embed for somebody else than the index. */
export interface MemoryEmbedOptions {
  /** Another model of the agent's provider. */
  model?: string;
  /** Must be the agent's own provider, by the id of its adapter or of its vendor; `auto`: the detected one. */
  provider?: string;
  /** The caller has made sure that the agent may use another provider: then `provider` is any adapter, with the vendor's own key and address. */
  mayLeaveProvider?: boolean;
  /** Wins over `memorySearch.outputDimensionality`. */
  dimensions?: number;
  signal?: AbortSignal;
}

/** Vectors in input order. */
export interface MemoryEmbedding {
  provider: string;
  model: string;
  vectors: Float32Array[];
  /** As the vendor counted; 0 when it does not. */
  tokens: number;
}

/** A transcript that belongs into its agent's memory. */
export interface MemoryTranscript {
  sessionId: string;
  /** Name of the session for people. */
  name: string;
  /** Time of its last change, epoch ms. */
  updatedAt: number;
  /** One line a message, `User: …` or `Assistant: …`, secrets masked. Reads the transcript. */
  lines(): AsyncIterable<string>;
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
  /** @param options.deep asks the provider for one vector, 10 s at most */
  status(agentId: string, options?: { files?: boolean; deep?: boolean }): Promise<MemoryStatus>;
  /** From what is at hand: no index is opened or asked. Undefined for an agent without a memory. */
  figures(agentId: string): MemoryFigures | undefined;
  /** Configured mode, so that answers cite where passages do. Undefined for an agent without a memory; without this method it is `auto`. */
  citations?(agentId: string): CitationMode | undefined;
  /** Joins a running sync. Resolves when the index is up to date. */
  sync(
    agentId: string,
    options?: {
      force?: boolean;
      reason?: string;
      /** Only these transcripts, at once, whatever their thresholds. */
      sessionIds?: string[];
      signal?: AbortSignal;
      onProgress?(progress: MemoryProgress): void;
    },
  ): Promise<{ started: boolean; joined: boolean }>;
  reset(agentId: string): Promise<{ removed: boolean }>;
  /**
   * Brings to this machine what an embedding provider needs for an agent, such as the file of a model, whether the config names it yet or not.
   * @throws {SvcError} `unknown-agent`, `embedding-provider-unknown`, `embedding-provider-not-ready`
   */
  prepare?(agentId: string, preparation: MemoryPreparation): Promise<void>;
  /**
   * Transcripts of an agent, newest first, for backends with an index of their own: without those of jobs, heartbeats and helpers' machinery. At most 10,000.
   * @param options.updatedAfter only those that changed later, epoch ms
   */
  transcripts?(agentId: string, options?: { updatedAfter?: number }): AsyncIterable<MemoryTranscript>;
  /**
   * Embeds texts as documents with the agent's provider and model, also while its memory search is off; never with the fallback.
   * @throws {SvcError} `unknown-agent`, `embedding-provider-missing`, `embedding-provider-not-allowed`, `embedding-text-too-long` with its `index`
   * @throws {EmbeddingError} what the vendor answered
   */
  embed(agentId: string, texts: readonly string[], options?: MemoryEmbedOptions): Promise<MemoryEmbedding>;
}
