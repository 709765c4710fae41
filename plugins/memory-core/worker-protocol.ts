import type { GetOutcome, LineRange } from "./engine/get-file.ts";
import type { IndexHit, SearchParams } from "./engine/search.ts";
import type { ProgressPhase } from "./engine/sync.ts";

export interface SearchRequest extends SearchParams {
  timeoutMs: number;
  /** Whether a background sync follows the answer. */
  syncAfter: "never" | "if-dirty" | "always";
}

export interface SearchReply {
  hits: IndexHit[];
  partial: boolean;
}

export interface SyncRequest {
  force: boolean;
  reason: string;
}

export interface SyncReply {
  started: boolean;
  joined: boolean;
}

/** What the main thread knows of an index without asking. */
export interface IndexState {
  files: number;
  chunks: number;
  dirty: boolean;
  syncing: boolean;
  watching: boolean;
  lastSyncAt?: number;
  lastError?: string;
}

export interface FileSummary {
  path: string;
  source: string;
  chunks: number;
  mtime: number;
}

export interface StatusReply extends IndexState {
  sourceCounts: Array<{ source: string; files: number; chunks: number }>;
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
  close: { params: Record<string, never>; reply: { closed: true } };
}

export type IndexMethod = keyof IndexMethods;

export interface WorkerRequest {
  id: number;
  method: IndexMethod;
  params: IndexMethods[IndexMethod]["params"];
}

export interface WorkerFault {
  code: string;
  fields: Record<string, unknown>;
}

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
  | { news: "log"; level: "info" | "warn" | "error"; message: string };

export type WorkerMessage =
  | WorkerNews
  | { id: number; reply: unknown }
  /** What a search has found so far. */
  | { id: number; interim: SearchReply }
  | { id: number; fault: WorkerFault };
