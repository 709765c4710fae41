import type { Disposable, JsonObject } from "./common.ts";
import type { Lease } from "./leases.ts";
import type {
  DeliveryCounts,
  DeliveryDir,
  DeliveryQuery,
  DeliveryRow,
  DeliveryState,
  IdempotencyRow,
  MessageRow,
  NewDelivery,
  RunRow,
  RunState,
  SessionPatch,
  SessionRow,
  SystemEventRow,
} from "./store-rows.ts";

/** Writes, executed in call order inside one transaction. A failed condition rejects the whole commit. */
export type StoreOp =
  /**
   * `expectedSessionId`: the row's present transcript; else `session-changed`. `ifAbsent`: else `exists`. `uniqueLabel`: no other session of the agent has the
   * label that the row has then; else `label-in-use`.
   */
  | { op: "session.put"; session: SessionRow; ifAbsent?: boolean; expectedSessionId?: string; uniqueLabel?: boolean }
  /**
   * Merges into an existing row, `null` clears an optional field; `session-missing` when there is none. The key stays. `add` grows counters of the row as it
   * is stored, so that two writers lose nothing.
   */
  | { op: "session.patch"; key: string; patch: SessionPatch; add?: SessionCounters; expectedSessionId?: string; uniqueLabel?: boolean }
  /** Deletes a session and the events that wait for it. Result `{ removed }`: 1 or 0 sessions. `ifNoEvents`: none waits, else `events-waiting`. */
  | { op: "session.delete"; key: string; deleteTranscript: boolean; expectedSessionId?: string; ifNoEvents?: boolean }
  /** Appends at the end of the transcript; result `{ seq }`. An `id` the transcript has already: `exists`. */
  | { op: "message.append"; message: Omit<MessageRow, "seq"> }
  /** Deletes the oldest records of a transcript that no session has, at most 500; result `{ removed }`, 0 when none is left or a session has it. */
  | { op: "transcript.prune"; sessionId: string }
  /**
   * Inserts or replaces. `ifAbsent`: else `exists` with the row. `ifState`: the present state, else `run-state`. `ifOwner`: the `bootId` of the present row,
   * else `fenced`: a run that another gateway has ended is not ended twice.
   */
  | { op: "run.put"; run: RunRow; ifAbsent?: boolean; ifState?: RunState[]; ifOwner?: string }
  /** Deletes the row of a run that has ended; result `{ removed }`: 1 or 0. One that has not: `run-state`. */
  | { op: "run.delete"; runId: string }
  | { op: "idempotency.put"; row: IdempotencyRow; ifAbsent?: boolean }
  /** Result `{ version }`. `ifAbsent`: else `exists`. `ifVersion`: the version of the present value, else `kv-changed`. */
  | { op: "kv.put"; scope: string; key: string; value: unknown; ifAbsent?: boolean; ifVersion?: number }
  /**
   * Appends to what waits for the session. Result `{ coalesced: true }` when its newest one says the same: nothing is added, a `wake` is remembered.
   * 1,000 of one session or 10,000 of all: `system-events-full`.
   */
  | { op: "systemEvent.add"; event: Omit<SystemEventRow, "id"> }
  /** Removes events that are on their way into a prompt; result `{ removed }`. `all`: every one of them is still there, else `events-taken`. */
  | { op: "systemEvent.take"; ids: number[]; all?: boolean }
  /**
   * Takes work on. Result `{ known }` with the present row, and nothing is added, when its key and fingerprint are known already: as long as that one has not
   * ended, and 24 h more, of `in` 7 days; a `uid` that is taken: `exists`. 2,000 unfinished ones of all kinds or 256 MiB of their payloads: `deliveries-full`.
   */
  | { op: "delivery.accept"; delivery: NewDelivery; at: number }
  /**
   * Begins a try: `accepted` (or `uncertain`) becomes `to`, `attempt` grows by one. Any other state: `delivery-state`. `attempt`: that of the row as it was read, else
   * `fenced`: another one has tried it meanwhile, and it may have to wait longer.
   */
  | { op: "delivery.claim"; uid: string; to: "running" | "sending"; leaseBoot: string; attempt?: number; at: number }
  /** Records a step of a row that is being executed, else `delivery-state`; by this owner and in this try of it, else `fenced`. */
  | { op: "delivery.step"; uid: string; leaseBoot: string; attempt: number; step: string; value: JsonObject; at: number }
  /**
   * Back into the queue. `from`: the states it may be in, else `delivery-state`. `owner`: see `DeliveryOwner`. `result`: why. `attempt` sets the count anew (an
   * operator's retry begins at 0); `expiresAt` gives it more time. The payload must still be there, else `delivery-state`.
   */
  | {
      op: "delivery.requeue";
      uid: string;
      from: readonly DeliveryState[];
      owner?: DeliveryOwner;
      to?: "accepted" | "uncertain";
      notBefore?: number;
      attempt?: number;
      expiresAt?: number;
      result?: JsonObject;
      at: number;
    }
  /** Ends it; `done` drops the payload at once. `from`: the states it may be in, else `delivery-state`. `owner`: see `DeliveryOwner`. */
  | {
      op: "delivery.finish";
      uid: string;
      from: readonly DeliveryState[];
      owner?: DeliveryOwner;
      state: "done" | "failed" | "expired";
      result: JsonObject;
      at: number;
    }
  /** Result `{ removed }`: 1 or 0. `ifVersion`: the version of the present value, else `kv-changed`. */
  | { op: "kv.delete"; scope: string; key: string; ifVersion?: number };

