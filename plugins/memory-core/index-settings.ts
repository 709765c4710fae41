/** FTS5 tokenizers on offer. */
export type Tokenizer = "unicode61" | "trigram";

/** What the index of one agent is made of; plain data, so that it can be handed to the worker. */
export interface IndexSettings {
  agentId: string;
  /** Absolute path. */
  workspace: string;
  /** Absolute path of the database. */
  dbPath: string;
  /** Absolute paths, in order. */
  extraPaths: string[];
  chunking: { tokens: number; overlap: number };
  tokenizer: Tokenizer;
  watchDebounceMs: number;
}
