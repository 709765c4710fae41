import type { DeliveryOwner, SessionCounters, StoreOp } from "svc/sdk";
import { isWellFormed, toWellFormed } from "svc/sdk/internal";
import { checkStepName, type DoneValues, encodeDelivery, encodeDone, encodeNote, isPlainlyDone, timeOf } from "./delivery-rows.ts";
import { Refusal } from "./refusal.ts";
import {
  type Columns,
  type EventValues,
  encodeIdempotency,
  encodeMessage,
  encodeRun,
  encodeSession,
  encodeSystemEvent,
  type Values,
} from "./rows.ts";

/**
 * A `StoreOp` as it crosses to the writer: flat columns and JSON texts, cheap to clone, ready to bind. What comes by the thousand comes as a list of values
 * in the order of its statement: without the names it is cloned and bound for a third of the cost.
 */
export type WriteOp =
  | { op: "session.put"; row: Columns; ifAbsent: boolean; expectedSessionId: string | null; uniqueLabel: boolean }
  | { op: "session.patch"; key: string; patch: string; add: string | null; expectedSessionId: string | null; uniqueLabel: boolean }
  | { op: "session.delete"; key: string; deleteTranscript: boolean; expectedSessionId: string | null; ifNoEvents: boolean }
  | { op: "message.append"; id: string; values: Values }
  | { op: "transcript.prune"; sessionId: string }
  | { op: "run.put"; row: Columns; ifAbsent: boolean; ifState: string[] | null; ifOwner: string | null }
  | { op: "run.delete"; runId: string }
  | { op: "idempotency.put"; row: Columns; ifAbsent: boolean }
  | { op: "kv.put"; scope: string; key: string; value: string; ifAbsent: boolean; ifVersion: number | null }
  /** `same`: what tells it from the newest one of its session. */
  | { op: "systemEvent.add"; same: string; values: EventValues }
  | { op: "systemEvent.take"; ids: number[]; all: boolean }
  | DeliveryWriteOp
  | { op: "kv.delete"; scope: string; key: string; ifVersion: number | null }
  | LeaseOp;

/** Operations of `leases@1`. */
export type LeaseOp =
  /** Result: the token, as `version`. */
  | { op: "lease.acquire"; name: string }
  | { op: "lease.release"; name: string; token: number }
  /** Condition of the commit that it stands first in. */
  | { op: "lease.check"; name: string; token: number };

/** Operations of the table `deliveries`; times and counts are whole numbers. */
export type DeliveryWriteOp =
  | { op: "delivery.accept"; row: Columns }
  /** One that was over with its accept, and has no key. */
  | { op: "delivery.accept"; done: DoneValues }
  | { op: "delivery.claim"; uid: string; to: string; leaseBoot: string; attempt: number | null; at: number }
  | { op: "delivery.step"; uid: string; leaseBoot: string; attempt: number; step: string; value: string; at: number }
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
  | { op: "delivery.finish"; uid: string; from: string[]; owner: DeliveryOwner | null; state: string; result: string; at: number };

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
      return { op: op.op, row: encodeSession(cleaned(op.session)), ifAbsent: op.ifAbsent ?? false, ...expected(op), ...labelRule(op) };
    case "session.patch":
      return {
        op: op.op,
        key: op.key,
        patch: JSON.stringify(cleaned(op.patch)),
        add: encodeCounters(op.add),
        ...expected(op),
        ...labelRule(op),
      };
    case "session.delete":
      return { op: op.op, key: op.key, deleteTranscript: op.deleteTranscript, ...expected(op), ifNoEvents: op.ifNoEvents ?? false };
    case "message.append":
      return { op: op.op, id: op.message.id, values: encodeMessage(op.message) };
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
      return { op: op.op, same: op.event.same ?? op.event.text, values: encodeSystemEvent(op.event) };
    case "systemEvent.take":
      return { op: op.op, ids: [...op.ids], all: op.all ?? false };
    case "delivery.accept":
      return isPlainlyDone(op.delivery)
        ? { op: op.op, done: encodeDone(op.delivery, op.at) }
        : { op: op.op, row: encodeDelivery(op.delivery, op.at) };
    case "delivery.claim":
      return { op: op.op, uid: op.uid, to: op.to, leaseBoot: op.leaseBoot, attempt: op.attempt ?? null, at: timeOf(op.at) };
    case "delivery.step":
      return {
        op: op.op,
        uid: op.uid,
        leaseBoot: op.leaseBoot,
        attempt: op.attempt,
        step: checkStepName(op.step),
        value: encodeNote(op.value),
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

const sessionIds = new Set(["key", "sessionId", "agentId", "spawnedBy"]);

/**
 * A session without U+0000 and lone surrogates, which become U+FFFD: its texts are searched, and no other database takes them. Ids stay, to be refused.
 */
function cleaned<Fields extends object>(fields: Fields): Fields {
  const text = JSON.stringify(fields);
  if (!/\\u(?:0000|d[89a-f])/.test(text)) return fields;
  return JSON.parse(text, (name, value: unknown) =>
    typeof value === "string" && !sessionIds.has(name) ? toWellFormed(value).replaceAll("\0", "\uFFFD") : value,
  ) as Fields;
}

/** Columns that rows are found by, in the words of the operations and of the columns. */
const idNames = new Set(
  "key scope family uid lane runId sessionId session_id session_key run_id agent_id spawned_by idem_scope idem_key fingerprint".split(" "),
);

/** A lone surrogate becomes U+FFFD in the file: the row would come back under another id, and callers would wait for the one they know. */
function checkIds(op: WriteOp): void {
  if (idsOf(op).every((id) => typeof id !== "string" || isWellFormed(id))) return;
  throw new Refusal("store-invalid-op", { reason: `${op.op} names an id with a lone surrogate (half a character)` });
}

function idsOf(op: WriteOp): unknown[] {
  // The session comes first in both.
  if ("values" in op) return op.values.slice(0, 1);
  if ("done" in op) return [op.done[0], op.done[2]];
  return Object.entries("row" in op ? op.row : op).flatMap(([name, value]) => (idNames.has(name) ? [value] : []));
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

function encodeCounters(add: SessionCounters | undefined): string | null {
  if (!add) return null;
  for (const [name, value] of Object.entries(add)) {
    if (!counters.has(name) || !Number.isSafeInteger(value))
      throw new Refusal("store-invalid-op", { reason: `session.patch adds ${value} to "${name}"; expected a whole number and a counter` });
  }
  return JSON.stringify(add);
}

function expected(op: { expectedSessionId?: string }): { expectedSessionId: string | null } {
  return { expectedSessionId: op.expectedSessionId ?? null };
}

function toJson(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`a value of type ${typeof value} has no JSON form`);
  return text;
}

/** Characters of all texts in it, plus a little for the rest; near enough to bytes to bound a transaction and the queue. */
export function sizeOfOp(op: WriteOp): number {
  let size = 64;
  for (const value of Object.values(partsOf(op))) size += typeof value === "string" ? value.length : 8;
  return size;
}

function partsOf(op: WriteOp): object {
  if ("values" in op) return op.values;
  if ("row" in op) return op.row;
  return "done" in op ? op.done : op;
}
