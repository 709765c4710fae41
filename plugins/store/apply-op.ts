import type { OpResult, SessionRow } from "svc/sdk";
import { applyDelivery } from "./apply-delivery.ts";
import type { DeliveryLoad } from "./delivery-statements.ts";
import type { WriteOp } from "./operations.ts";
import { Refusal } from "./refusal.ts";
import { type Columns, decodeIdempotency, decodeRun, decodeSession, decodeSystemEvent, encodeSession } from "./rows.ts";
import { sqliteCode } from "./sqlite-fault.ts";
import type { WriteStatements } from "./statements.ts";

/** System events that may wait. */
const mostEvents = { ofSession: 1_000, ofAll: 10_000 };
/** They go with the next prompts, some at a time. */
const eventsRetryMs = 60_000;

/**
 * Executes one operation inside the open transaction. `load` is kept in step with it; who rolls back puts it back.
 * @throws {Refusal} for a failed condition; the caller rolls the whole commit back
 */
export function applyOp(sql: WriteStatements, op: WriteOp, load: DeliveryLoad): OpResult {
  switch (op.op) {
    case "session.put":
      return putSession(sql, op);
    case "session.patch":
      return patchSession(sql, op);
    case "session.delete":
      return deleteSession(sql, op);
    case "message.append":
      return appendMessage(sql, op);
    case "transcript.prune":
      return { removed: sql.pruneTranscript.run({ id: op.sessionId }).changes };
    case "run.put":
      return putRun(sql, op);
    case "idempotency.put":
      return putIdempotency(sql, op);
    case "kv.put":
      sql.putKv.run({ scope: op.scope, key: op.key, value: op.value });
      return {};
    case "systemEvent.add":
      return addSystemEvent(sql, op);
    case "systemEvent.take":
      return { removed: op.ids.reduce((sum, id) => sum + sql.takeSystemEvent.run(id).changes, 0) };
    case "kv.delete":
      return { removed: sql.deleteKv.run(op.scope, op.key).changes };
    default:
      return applyDelivery(sql.deliveries, load, op);
  }
}

function putSession(sql: WriteStatements, op: Extract<WriteOp, { op: "session.put" }>): OpResult {
  const key = String(op.row.key);
  if (op.ifAbsent || op.expectedSessionId !== null) {
    const present = readSession(sql, key);
    if (op.ifAbsent && present) throw new Refusal("exists", { kind: "session", key, row: present });
    expectTranscript(key, op.expectedSessionId, present);
  }
  sql.putSession.run(op.row);
  return {};
}

function patchSession(sql: WriteStatements, op: Extract<WriteOp, { op: "session.patch" }>): OpResult {
  const present = readSession(sql, op.key);
  if (!present) throw new Refusal("session-missing", { key: op.key });
  expectTranscript(op.key, op.expectedSessionId, present);
  const merged: Record<string, unknown> = { ...present };
  for (const [name, value] of Object.entries(JSON.parse(op.patch) as Record<string, unknown>)) {
    if (value === null) delete merged[name];
    else if (name !== "key") merged[name] = value;
  }
  sql.putSession.run(encodeSession(merged as unknown as SessionRow));
  return {};
}

function deleteSession(sql: WriteStatements, op: Extract<WriteOp, { op: "session.delete" }>): OpResult {
  const present = readSession(sql, op.key);
  expectTranscript(op.key, op.expectedSessionId, present);
  if (present && op.deleteTranscript) sql.deleteTranscript.run(present.sessionId);
  sql.deleteSystemEvents.run(op.key);
  return { removed: sql.deleteSession.run(op.key).changes };
}

function appendMessage(sql: WriteStatements, { id, values }: Extract<WriteOp, { op: "message.append" }>): OpResult {
  try {
    return { seq: (sql.appendMessage.get(values) as { seq: number }).seq };
  } catch (error) {
    // A message id is given once: a second append of the same message must not appear twice in the history.
    if (sqliteCode(error) === "SQLITE_CONSTRAINT_UNIQUE") throw new Refusal("exists", { kind: "message", key: id });
    throw error;
  }
}

function putRun(sql: WriteStatements, op: Extract<WriteOp, { op: "run.put" }>): OpResult {
  const key = String(op.row.run_id);
  if (op.ifAbsent || op.ifState) {
    const present = readable(sql, "runs", sql.run.get(key), decodeRun);
    if (op.ifAbsent && present) throw new Refusal("exists", { kind: "run", key, row: present });
    if (op.ifState && !(present && op.ifState.includes(present.state))) {
      throw new Refusal("run-state", { key, expected: op.ifState.join(" or "), found: present?.state ?? "absent", row: present });
    }
  }
  sql.putRun.run(op.row);
  return {};
}

function putIdempotency(sql: WriteStatements, op: Extract<WriteOp, { op: "idempotency.put" }>): OpResult {
  const { family, key } = op.row;
  if (op.ifAbsent) {
    const present = readable(sql, "idempotency", sql.idempotency.get(String(family), String(key)), decodeIdempotency);
    if (present) throw new Refusal("exists", { kind: "idempotency key", key: `${family}:${key}`, row: present });
  }
  sql.putIdempotency.run(op.row);
  return {};
}

function addSystemEvent(sql: WriteStatements, { same, values }: Extract<WriteOp, { op: "systemEvent.add" }>): OpResult {
  const [key, wake] = values;
  const last = readable(sql, "system_events", sql.lastSystemEvent.get(key), decodeSystemEvent);
  if (last && (last.same ?? last.text) === same) {
    if (wake === 1 && !last.wake) sql.wakeSystemEvent.run(last.id);
    return { coalesced: true };
  }
  const { own, total } = sql.countSystemEvents.get(key);
  if (own >= mostEvents.ofSession) throw new Refusal("system-events-full", { count: own, place: `session "${key}"` }, eventsRetryMs);
  if (total >= mostEvents.ofAll) throw new Refusal("system-events-full", { count: total, place: "all sessions together" }, eventsRetryMs);
  sql.addSystemEvent.run(values);
  return {};
}

function readSession(sql: WriteStatements, key: string): SessionRow | undefined {
  return readable(sql, "sessions", sql.session.get(key), decodeSession);
}

function expectTranscript(key: string, expected: string | null, present: SessionRow | undefined): void {
  if (expected === null || present?.sessionId === expected) return;
  throw new Refusal("session-changed", { key, expected, found: present?.sessionId ?? "none" });
}

/** A row whose JSON does not parse counts as absent, so that it does not block its key; before it is written over it is kept in `set_aside`. */
function readable<Row>(
  sql: WriteStatements,
  table: string,
  columns: Columns | undefined,
  decode: (columns: Columns) => Row,
): Row | undefined {
  if (columns === undefined) return undefined;
  try {
    return decode(columns);
  } catch {
    sql.setAside.run(table, Date.now(), JSON.stringify(columns));
    return undefined;
  }
}
