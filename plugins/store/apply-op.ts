import type { OpResult, SessionRow } from "svc/sdk";
import { applyDelivery } from "./apply-delivery.ts";
import type { DeliveryLoad } from "./delivery-statements.ts";
import type { LeaseOp, WriteOp } from "./operations.ts";
import { Refusal } from "./refusal.ts";
import { type Columns, decodeIdempotency, decodeRun, decodeSession, decodeSystemEvent, encodeSession } from "./rows.ts";
import { sqliteCode } from "./sqlite-fault.ts";
import type { WriteStatements } from "./statements.ts";

/** System events that may wait. */
const mostEvents = { ofSession: 1_000, ofAll: 10_000 };
/** Interval of retries: events go with the next prompts, some at a time. */
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
    case "run.delete":
      return deleteRun(sql, op);
    case "idempotency.put":
      return putIdempotency(sql, op);
    case "kv.put":
      return putValue(sql, op);
    case "systemEvent.add":
      return addSystemEvent(sql, op);
    case "systemEvent.take":
      return takeSystemEvents(sql, op);
    case "kv.delete":
      expectVersion(sql, op);
      return { removed: sql.deleteKv.run(op.scope, op.key).changes };
    case "lease.acquire":
    case "lease.release":
    case "lease.check":
      return applyLease(sql, op);
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
  if (op.uniqueLabel) expectFreeLabel(sql, op.row);
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
  for (const [name, value] of Object.entries(JSON.parse(op.add ?? "{}") as Record<string, number>)) {
    merged[name] = Math.max(0, Number(merged[name] ?? 0) + value);
  }
  const row = encodeSession(merged as unknown as SessionRow);
  if (op.uniqueLabel) expectFreeLabel(sql, row);
  sql.putSession.run(row);
  return {};
}

function expectFreeLabel(sql: WriteStatements, { key, agent_id, label }: Columns): void {
  if (typeof label !== "string") return;
  const other = sql.sessionByLabel.get(String(agent_id), label, String(key));
  if (other) throw new Refusal("label-in-use", { label, key: String(other.key) });
}

function deleteSession(sql: WriteStatements, op: Extract<WriteOp, { op: "session.delete" }>): OpResult {
  const present = readSession(sql, op.key);
  expectTranscript(op.key, op.expectedSessionId, present);
  if (op.ifNoEvents && sql.lastSystemEvent.get(op.key)) throw new Refusal("events-waiting", { key: op.key });
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
  if (op.ifAbsent || op.ifState || op.ifOwner !== null) {
    const present = readable(sql, "runs", sql.run.get(key), decodeRun);
    if (op.ifAbsent && present) throw new Refusal("exists", { kind: "run", key, row: present });
    if (op.ifState && !(present && op.ifState.includes(present.state))) {
      throw new Refusal("run-state", { key, expected: op.ifState.join(" or "), found: present?.state ?? "absent", row: present });
    }
    if (op.ifOwner !== null && present?.bootId !== op.ifOwner) throw new Refusal("fenced", { what: `run "${key}"`, row: present });
  }
  sql.putRun.run(op.row);
  return {};
}

function deleteRun(sql: WriteStatements, { runId: key }: Extract<WriteOp, { op: "run.delete" }>): OpResult {
  const present = readable(sql, "runs", sql.run.get(key), decodeRun);
  if (present?.state === "queued" || present?.state === "running")
    throw new Refusal("run-state", { key, expected: "ended", found: present.state, row: present });
  return { removed: sql.deleteRun.run(key).changes };
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

function putValue(sql: WriteStatements, op: Extract<WriteOp, { op: "kv.put" }>): OpResult {
  const { scope, key, value } = op;
  if (op.ifAbsent && sql.kvVersion.get(scope, key)) throw new Refusal("exists", { kind: "value", key: `${scope}:${key}` });
  expectVersion(sql, op);
  const version = sql.nextVersion.get().value;
  sql.putKv.run({ scope, key, value, version });
  return { version };
}

function expectVersion(sql: WriteStatements, { scope, key, ifVersion }: { scope: string; key: string; ifVersion: number | null }): void {
  if (ifVersion === null) return;
  const found = sql.kvVersion.get(scope, key)?.version ?? "absent";
  if (found !== ifVersion) throw new Refusal("kv-changed", { key: `${scope}:${key}`, expected: ifVersion, found });
}

function takeSystemEvents(sql: WriteStatements, { ids, all }: Extract<WriteOp, { op: "systemEvent.take" }>): OpResult {
  const removed = ids.reduce((sum, id) => sum + sql.takeSystemEvent.run(id).changes, 0);
  if (all && removed < new Set(ids).size) throw new Refusal("events-taken", { missing: new Set(ids).size - removed, count: ids.length });
  return { removed };
}

/** A token is never given twice, so that an earlier holder cannot be taken for a later one. */
function applyLease(sql: WriteStatements, op: LeaseOp): OpResult {
  if (op.op === "lease.release") return { removed: sql.releaseLease.run(op.name, op.token).changes };
  if (op.op === "lease.check") {
    if (sql.leaseToken.get(op.name)?.token !== op.token) throw new Refusal("fenced", { what: `lease "${op.name}"` });
    return {};
  }
  const version = sql.nextToken.get().value;
  sql.putLease.run({ name: op.name, token: version });
  return { version };
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
