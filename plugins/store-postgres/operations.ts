import type { DeliveryOwner, SessionCounters, StoreOp } from "svc/sdk";
import { isWellFormed } from "svc/sdk/internal";
import { checkStepName, encodeDelivery, encodeNote, timeOf } from "./delivery-rows.ts";
import { Refusal } from "./refusal.ts";
import {
  type Columns,
  encodeIdempotency,
  encodeMessage,
  encodePatch,
  encodeRun,
  encodeSession,
  encodeSystemEvent,
  plainJson,
} from "./rows.ts";

/** A `StoreOp` as the functions of `sql-operations.ts` take it: columns, and JSON as text inside JSON. */
export type WriteOp =
  | { op: "session.put"; row: Columns; ifAbsent: boolean; expectedSessionId: string | null; uniqueLabel: boolean }
  | {
      op: "session.patch";
      key: string;
      columns: Columns;
      patch: object;
      add: SessionCounters;
      expectedSessionId: string | null;
      uniqueLabel: boolean;
    }
  | { op: "session.delete"; key: string; deleteTranscript: boolean; expectedSessionId: string | null; ifNoEvents: boolean }
  | { op: "message.append"; id: string; sessionId: string; ts: number; role: string; runId: string | null; body: string }
  | { op: "transcript.prune"; sessionId: string }
  | { op: "run.put"; row: Columns; ifAbsent: boolean; ifState: string[] | null; ifOwner: string | null }
  | { op: "run.delete"; runId: string }
  | { op: "idempotency.put"; row: Columns; ifAbsent: boolean }
  | { op: "kv.put"; scope: string; key: string; value: string; ifAbsent: boolean; ifVersion: number | null }
  /** `same`: digest of what tells it from the newest one of its session. */
  | { op: "systemEvent.add"; sessionKey: string; wake: number; same: string; body: string }
  | { op: "systemEvent.take"; ids: number[]; all: boolean }
  | { op: "delivery.accept"; row: Columns }
  | { op: "delivery.claim"; uid: string; to: string; leaseBoot: string; attempt: number | null; at: number }
  /** `member`: name and value as they stand in the JSON of all steps. */
  | { op: "delivery.step"; uid: string; leaseBoot: string; attempt: number; member: string; at: number }
  | {
      op: "delivery.requeue";
      uid: string;
      from: string[];
      owner: DeliveryOwner | null;
      to: string;
      notBefore: number | null;
      attempt: number | null;
      expiresAt: number | null;
      result: string | null;
      at: number;
    }
  | { op: "delivery.finish"; uid: string; from: string[]; owner: DeliveryOwner | null; state: string; result: string; at: number }
  | { op: "kv.delete"; scope: string; key: string; ifVersion: number | null }
  | LeaseOp;

/** Operations of `leases@1`. */
export type LeaseOp =
  /** Result: the token, as `version`. */
  | { op: "lease.acquire"; name: string; owner: string | null }
  | { op: "lease.release"; name: string; token: number }
  /** Condition of the commit that it stands first in. */
  | { op: "lease.check"; name: string; token: number };

/**
 * A snapshot of the operation: what the caller does to its objects afterwards changes nothing.
 * @throws {Refusal} `store-invalid-op` for what JSON cannot hold, and for ids that UTF-8 cannot hold
 */
export function encodeOp(op: StoreOp): WriteOp {
  try {
    const encoded = encode(op);
    checkIds(encoded);
    return encoded;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal("store-invalid-op", { reason: `${op.op} holds a value that is not JSON (${(error as Error).message})` });
  }
}

function encode(op: StoreOp): WriteOp {
  switch (op.op) {
    case "session.put":
      return { op: op.op, row: encodeSession(op.session), ifAbsent: op.ifAbsent ?? false, ...expected(op), ...labelRule(op) };
    case "session.patch":
      return { op: op.op, key: op.key, ...encodePatch(op.patch), add: checkCounters(op.add), ...expected(op), ...labelRule(op) };
    case "session.delete":
      return { op: op.op, key: op.key, deleteTranscript: op.deleteTranscript, ...expected(op), ifNoEvents: op.ifNoEvents ?? false };
    case "message.append":
      return { op: op.op, ...encodeMessage(op.message) };
    case "transcript.prune":
      return { op: op.op, sessionId: op.sessionId };
    case "run.put":
      return {
        op: op.op,
        row: encodeRun(op.run),
        ifAbsent: op.ifAbsent ?? false,
        ifState: op.ifState ? [...op.ifState] : null,
        ifOwner: op.ifOwner ?? null,
      };
    case "run.delete":
      return { op: op.op, runId: op.runId };
    case "idempotency.put":
      return { op: op.op, row: encodeIdempotency(op.row), ifAbsent: op.ifAbsent ?? false };
    case "kv.put":
      return {
        op: op.op,
        scope: op.scope,
        key: op.key,
        value: toJson(op.value),
        ifAbsent: op.ifAbsent ?? false,
        ifVersion: op.ifVersion ?? null,
      };
    case "systemEvent.add":
      return { op: op.op, ...encodeSystemEvent(op.event) };
    case "systemEvent.take":
      return { op: op.op, ids: [...op.ids], all: op.all ?? false };
    case "delivery.accept":
      return { op: op.op, row: encodeDelivery(op.delivery, op.at) };
    case "delivery.claim":
      return { op: op.op, uid: op.uid, to: op.to, leaseBoot: op.leaseBoot, attempt: op.attempt ?? null, at: timeOf(op.at) };
    case "delivery.step":
      return {
        op: op.op,
        uid: op.uid,
        leaseBoot: op.leaseBoot,
        attempt: op.attempt,
        member: `${plainJson(checkStepName(op.step))}:${encodeNote(op.value)}`,
        at: timeOf(op.at),
      };
    case "delivery.requeue":
      return encodeRequeue(op);
    case "delivery.finish":
      return {
        op: op.op,
        uid: op.uid,
        from: [...op.from],
        owner: ownerOf(op),
        state: op.state,
        result: encodeNote(op.result),
        at: timeOf(op.at),
      };
    case "kv.delete":
      return { op: op.op, scope: op.scope, key: op.key, ifVersion: op.ifVersion ?? null };
    default:
      throw new Refusal("store-invalid-op", { reason: `unknown operation "${String((op as { op?: unknown }).op)}"` });
  }
}

