import type { DeliveryOwner, DeliveryRow, DeliveryState, OpResult } from "svc/sdk";
import { type DoneValues, decodeDelivery, encodeSteps } from "./delivery-rows.ts";
import type { DeliveryLoad, DeliveryStatements } from "./delivery-statements.ts";
import type { DeliveryWriteOp } from "./operations.ts";
import { Refusal } from "./refusal.ts";
import type { Columns } from "./rows.ts";
import { sqliteCode } from "./sqlite-fault.ts";

/** Unfinished deliveries of all kinds together. */
const most: DeliveryLoad = { rows: 2_000, bytes: 256 * 1024 * 1024 };
/** When a sender may find room again. */
const fullRetryMs = 5_000;
/** States in which a delivery has an owner. */
const owned: readonly DeliveryState[] = ["running", "sending"];
const dayMs = 86_400_000;
/** A key means the same delivery for so long after its end; platforms redeliver messages for days. */
const keyKeptMs = (dir: unknown): number => (dir === "in" ? 7 * dayMs : dayMs);

type Op<Name extends DeliveryWriteOp["op"]> = Extract<DeliveryWriteOp, { op: Name }>;
interface Found {
  columns: Columns;
  row: DeliveryRow;
}

/**
 * Executes one operation on `deliveries` inside the open transaction and keeps `load` in step; the caller puts `load` back when it rolls back.
 * @throws {Refusal} `exists`, `deliveries-full`, `delivery-state`, `store-invalid-op`
 */
export function applyDelivery(sql: DeliveryStatements, load: DeliveryLoad, op: DeliveryWriteOp): OpResult {
  switch (op.op) {
    case "delivery.accept":
      return "done" in op ? acceptDone(sql, op.done) : accept(sql, load, op.row);
    case "delivery.claim":
      return claim(sql, op);
    case "delivery.step":
      return step(sql, op);
    case "delivery.requeue":
      return requeue(sql, load, op);
    case "delivery.finish":
      return finish(sql, load, op);
  }
}

function accept(sql: DeliveryStatements, load: DeliveryLoad, row: Columns): OpResult {
  const known = row.idem_key === null ? undefined : byKey(sql, row);
  if (known) return { known };
  const waits = row.ended_at === null;
  if (waits) makeSureOfRoom(load, row);
  add(sql, String(row.uid), () => sql.add.run(row));
  if (waits) grow(load, 1, row);
  return {};
}

function acceptDone(sql: DeliveryStatements, values: DoneValues): OpResult {
  add(sql, values[0], () => sql.addDone.run(values));
  return {};
}

function add(sql: DeliveryStatements, uid: string, insert: () => void): void {
  try {
    insert();
  } catch (error) {
    if (sqliteCode(error) !== "SQLITE_CONSTRAINT_UNIQUE") throw error;
    throw new Refusal("exists", { kind: "delivery", key: uid, row: find(sql, uid)?.row });
  }
}

/** A key whose delivery ended too long ago is free again; the old row stays for those who look at it. */
function byKey(sql: DeliveryStatements, row: Columns): DeliveryRow | undefined {
  const columns = sql.byKey.get(row.idem_scope, row.idem_key, row.fingerprint);
  if (columns === undefined) return undefined;
  if (columns.ended_at === null || Number(row.created_at) - Number(columns.ended_at) <= keyKeptMs(columns.dir))
    return decodeDelivery(columns).row;
  sql.forgetKey.run(columns.id);
  return undefined;
}

function claim(sql: DeliveryStatements, op: Op<"delivery.claim">): OpResult {
  const { row } = expectState(op.uid, find(sql, op.uid), ["accepted", "uncertain"]);
  if (op.attempt !== null && row.attempt !== op.attempt) throw fencedBy(row);
  sql.claim.run({ uid: op.uid, to: op.to, leaseBoot: op.leaseBoot, at: op.at });
  return {};
}

function step(sql: DeliveryStatements, op: Op<"delivery.step">): OpResult {
  const { row } = expectState(op.uid, find(sql, op.uid), owned);
  if (row.leaseBoot !== op.leaseBoot || row.attempt !== op.attempt) throw fencedBy(row);
  const steps = encodeSteps({ ...row.steps, [op.step]: JSON.parse(op.value) });
  sql.setSteps.run({ uid: op.uid, steps, at: op.at });
  return {};
}

function requeue(sql: DeliveryStatements, load: DeliveryLoad, op: Op<"delivery.requeue">): OpResult {
  const { columns, row } = expectState(op.uid, find(sql, op.uid), op.from);
  expectOwner(row, op.owner);
  if (!columns.has_payload)
    throw new Refusal("delivery-state", { key: op.uid, expected: "still with its payload", found: "without it", row });
  const hadEnded = columns.ended_at !== null;
  if (hadEnded) makeSureOfRoom(load, columns);
  sql.requeue.run(op);
  if (hadEnded) grow(load, 1, columns);
  return {};
}

function finish(sql: DeliveryStatements, load: DeliveryLoad, op: Op<"delivery.finish">): OpResult {
  const { columns, row } = expectState(op.uid, find(sql, op.uid), op.from);
  expectOwner(row, op.owner);
  sql.finish.run(op);
  if (columns.ended_at === null) grow(load, -1, columns);
  return {};
}

/**
 * Refuses a write that names another owner than the row has, or none although it has one: a row that was put back meanwhile is nobody's, and one that was claimed
 * again is in another try. A damaged row that should have an owner and has none can be ended and put back by whoever finds it.
 */
function expectOwner(row: DeliveryRow, owner: DeliveryOwner | null): void {
  if (owner === null && (!owned.includes(row.state) || row.leaseBoot === undefined)) return;
  if (!owner || row.leaseBoot !== owner.leaseBoot || row.attempt !== owner.attempt) throw fencedBy(row);
}

function fencedBy(row: DeliveryRow): Refusal {
  return new Refusal("fenced", { what: `delivery "${row.uid}"`, row });
}

function find(sql: DeliveryStatements, uid: string): Found | undefined {
  const columns = sql.byUid.get(uid);
  return columns && { columns, row: decodeDelivery(columns).row };
}

function expectState(uid: string, found: Found | undefined, expected: readonly string[]): Found {
  if (found && expected.includes(found.row.state)) return found;
  throw new Refusal("delivery-state", {
    key: uid,
    expected: expected.join(" or "),
    found: found?.row.state ?? "absent",
    row: found?.row,
  });
}

function makeSureOfRoom(load: DeliveryLoad, row: Columns): void {
  if (load.rows < most.rows && load.bytes + sizeOf(row) <= most.bytes) return;
  throw new Refusal("deliveries-full", { rows: load.rows, bytes: load.bytes }, fullRetryMs);
}

function grow(load: DeliveryLoad, by: 1 | -1, row: Columns): void {
  load.rows += by;
  load.bytes += by * sizeOf(row);
}

/** As SQLite's `sum` sees it: what is no number counts nothing. */
function sizeOf(row: Columns): number {
  return typeof row.payload_bytes === "number" ? row.payload_bytes : 0;
}
