import type { SvcConfig } from "../config/root.ts";
import type { Clock, Logger } from "./common.ts";

/** Text with inline media, for adapters that embed both. */
export type StructuredInput = Array<{ type: "text"; text: string } | { type: "media"; mime: string; data: Uint8Array }>;

/** Limits and progress of one call of a provider. */
export interface EmbedOptions {
  signal?: AbortSignal;
  /** Called once a request with the tokens that the vendor counted; never by adapters whose vendor does not count. */
  onUsage?(tokens: number): void;
}

/** One embedding model, ready to use. */
export interface EmbeddingProvider {
  /** Adapter id. */
  id: string;
  model: string;
  /** Length of every vector, when it is known before the first call. */
  dims?: number;
  /** True when every vector has length 1. */
  normalized?: boolean;
  /** Longest text in tokens. The index compares UTF-8 bytes with it (never fewer than tokens) and splits what is longer. */
  maxInputTokens?: number;
  /** Most texts in one request; the provider itself splits calls that hold more. */
  maxItemsPerRequest?: number;
  /** Most tokens in one request, all texts together; unset: the index sends at most 8,000 bytes at a time. */
  maxTokensPerRequest?: number;
  /** A server that loads its models when they are asked for: calls get the time limits of a local adapter. */
  loadsModel?: boolean;
  /** Vector of a search query. Never downloads or builds anything first: then it rejects with `not-ready`. @throws {EmbeddingError} */
  embedQuery(text: string, options?: EmbedOptions): Promise<Float32Array>;
  /** Vectors of documents, in input order, one per text. Their memory is the caller's, who may move it to another thread. @throws {EmbeddingError} */
  embedBatch(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
  embedBatchInputs?(inputs: readonly StructuredInput[], options?: EmbedOptions): Promise<Float32Array[]>;
  /** Idempotent; calls under way reject. */
  close?(): Promise<void>;
}

/** State of a batch job. `output` and `errors` are for `results` only. */
export type EmbeddingBatchState = { state: "pending" } | { state: "failed"; message: string } | { state: "done" };

/** One line of a batch's result: the vector of input `index`, or why there is none. */
export type EmbeddingBatchResult = { index: number; vector: Float32Array } | { index: number; error: string };

/** A vendor's API for many texts at once, at half the price and hours later. Who calls it decides about polls and time-outs. */
export interface EmbeddingBatch {
  /** Most texts of one job. */
  maxRequests: number;
  /**
   * Uploads the texts and creates a job. The job is text that `poll`, `results`, `cancel` and `cleanup` of any later process understand; it holds no credential.
   * @param tag recognises a creation that was repeated
   * @throws {EmbeddingError} `model` when this model or server has no batch API
   */
  submit(texts: readonly string[], options: { tag: string; signal?: AbortSignal }): Promise<string>;
  poll(job: string, options?: { signal?: AbortSignal }): Promise<EmbeddingBatchState>;
  /** Lines of a job that is done, in any order, read from the vendor as they are asked for. */
  results(job: string, options?: { signal?: AbortSignal }): AsyncIterable<EmbeddingBatchResult>;
  /** Best effort; never rejects. */
  cancel(job: string): Promise<void>;
  /** Deletes what was uploaded. Best effort; never rejects. */
  cleanup(job: string): Promise<void>;
}

/** Input for creating an adapter. Keys of the vendor come from the adapter's own plugin context (`ctx.secret`, `ctx.env`), never from here. */
export interface EmbeddingContext {
  agentId: string;
  /** Model as configured, maybe with a leading `<vendor>/`; undefined = the adapter's default. */
  model?: string;
  outputDimensionality?: number;
  /** `input_type` that the operator wants in requests, for servers that tell questions from documents by it; absent for the fallback adapter. */
  inputTypes?: { query?: string; document?: string };
  /** True when the adapter was chosen by auto-detection, so it must not wait for something that may not exist. */
  auto: boolean;
  /** The agent's `memorySearch.remote`, already resolved; absent for the fallback adapter. */
  remote?: { baseUrl?: string; apiKey?: string; headers?: Record<string, string> };
  /** The agent's `memorySearch.local`; `~` not yet expanded. */
  local?: { modelPath?: string; modelCacheDir?: string; sha256?: string };
  /** Every secret reads `__SVC_REDACTED__`. */
  config: SvcConfig;
  logger: Logger;
  clock: Clock;
  /** Aborted when the provider is of no use any more. */
  signal: AbortSignal;
}

/** An open model with what its vectors depend on. */
export interface OpenedEmbedding {
  provider: EmbeddingProvider;
  /** Hashed into the index identity: everything that changes vectors, no credentials. */
  identity: Record<string, unknown>;
  batch?: EmbeddingBatch;
}

/** One vendor or runtime that turns texts into vectors. */
export interface EmbeddingAdapter {
  /** `openai`, `local`, …: the value of `memorySearch.provider`. */
  id: string;
  /** Id of its vendor under `models.providers`, where that differs: a model may be prefixed with either (`google/…` for `gemini`). */
  vendor?: string;
  transport: "remote" | "local";
  defaultModel: string;
  /** Lower is tried first; absent = never auto-detected. Third parties use more than 100. */
  autoSelectPriority?: number;
  /** Whether this model takes images and sounds. */
  supportsMultimodal?(model: string): boolean;
  /**
   * Opens the model.
   * @throws {EmbeddingError} `no-credentials` lets auto-detection go on with the next adapter, any other fault stops it
   */
  create(context: EmbeddingContext): Promise<OpenedEmbedding>;
  /**
   * Brings to this machine what the model needs before it can embed, such as its file; at once when it is there. Absent: it needs nothing.
   * @throws {EmbeddingError} or {SvcError} that says what to do; aborting the context's signal rejects with its reason
   */
  prepare?(context: EmbeddingContext, options: { onProgress(progress: { doneBytes: number; totalBytes: number }): void }): Promise<void>;
}

/** Reasons why an embedding call failed; they decide retry, fallback and the message to the operator. */
export type EmbeddingFault =
  | "no-credentials"
  /** 401, 403: the key was rejected. Not tried again before the config changes. */
  | "auth"
  /** 404: model or address not found. */
  | "model"
  /** The model is not on this machine yet, or still loading; documents may be embedded, queries not. */
  | "not-ready"
  /** 429 about money: not tried again by itself. */
  | "quota"
  | "rate-limit"
  | "overloaded"
  | "timeout"
  | "network"
  /** 400, 422: one of the texts or the request itself. */
  | "invalid-request"
  /** 413: too much at once, or one text too long. */
  | "too-long"
  /** 2xx with a wrong count, shape, dimension, or a number that is none. */
  | "bad-response";
