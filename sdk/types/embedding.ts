import type { SvcConfig } from "../config/root.ts";
import type { Clock, Logger } from "./common.ts";

/** Text with inline media, for adapters that embed both. */
export type StructuredInput = Array<{ type: "text"; text: string } | { type: "media"; mime: string; data: Uint8Array }>;

/** One embedding model, ready to use (`embedding-adapters.md` 1). */
export interface EmbeddingProvider {
  /** Adapter id. */
  id: string;
  model: string;
  /** Length of every vector, when it is known before the first call. */
  dims?: number;
  /** True when every vector has length 1. */
  normalized?: boolean;
  maxInputTokens?: number;
  maxItemsPerRequest?: number;
  /** Vector of a search query. @throws {EmbeddingError} */
  embedQuery(text: string, options?: { signal?: AbortSignal }): Promise<Float32Array>;
  /** Vectors of documents, in input order, one per text. @throws {EmbeddingError} */
  embedBatch(texts: readonly string[], options?: { signal?: AbortSignal }): Promise<Float32Array[]>;
  embedBatchInputs?(inputs: readonly StructuredInput[], options?: { signal?: AbortSignal }): Promise<Float32Array[]>;
  close?(): Promise<void>;
}

/** What an adapter is created from. */
export interface EmbeddingContext {
  agentId: string;
  /** Model as configured, without a leading `<adapter>/`; undefined = the adapter's default. */
  model?: string;
  outputDimensionality?: number;
  /** The agent's `memorySearch.remote`, already resolved; absent for the fallback adapter. */
  remote?: { baseUrl?: string; apiKey?: string; headers?: Record<string, string> };
  /** Secrets read `__SVC_REDACTED__`; keys come through `secret`. */
  config: SvcConfig;
  /** A sensitive config value the adapter's manifest lists. */
  secret(path: string): string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  logger: Logger;
  clock: Clock;
  signal: AbortSignal;
}

/** One vendor or runtime that turns texts into vectors. */
export interface EmbeddingAdapter {
  /** `openai`, `local`, …: the value of `memorySearch.provider`. */
  id: string;
  transport: "remote" | "local";
  defaultModel: string;
  /** Lower is tried first; absent = never auto-detected. Third parties use more than 100. */
  autoSelectPriority?: number;
  supportsMultimodal?(model: string): boolean;
  /**
   * Opens the model. `identity` is hashed into the index identity: everything that changes vectors, no credentials.
   * @throws {EmbeddingError} class `no-credentials` lets auto-detection go on with the next adapter; any other class stops it
   */
  create(context: EmbeddingContext): Promise<{ provider: EmbeddingProvider; identity: Record<string, unknown> }>;
}

/** Why an embedding call failed; decides retry, fallback and what the operator is told. */
export type EmbeddingFault =
  | "no-credentials"
  | "auth"
  | "rate-limit"
  | "overloaded"
  | "timeout"
  | "network"
  | "invalid-request"
  | "too-long"
  | "bad-response";
