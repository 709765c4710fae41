import type { JsonObject } from "./common.ts";

/** Source of a GGUF model. `name` is what messages and lists call it: no folder, no credential. */
export type LocalModelSource = { kind: "file"; path: string; name: string } | { kind: "reference"; uri: string; name: string };

/** The service `local-runtime@1`: GGUF models in a process of their own. Those who use the same model share it; an unused one is unloaded. */
export interface LocalRuntime {
  /** @throws {SvcError} `missing-dependency` while its packages are not installed; the message names the command */
  check(): Promise<void>;
  /**
   * Brings the file of a model to this machine; one that is there already is left alone. What was cut off is continued, by a later process too, and what came is checked
   * by the size and SHA-256 that its server announces. Its packages are not needed.
   * @throws {SvcError} `model-not-downloaded`; aborting rejects with the signal's reason
   */
  download(
    model: LocalModelDownload,
    options: { signal: AbortSignal; onProgress?(progress: { doneBytes: number; totalBytes: number }): void },
  ): Promise<{ path: string; bytes: number }>;
  /** Borrows a model for vectors; nothing is loaded before the first text. */
  embedder(model: LocalEmbedderOptions): LocalEmbedder;
  /** Borrows a model for answers; nothing is loaded before the first request. */
  chat(model: LocalChatOptions): LocalChat;
}

/** Model whose file is wanted here. */
export interface LocalModelDownload {
  source: LocalModelSource;
  /** Folder of downloaded models; undefined: the runtime's own. */
  directory?: string | undefined;
  /** SHA-256 of the file in hex, where the config names one. */
  sha256?: string | undefined;
}

/** Model for vectors; the same options mean the same model. */
export interface LocalEmbedderOptions {
  source: LocalModelSource;
  /** Size of the file, where it is one: a file that was replaced is another model. */
  size: number | undefined;
  /** Folder of downloaded models; undefined: the runtime's own. */
  directory: string | undefined;
  /** SHA-256 that a download has to have, in hex. */
  sha256?: string | undefined;
  /** Longer texts are cut. */
  maxTokens: number;
}

/** A borrowed model for vectors. */
export interface LocalEmbedder {
  /**
   * Vector of one text as the model gives it. Queries go before documents; a query never waits for a download.
   * @param options.signals each of them ends the wait; a text that was begun is computed to its end
   * @throws {EmbeddingError} `not-ready` for a query while the model is not on this machine, `overloaded` beyond 1,000 waiting texts
   */
  embed(text: string, options: { kind: "query" | "document"; signals: readonly AbortSignal[] }): Promise<Float32Array>;
  /** The last one who closes it unloads the model. Idempotent; 5 s at most. */
  close(): Promise<void>;
}

/** Model for answers; the same options mean the same model. */
export interface LocalChatOptions {
  source: LocalModelSource;
  size: number | undefined;
  /** Tokens of prompt and answer together; less where the model was trained for less or memory is short. */
  contextWindow: number;
}

/** A borrowed model for answers. */
export interface LocalChat {
  /**
   * One answer, in pieces; the last one is `finish`. Leaving early stops it.
   * @throws {ModelError} `context_overflow` that names the numbers, `model_not_found` for a file or a runtime that is not there, `overloaded`;
   * aborting rejects with the signal's reason at once
   */
  stream(request: LocalChatRequest, options: { signal: AbortSignal }): AsyncIterable<LocalChatPiece>;
  /** Tokens of prompt and answer together as the loaded model has them; undefined before it was loaded. */
  contextWindow(): number | undefined;
  /** True once it was closed, or the runtime that it came from. */
  readonly isClosed: boolean;
  /** As that of an embedder. */
  close(): Promise<void>;
}

/** Schema that an answer or the arguments of a function are held to: the part of JSON Schema that the runtime has a grammar for. */
export type LocalSchema = Readonly<JsonObject>;

/** Item of a conversation. */
export type LocalChatItem = { type: "system" | "user"; text: string } | { type: "model"; parts: LocalModelPart[] };

/** Part of an answer, in the order in which the model wrote them. */
export type LocalModelPart =
  | { type: "text"; text: string }
  | { type: "thought"; text: string }
  /** `raw`: the call as the model wrote it, from its `finish`; `startsGroup`: it was not made together with the one before it. */
  | { type: "call"; name: string; params: unknown; result: unknown; raw?: unknown; startsGroup?: boolean };

/** Request for one answer. An item of the model at the end is continued. */
export interface LocalChatRequest {
  history: LocalChatItem[];
  functions?: Readonly<Record<string, { description: string; params?: LocalSchema }>>;
  /** False: one call at a time. */
  parallelCalls?: boolean;
  /** Holds the answer to JSON, or to a schema; not together with functions. */
  json?: true | LocalSchema;
  sampling: LocalSampling;
  /** The same for all requests of one conversation: what was read of it is not read again. */
  cacheKey?: string;
}

/** Sampling of one answer; what is absent is the runtime's own choice. */
export interface LocalSampling {
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  minP?: number;
  seed?: number;
  repeatPenalty?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  stop?: string[];
  /** Longest reasoning; 0: none. */
  thoughtTokens?: number;
}

/** Piece of an answer, in the order of its arrival. */
export type LocalChatPiece =
  | { type: "text"; text: string }
  | { type: "thought"; text: string }
  /** Arguments of a call as they are written; `index` counts the calls of this answer. */
  | { type: "call"; index: number; name: string; text: string }
  | {
      type: "finish";
      reason: "stop" | "length" | "calls";
      /** Complete calls, by index. */
      calls: Array<{ name: string; params: unknown; raw: unknown }>;
      usage: LocalUsage;
    };

/** Tokens of one answer. */
export interface LocalUsage {
  /** Tokens of the prompt, and how many of them were known from an earlier request. */
  prompt: number;
  cached: number;
  output: number;
  thought: number;
}