/** Counters of a session; what is added may be negative, the sum never is. */
export type SessionCounters = Partial<Record<"inputTokens" | "outputTokens" | "totalTokens" | "costNanos", number>>;

/**
 * Owner of a delivery that is `running` or `sending`, as it was read or claimed. A write that ends or requeues such a row names it, and one that does not is refused with
 * `fenced`; so is one that names it after another one has claimed the row, or the same one again. A row that has lost its owner, by damage, needs none.
 */
export type DeliveryOwner = Pick<DeliveryRow, "attempt"> & { leaseBoot: string };

/**
 * Result of an operation: `seq` of an appended record, rows `removed`, the `version` of a value, an event or a delivery that existed already.
 */
export type OpResult = { seq?: number; removed?: number; version?: number; coalesced?: true; known?: DeliveryRow };

/** Conditions of a whole commit. */
export interface CommitOptions {
  /** Drops a commit that is still waiting (rejects with the signal's reason); one that was handed to the writer is carried out. */
  signal?: AbortSignal;
  /** A lease that must still be held (`Leases.acquire`); else `fenced`, and nothing of the commit is stored. */
  fence?: Pick<Lease, "name" | "token">;
}

/**
 * Rows that may have changed. `keys`: session keys (`sessions`, `systemEvents`), ids of transcripts (`messages`), `runId` (`runs`), `uid` (`deliveries`), scopes (`kv`);
 * each once, at most 1,000. A session that is deleted with its transcript is one change of `sessions`.
 */
export interface StoreChange {
  kind: "sessions" | "messages" | "runs" | "deliveries" | "systemEvents" | "kv";
  keys: readonly string[];
}

/** One transcript, whether a session has it or not. */
export interface TranscriptInfo {
  sessionId: string;
  /** Time of its newest record, epoch ms. */
  lastAt: number;
  /** A session has it as its present transcript. */
  hasSession: boolean;
}

/**
 * `guilty`: it was the only delivery whose own step (the call of a model or of a platform) was under way when the process ended, and is charged a try.
 * `suspect`: others were under way, too; none of them is charged before it was tried alone.
 */
export type CrashVerdict = "guilty" | "suspect";

/**
 * Keeps suspects of a crash apart: one begins when nothing else is under way, of any queue, and nothing begins beside it before it has ended or has run for a
 * minute (doubled with each crash it was part of). So the next crash says who it was.
 */
