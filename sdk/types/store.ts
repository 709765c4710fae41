import type { JsonObject } from "./common.ts";
import type { Usage } from "./model.ts";

/** What the last run of a session came to, or is at. */
export type SessionStatus = "queued" | "running" | "done" | "failed" | "killed" | "timeout" | "interrupted";

/** One session: a key, its current transcript (`sessionId`) and what is remembered about it. Times are epoch ms. */
export interface SessionRow {
  key: string;
  sessionId: string;
  agentId: string;
  kind: "direct" | "group" | "global" | "unknown";
  createdAt: number;
  updatedAt: number;
  sessionStartedAt: number;
  lastInteractionAt?: number;
  status?: SessionStatus;
  lastRunId?: string;
  startedAt?: number;
  endedAt?: number;
  channel?: string;
  label?: string;
  derivedTitle?: string;
  lastMessagePreview?: string;
  model?: string;
  thinkingLevel?: string;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  archived: boolean;
  pinned: boolean;
  unread: boolean;
}

/** One part of a transcript record. */
export type MessageBlock =
  | { type: "text"; text: string }
  | { type: "image"; mimeType: string; data: string }
  | { type: "toolCall"; id: string; name: string; arguments: unknown };

/** One transcript record. `seq` is 1-based inside a session and given by the store. */
export interface MessageRow {
  id: string;
  seq: number;
  sessionId: string;
  ts: number;
  role: "user" | "assistant" | "toolResult";
  content: MessageBlock[];
  runId?: string;
  /** `toolResult` only. */
  toolCallId?: string;
  toolName?: string;
  isError?: boolean;
  /** Machine-readable form of a tool result. */
  details?: unknown;
  stopReason?: string;
  aborted?: boolean;
  usage?: Usage;
  provider?: string;
  model?: string;
  /** `inject`, `interrupted`, … */
  kind?: string;
}

/** Where a run is, or how it ended. */
export type RunState = "queued" | "running" | "ok" | "error" | "aborted" | "timeout" | "interrupted";

/** One agent run. Its id is the idempotency key of the request that started it. */
export interface RunRow {
  runId: string;
  sessionKey: string;
  sessionId: string;
  agentId: string;
  state: RunState;
  trigger: string;
  bootId: string;
  createdAt: number;
  startedAt?: number;
  endedAt?: number;
  outcome?: JsonObject;
}

/** An answer kept so that a repeated request gets the same. Times are epoch ms. */
export interface IdempotencyRow {
  family: string;
  key: string;
  value: JsonObject;
  createdAt: number;
  expiresAt: number;
}

/** Fields to change; `null` clears one that is optional. */
export type SessionPatch = {
  [Field in keyof SessionRow]?:
    | Exclude<SessionRow[Field], undefined>
    | (Record<never, never> extends Pick<SessionRow, Field> ? null : never);
};

/** Writes, executed in call order inside one transaction. A failed condition rejects the whole commit. */
export type StoreOp =
  /** `expectedSessionId`: the row's present transcript; else `session-changed`. `ifAbsent`: else `exists`. */
  | { op: "session.put"; session: SessionRow; ifAbsent?: boolean; expectedSessionId?: string }
  /** Merge into an existing row, `null` clears an optional field; `session-missing` when there is none. The key stays. */
  | { op: "session.patch"; key: string; patch: SessionPatch; expectedSessionId?: string }
  /** Result `{ removed }`: 1 or 0 sessions; messages are not counted. */
  | { op: "session.delete"; key: string; deleteTranscript: boolean; expectedSessionId?: string }
  /** Appends at the end of the transcript; result `{ seq }`. An `id` the transcript has already: `exists`. */
  | { op: "message.append"; message: Omit<MessageRow, "seq"> }
  /** Insert or replace. `ifAbsent`: else `exists` with the row. `ifState`: the present state, else `run-state`. */
  | { op: "run.put"; run: RunRow; ifAbsent?: boolean; ifState?: RunState[] }
  | { op: "idempotency.put"; row: IdempotencyRow; ifAbsent?: boolean }
  | { op: "kv.put"; scope: string; key: string; value: unknown }
  /** Result `{ removed }`: 1 or 0. */
  | { op: "kv.delete"; scope: string; key: string };

/** What an operation says of itself: `seq` of an appended record, rows `removed`. */
export type OpResult = { seq?: number; removed?: number };

/** Which sessions are listed; conditions are joined by "and". */
export interface SessionQuery {
  agentId?: string;
  archived?: boolean;
  label?: string;
  /** Case-insensitive part of key, label or title. */
  search?: string;
  /** Only rows updated at or after this time. */
  updatedAfter?: number;
  sortBy?: "updatedAt" | "lastInteractionAt";
  /** 1–1000 */
  limit: number;
  offset?: number;
}

/** Service `store@1`: the one writer of state. */
export interface Store {
  /**
   * One transaction of at most 10,000 ops; resolves after it is on disk (fsync). Commits happen in call order. The ops are copied at the call.
   * @param options.signal drops a commit that still waits (rejects with the signal's reason); one that was handed to the writer is carried out
   * @throws {SvcError} `exists`, `session-changed`, `session-missing`, `run-state`, `storage-busy`, `storage-unavailable`, `store-invalid-op`
   */
  commit(ops: StoreOp[], options?: { signal?: AbortSignal }): Promise<OpResult[]>;
  /** Reads are synchronous, bounded (≤ 1,000 rows) and see every resolved commit. */
  sessions: {
    get(key: string): SessionRow | undefined;
    bySessionId(sessionId: string): SessionRow | undefined;
    list(query: SessionQuery): { rows: SessionRow[]; total: number };
  };
  messages: {
    /** Newest page first to load, returned oldest first; `before` is a `seq`. */
    page(sessionId: string, options: { before?: number; limit: number }): MessageRow[];
    /** Oldest first, records with `seq > after`. */
    scan(sessionId: string, after: number, limit: number): MessageRow[];
    count(sessionId: string): number;
  };
  runs: {
    get(runId: string): RunRow | undefined;
    /** `queued` and `running` rows of any boot, oldest first, at most 1,000: settle them and ask again. */
    unfinished(): RunRow[];
  };
  idempotency: { get(family: string, key: string): IdempotencyRow | undefined };
  kv: { get(scope: string, key: string): unknown; list(scope: string, prefix: string): Array<{ key: string; value: unknown }> };
  status(): StoreStatus;
}

/** Whether the store takes commits, and what waits. */
export interface StoreStatus {
  /** Commits are taken. */
  ok: boolean;
  /** Why not. `io`: the disk fails; `down`: the writer thread restarts; `closed`: the gateway stops. All but `corrupt` and `closed` heal by themselves. */
  reason?: "full" | "readonly" | "corrupt" | "io" | "down" | "closed";
  /** Operations not yet on disk. */
  queued: number;
  /** Absolute path of the database. */
  path: string;
  /** At this start the database was damaged: where it was kept. A fresh one took its place. */
  damaged?: string;
  /** Rows that could not be read and were skipped, when there are any. */
  unreadableRows?: number;
}
