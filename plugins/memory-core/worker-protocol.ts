import type { PlainError } from "svc/sdk";
import type { LeftOut } from "./engine/document-guard.ts";
import type { GetOutcome, LineRange } from "./engine/get-file.ts";
import type { IndexHit, SearchParams } from "./engine/search-types.ts";
import type { ProviderFacts } from "./index-settings.ts";
import type { PackedTexts } from "./packed-texts.ts";

export interface SearchRequest extends SearchParams {
  timeoutMs: number;
  /** Whether a background sync follows the answer. */
  syncAfter: "never" | "if-dirty" | "always";
}

export interface SearchReply {
  hits: IndexHit[];
  partial: boolean;
  mode: "hybrid" | "vector" | "fts-only";
  /** Adapter and model whose vectors were compared; absent when only words were searched. */
  embedder?: { provider: string; model: string };
  /** Answered with less than is configured: why, for people. */
  degraded?: string;
  /** Reason why nothing can be searched at present. Set by the main thread. */
  outage?: string;
}

export interface SyncRequest {
  force: boolean;
  reason: string;
  /** Only these transcripts, at once, whatever their thresholds; queues behind a running sync. */
  sessionIds?: string[];
  /** Lifts the quarantine of documents that stopped the index. */
  retryLeftOut?: boolean;
}

export interface SyncReply {
  started: boolean;
  joined: boolean;
}

/** State of an index that the main thread knows without asking. */
export interface IndexState {
  files: number;
  chunks: number;
  dirty: boolean;
  syncing: boolean;
  watching: boolean;
  /** Adapter and model that the live index holds vectors of. */
  vectors?: { provider: string; model: string; dims: number };
  lastSyncAt?: number;
  /** Duration until it was committed. */
  lastSyncMs?: number;
  lastError?: string;
  /** Documents that are not in the index; at most 100 of `total`. */
  leftOut?: { documents: LeftOut[]; total: number };
  /** The thread has ended or does not answer, for the reason in `lastError`: nothing can be searched until it runs again. Set by the main thread. */
  isDown?: true;
}

export interface FileSummary {
  path: string;
  source: string;
  chunks: number;
  mtime: number;
}

export interface StatusReply extends IndexState {
  sourceCounts: Array<{ source: string; files: number; chunks: number }>;
  vector: { available: boolean; backend: "sqlite-vec" | "in-process"; loadError?: string; dims?: number };
  cacheEntries: number;
  batch: { failures: number; limit: number; lastError?: string };
  fileList?: FileSummary[];
  truncated?: boolean;
}

/** Requests by method: parameters and answer. */
export interface IndexMethods {
  search: { params: SearchRequest; reply: SearchReply };
  get: { params: { path: string; range: LineRange }; reply: GetOutcome };
  sync: { params: SyncRequest; reply: SyncReply };
  status: { params: { files: boolean }; reply: StatusReply };
  reset: { params: Record<string, never>; reply: { removed: boolean } };
  watch: { params: Record<string, never>; reply: { watching: boolean } };
  /**
   * Provider that embeds from now on. `null` with `keepVectors`: nobody for the moment (no key, an outage), vectors that are there stay and words are searched;
   * `null` without: keyword-only by choice. Another provider than the index was made with starts a full rebuild beside it.
   */
  provider: { params: { provider: ProviderFacts | null; keepVectors: boolean; reason?: string }; reply: { accepted: true } };
  /** Sessions that have grown: what the thread adds to its accounts. */
  sessionsGrown: {
    params: { grown: Array<{ sessionId: string; bytes: number; messages: number; isReset: boolean }> };
    reply: { accepted: true };
  };
  close: { params: Record<string, never>; reply: { closed: true } };
}

export type IndexMethod = keyof IndexMethods;

export interface WorkerRequest {
  id: number;
  method: IndexMethod;
  params: IndexMethods[IndexMethod]["params"];
}

export type WorkerFault = PlainError;

/** One message of a transcript, its text blocks joined, as it was said: the thread masks secrets before anything else sees it. */
export interface TranscriptMessage {
  /** Number in its session. */
  seq: number;
  role: "user" | "assistant";
  text: string;
  /** Epoch ms. */
  ts: number;
}

/** A part of a transcript, in order. */
export interface TranscriptPage {
  messages: TranscriptMessage[];
  /** Records the whole transcript has in the store, those left out included. */
  total: number;
  /** `after` of the next page; absent at the end. */
  next?: number;
}

/** Requests of the thread to the main thread, where plugins and the store live. Answers to calls that were given up are dropped. */
export interface HostMethods {
  embedQuery: { params: { text: string }; reply: Float32Array };
  embed: { params: { texts: string[] }; reply: Float32Array[] };
  embedMedia: { params: { inputs: Array<{ text: string; mime: string; data: Uint8Array }> }; reply: Float32Array[] };
  /** The memory of the texts is moved. */
  batchSubmit: { params: { texts: PackedTexts; tag: string }; reply: { job: string } };
  batchPoll: { params: { job: string }; reply: { state: "pending" | "done" } | { state: "failed"; message: string } };
  /** At most 50,000 results; `vectors[i]` is text where input `i` failed. */
  batchResults: { params: { job: string; count: number }; reply: Array<Float32Array | string> };
  batchEnd: { params: { job: string; cancel: boolean }; reply: { ended: true } };
  /** Sessions of the agent that belong into memory, newest first, at most 10,000. */
  listSessions: { params: Record<string, never>; reply: Array<{ sessionId: string; messages: number }> };
  /** Messages with a number above `after`. Undefined when the transcript is gone or does not belong into this agent's memory. */
  readSession: { params: { sessionId: string; after: number }; reply: TranscriptPage | undefined };
}

export type HostMethod = keyof HostMethods;

/** From the thread: a call, or that it is not waited for any more. */
export type HostCall = { call: number; host: HostMethod; params: HostMethods[HostMethod]["params"] } | { call: number; abandoned: true };

/** To the thread. `fault.code` is `embedding` for an `EmbeddingError`: then `fields` are `fault`, `message`, `status?`, `retryAfterMs?`. */
export type HostAnswer = { answer: number; value: unknown } | { answer: number; fault: WorkerFault };

export type ProgressPhase = "scan" | "embed" | "write" | "swap" | "done" | "error";

export interface IndexProgress {
  phase: ProgressPhase;
  done: number;
  total: number;
  error?: string;
}

/** Things the worker tells without being asked. */
export type WorkerNews =
  | { news: "state"; state: IndexState }
  | { news: "progress"; progress: IndexProgress }
  | { news: "synced"; files: number; chunks: number; ms: number }
  /** Embedding a document failed after all retries: the owner decides about the fallback. */
  | { news: "embedding-failed"; provider: string; fault: string; message: string }
  | { news: "log"; level: "info" | "warn" | "error"; message: string };

export type WorkerMessage =
  | WorkerNews
  | HostCall
  | { id: number; reply: unknown }
  /** Interim result of a search. */
  | { id: number; interim: SearchReply }
  | { id: number; fault: WorkerFault };