export interface DeliveryGate {
  /** Suspects that are left of earlier crashes. */
  suspects(): string[];
  /** Number of crashes that a delivery was part of since it last ended a try; 0 for most. */
  suspicion(uid: string): number;
  /** Deliveries that may begin now. @param owner the queue that asks; it asks again within 5 s while one of its suspects is due */
  admit(owner: string, uids: readonly string[]): string[];
  /** A delivery is under way until it leaves. `isCleared`: its try has ended, whichever way, and the process with it has not. */
  enter(uid: string): { leave(end: { isCleared: boolean }): void };
  /** Called when something that had to wait may be admitted. */
  onFree(listener: () => void): Disposable;
}

/** Filter for listing sessions; conditions are joined by "and". */
export interface SessionQuery {
  agentId?: string;
  archived?: boolean;
  label?: string;
  spawnedBy?: string;
  /** Kinds that are left out. */
  withoutKinds?: ReadonlyArray<SessionRow["kind"]>;
  /** Case-insensitive part of key, label or title. */
  search?: string;
  /** Only rows updated at or after this time. */
  updatedAfter?: number;
  sortBy?: "updatedAt" | "lastInteractionAt";
  /** 1–1000 */
  limit: number;
  offset?: number;
}

/**
 * Service `store@2`: the one writer of state.
 *
 * Reads return promises, are bounded (≤ 1,000 rows) and see every commit that has resolved. Between a read and what follows from it others may write: a write that
 * rests on what was read carries a condition (`ifAbsent`, `ifState`, `ifVersion`, `from`, `owner`, `fence`).
 */
export interface Store {
  /**
   * Stores one transaction of at most 10,000 ops; resolves after it is on disk. Commits of one session, run, delivery or scope happen in call order. The ops are
   * copied at the call.
   * @throws {SvcError} `exists`, `session-changed`, `session-missing`, `label-in-use`, `run-state`, `kv-changed`, `events-taken`, `events-waiting`, `fenced`,
   *   `storage-busy`, `storage-unavailable`, `store-invalid-op`, `system-events-full`, `deliveries-full`, `delivery-state` (with the row)
   */
  commit(ops: StoreOp[], options?: CommitOptions): Promise<OpResult[]>;
  /**
   * Subscribes to changes, of every writer. The listener is called once per kind and group of commits, after they are stored and before `commit` resolves.
   * `"resync"`: changes may have been missed, read again whatever matters. Lossy: rows that are dropped for their age are not announced, so a waiter also
   * looks from time to time. A listener returns at once; what it throws is logged. At most 1,000 listeners.
   * @throws {SvcError} `busy`
   */
  changes(listener: (change: StoreChange | "resync") => void): Disposable;
  sessions: {
    get(key: string): Promise<SessionRow | undefined>;
    bySessionId(sessionId: string): Promise<SessionRow | undefined>;
    list(query: SessionQuery): Promise<{ rows: SessionRow[]; total: number }>;
    /** Another number after each change of a session that is known here, and after each resync. Never waits. */
    version(): number;
  };
  messages: {
    /**
     * Newest page first to load, returned oldest first; `before` is a `seq`. A page also ends before the record with which its JSON would be larger than
     * `maxBytes` (default 8 MiB), but not without a record: only an empty page is the last.
     */
    page(sessionId: string, options: { before?: number; limit: number; maxBytes?: number }): Promise<MessageRow[]>;
    /** Oldest first, records with `seq > after`; bounded as `page` is. */
    scan(sessionId: string, after: number, limit: number, options?: { maxBytes?: number }): Promise<MessageRow[]>;
    count(sessionId: string): Promise<number>;
  };
  transcripts: {
    /** Transcripts with at least one record, by `sessionId`, those behind `after`; `limit` 1–1000. */
    page(options: { after?: string; limit: number }): Promise<TranscriptInfo[]>;
    /** Disk space that state takes, without the payloads of unfinished deliveries; space that was freed and waits to be used again is not counted. */
    usedBytes(): Promise<number>;
  };
  runs: {
    get(runId: string): Promise<RunRow | undefined>;
    /** `queued` and `running` rows, oldest first, at most 1,000: settle them and ask again. `expired`: only those whose `bootId` owns no lease any more. */
    unfinished(options?: { expired?: boolean }): Promise<RunRow[]>;
  };
  idempotency: { get(family: string, key: string): Promise<IdempotencyRow | undefined> };
  systemEvents: {
    /** Lists waiting events of a session, oldest first; `limit` 1–1000. */
    pending(sessionKey: string, limit: number): Promise<SystemEventRow[]>;
    /** Sessions with an event that asked for a run at once, at most 1,000. */
    waking(): Promise<string[]>;
  };
  deliveries: {
    /** With its payload. A row whose payload does not parse has none, and `result.reason: "unreadable"`. */
    get(uid: string): Promise<DeliveryRow | undefined>;
    /** The row a repeated request means. */
    byKey(key: { idemScope: string; idemKey: string; fingerprint: string }): Promise<DeliveryRow | undefined>;
    /**
     * Lists deliveries to try now, oldest first, with payloads: `accepted` or `uncertain` rows whose time has come and which are the oldest unfinished of their
     * lane; at most `limit` (1–1000).
     */
    due(options: { dirs: readonly DeliveryDir[]; now: number; limit: number }): Promise<DeliveryRow[]>;
    /**
     * The earliest time at which a row that waits expires, or at which the oldest unfinished one of a lane may be tried; in the past when one may be tried
     * already, undefined when none waits.
     */
    nextAt(dirs: readonly DeliveryDir[]): Promise<number | undefined>;
    /** `running` and `sending` rows whose `leaseBoot` owns no lease any more, oldest first, at most `limit`. */
    abandoned(options: { dirs: readonly DeliveryDir[]; limit: number }): Promise<DeliveryRow[]>;
    /** Unfinished rows past their time, oldest first, at most `limit`. */
    overdue(options: { dirs: readonly DeliveryDir[]; now: number; limit: number }): Promise<DeliveryRow[]>;
    /** Without payloads. */
    list(query: DeliveryQuery): Promise<DeliveryRow[]>;
    counts(): Promise<DeliveryCounts>;
    /** Part of a delivery in an unclean end of the last process; undefined: none, its own step had not begun. */
    crashed(uid: string): CrashVerdict | undefined;
    gate: DeliveryGate;
  };
  kv: {
    get(scope: string, key: string): Promise<unknown>;
    /** The value with the version that `ifVersion` takes; a version is never given twice. */
    read(scope: string, key: string): Promise<{ value: unknown; version: number } | undefined>;
    list(scope: string, prefix: string): Promise<Array<{ key: string; value: unknown }>>;
  };
  status(): StoreStatus;
}