/** Columns that rows are found by, in the words of the operations and of the columns. */
const idNames = new Set(
  "key scope family uid lane id runId sessionId sessionKey session_id session_key run_id agent_id spawned_by idem_scope idem_key fingerprint name".split(
    " ",
  ),
);

/** An id that the database would not give back as it was is refused: callers would wait for the one they know. */
function checkIds(op: WriteOp): void {
  for (const part of [op, "row" in op ? op.row : {}, "columns" in op ? op.columns : {}]) {
    for (const [name, value] of Object.entries(part)) {
      if (!idNames.has(name) || typeof value !== "string" || (isWellFormed(value) && !value.includes("\0"))) continue;
      throw new Refusal("store-invalid-op", { reason: `${op.op} names an id with U+0000 or a lone surrogate (half a character)` });
    }
  }
}

function encodeRequeue(op: Extract<StoreOp, { op: "delivery.requeue" }>): WriteOp {
  const orNull = (value: number | undefined) => (value === undefined ? null : timeOf(value));
  return {
    op: op.op,
    uid: op.uid,
    from: [...op.from],
    owner: ownerOf(op),
    to: op.to ?? "accepted",
    notBefore: orNull(op.notBefore),
    attempt: orNull(op.attempt),
    expiresAt: orNull(op.expiresAt),
    result: op.result === undefined ? null : encodeNote(op.result),
    at: timeOf(op.at),
  };
}

function ownerOf({ owner }: { owner?: DeliveryOwner }): DeliveryOwner | null {
  return owner ? { leaseBoot: owner.leaseBoot, attempt: owner.attempt } : null;
}

function labelRule(op: { uniqueLabel?: boolean }): { uniqueLabel: boolean } {
  return { uniqueLabel: op.uniqueLabel ?? false };
}

const counters: ReadonlySet<string> = new Set(["inputTokens", "outputTokens", "totalTokens", "costNanos"]);

function checkCounters(add: SessionCounters = {}): SessionCounters {
  for (const [name, value] of Object.entries(add)) {
    if (!counters.has(name) || !Number.isSafeInteger(value))
      throw new Refusal("store-invalid-op", { reason: `session.patch adds ${value} to "${name}"; expected a whole number and a counter` });
  }
  return { ...add };
}

function expected(op: { expectedSessionId?: string }): { expectedSessionId: string | null } {
  return { expectedSessionId: op.expectedSessionId ?? null };
}

function toJson(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`a value of type ${typeof value} has no JSON form`);
  return text;
}

/** Names of the advisory locks of a group, each once; null when they are so many that the group had better be alone. */
export function locksOf(commits: ReadonlyArray<readonly WriteOp[]>): string[] | null {
  const names = new Set<string>();
  for (const ops of commits) {
    for (const op of ops) {
      for (const name of locksOfOp(op)) names.add(name);
      if (names.size > mostLocks) return null;
    }
  }
  return [...names];
}

/** Locks that one group takes by name; the lock table of a server with its defaults holds 6,400. */
const mostLocks = 1_000;

function locksOfOp(op: WriteOp): string[] {
  switch (op.op) {
    case "session.put":
      return [`session ${op.row.key}`, ...(op.uniqueLabel ? ["labels"] : [])];
    case "session.patch":
      return [`session ${op.key}`, ...(op.uniqueLabel ? ["labels"] : [])];
    case "session.delete":
      return [`session ${op.key}`];
    case "message.append":
    case "transcript.prune":
      return [`transcript ${op.sessionId}`];
    case "run.put":
      return [`run ${op.row.run_id}`];
    case "run.delete":
      return [`run ${op.runId}`];
    case "idempotency.put":
      return [`idempotency ${op.row.family} ${op.row.key}`];
    case "kv.put":
    case "kv.delete":
      return [`kv ${op.scope} ${op.key}`];
    case "systemEvent.add":
      return [`session ${op.sessionKey}`];
    case "systemEvent.take":
      return [];
    case "delivery.accept":
      // Rows of a lane become visible in the order of their ids.
      return [`delivery ${op.row.uid}`, `lane ${op.row.lane}`, ...(op.row.idem_key === null ? [] : [keyLock(op.row)])];
    case "lease.acquire":
    case "lease.release":
    case "lease.check":
      return [`lease ${op.name}`];
    default:
      return [`delivery ${op.uid}`];
  }
}

const keyLock = (row: Columns) => `key ${row.idem_scope} ${row.idem_key} ${row.fingerprint}`;

/** Characters of all texts in it, plus a little for the rest; near enough to bytes to bound a transaction and the queue. */
export function sizeOfOp(op: WriteOp): number {
  let size = 64;
  for (const value of Object.values("row" in op ? op.row : op)) size += typeof value === "string" ? value.length : 8;
  return size + ("patch" in op ? JSON.stringify(op.patch).length : 0);
}
