/** FTS5 tokenizers on offer. */
export type Tokenizer = "unicode61" | "trigram";

/** Source of passages. */
export type MemorySource = "memory" | "sessions";

/** Kinds of files besides Markdown. */
export type Modality = "image" | "audio";

/** Settings of the index of one agent; plain data, so that it can be sent to the worker. */
export interface IndexSettings {
  agentId: string;
  /** Absolute path. */
  workspace: string;
  /** Absolute path of the database. */
  dbPath: string;
  /** Absolute paths, in order. */
  extraPaths: string[];
  /** Sorted; `sessions` only when session memory is on. */
  sources: MemorySource[];
  chunking: { tokens: number; overlap: number };
  tokenizer: Tokenizer;
  vector: { enabled: boolean; extensionPath: string | undefined };
  /** Empty `modalities`: off. */
  multimodal: { modalities: Modality[]; maxFileBytes: number };
  cache: { enabled: boolean; maxEntries: number };
  batch: { enabled: boolean; wait: boolean; concurrency: number; pollIntervalMs: number; timeoutMs: number };
  /** 0: any growth counts. */
  sessions: { deltaBytes: number; deltaMessages: number };
  watchDebounceMs: number;
}

/** The embedding provider of an index, as far as the thread needs to know it. The calls go to the main thread. */
export interface ProviderFacts {
  /** Adapter id. */
  id: string;
  model: string;
  /** sha256 of the adapter's identity data, hex. */
  providerKey: string;
  /** Set of time limits of its calls. */
  pace: "remote" | "local";
  dims?: number;
  maxInputTokens?: number;
  maxItemsPerRequest?: number;
  maxTokensPerRequest?: number;
  /** True when it embeds images and sounds. */
  multimodal: boolean;
  /** True when it has a batch API. */
  batch: boolean;
  /** Adapter it stands in for. */
  fallbackFor?: string;
}