/** Whether the store takes commits, and what waits. */
export interface StoreStatus {
  /** Commits are taken. */
  ok: boolean;
  /**
   * Reason why not. `io`: the disk fails; `down`: the writer thread restarts; `closed`: the gateway stops. A store outside the process has three more, which the
   * embedded one never gives: `unreachable`: the database does not answer; `standby`: it is a copy that takes no writes; `fenced`: this gateway has lost its lease.
   * All but `corrupt` and `closed` heal by themselves.
   */
  reason?: "full" | "readonly" | "corrupt" | "io" | "down" | "closed" | "unreachable" | "standby" | "fenced";
  /** Reason why the gateway should get no new work: commits are refused, or what is stored is not where the next start will look for it. */
  notReady?: string;
  /** Operations not yet on disk. */
  queued: number;
  /** Kind of the database: `sqlite` is the embedded one. */
  backend: string;
  /** Location of the rows, without secrets. Embedded: absolute path of the database, of the file it went on in after another one took its place. */
  endpoint: string;
  /** At this start the database was damaged: where it was kept. */
  damaged?: string;
  /** At this start the database was damaged or missing: what took its place. */
  restored?: {
    /** Age of the snapshot, epoch ms; absent: there was none, and an empty database took its place. */
    snapshotAt?: number;
    /** Newer rows that were read from the damaged file. */
    salvagedRows: number;
    /** Upper bound of rows that were in the damaged file and could not be read. */
    unreadableRows: number;
  };
  /** When the newest snapshot was taken, epoch ms. */
  snapshotAt?: number;
  /** Rows that could not be read and were skipped, when there are any. */
  unreadableRows?: number;
}
