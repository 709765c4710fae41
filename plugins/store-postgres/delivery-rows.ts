import type { DeliveryDir, DeliveryRow, DeliveryState, JsonObject, NewDelivery } from "svc/sdk";
import { Refusal } from "./refusal.ts";
import { type Columns, plainJson } from "./rows.ts";

export const deliveryDirs: readonly DeliveryDir[] = ["hook-agent", "hook-wake", "out", "in"];
export const deliveryStates: readonly DeliveryState[] = ["accepted", "running", "sending", "uncertain", "done", "failed", "expired"];

/** Everything but the payload, which stands last in the table: who does not ask for it does not read the pages it fills. */
export const shownColumns =
  "id, uid, dir, lane, idem_scope, idem_key, fingerprint, state, attempt, not_before, lease_boot, created_at, updated_at, expires_at, ended_at, payload_bytes, steps, result";

const mostBytes = { payload: 256 * 1024, note: 64 * 1024 };
const longestUid = 200;
const longestStep = 64;

function uidOf(uid: string): string {
  if (uid.length < 1 || uid.length > longestUid) throw invalid(`a uid of ${uid.length} characters; expected 1 to ${longestUid}`);
  return uid;
}

/** The row of an accept. What is done with its commit needs no payload. */
export function encodeDelivery(delivery: NewDelivery, at: number): Columns {
  const { uid, dir, lane, idemScope, idemKey, fingerprint, expiresAt, done } = delivery;
  if (idemKey !== undefined && (idemScope === undefined || fingerprint === undefined)) throw invalid("a key without scope or fingerprint");
  const payload = jsonOf(delivery.payload, "payload", mostBytes.payload);
  const isDone = done !== undefined;
  return {
    uid: uidOf(uid),
    dir,
    lane,
    idem_scope: idemScope ?? null,
    idem_key: idemKey ?? null,
    fingerprint: fingerprint ?? null,
    state: isDone ? "done" : "accepted",
    created_at: timeOf(at),
    expires_at: timeOf(expiresAt),
    ended_at: isDone ? at : null,
    payload_bytes: isDone ? 0 : Buffer.byteLength(payload),
    result: isDone ? encodeNote(done) : null,
    payload: isDone ? null : payload,
  };
}

/** Something small that is kept beside the payload: a result, the value of a step. */
export function encodeNote(value: JsonObject): string {
  return jsonOf(value, "result or step", mostBytes.note);
}

export function checkStepName(name: string): string {
  if (name.length < 1 || name.length > longestStep)
    throw invalid(`a step's name of ${name.length} characters; expected 1 to ${longestStep}`);
  return name;
}

/** Epoch ms, or a count. */
export function timeOf(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw invalid(`${value} as a time or count; expected a whole number from 0`);
  return value;
}

/**
 * Never throws: a row that is not whole must be seen by those who can end it. It comes without payload and with `result.reason: "unreadable"`; what does
 * not say where it is counts as waiting, or as failed once it has ended. A payload that was not selected is not judged.
 */
export function decodeDelivery(c: Columns): { row: DeliveryRow; isWhole: boolean } {
  let isWhole = true;
  const or = <Value>(value: Value | undefined, instead: Value): Value => {
    if (value === undefined) isWhole = false;
    return value ?? instead;
  };
  const hasEnded = c.ended_at !== null;
  const state = or(
    deliveryStates.find((known) => known === c.state),
    hasEnded ? "failed" : "accepted",
  );
  const notBefore = c.not_before === null ? undefined : or(whole(c.not_before), 0);
  const result = c.result === null ? undefined : or(objectIn(c.result), {});
  const payload = c.payload === undefined || (c.payload === null && hasEnded) ? undefined : or(objectIn(c.payload), {});
  const row: DeliveryRow = {
    id: Number(c.id),
    uid: String(c.uid),
    dir: c.dir as DeliveryDir,
    lane: String(c.lane),
    ...(c.idem_key === null ? {} : { idemScope: String(c.idem_scope), idemKey: String(c.idem_key), fingerprint: String(c.fingerprint) }),
    state,
    attempt: or(whole(c.attempt), 0),
    ...(notBefore === undefined ? {} : { notBefore }),
    ...(c.lease_boot === null ? {} : { leaseBoot: String(c.lease_boot) }),
    steps: or(objectIn(c.steps), {}) as DeliveryRow["steps"],
    createdAt: or(whole(c.created_at), 0),
    updatedAt: or(whole(c.updated_at), 0),
    expiresAt: or(whole(c.expires_at), 0),
  };
  if (!isWhole) return { row: { ...row, result: { ...result, reason: "unreadable" } }, isWhole };
  return { row: { ...row, ...(result === undefined ? {} : { result }), ...(payload === undefined ? {} : { payload }) }, isWhole };
}

function whole(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

function objectIn(text: unknown): JsonObject | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    // Not the SDK's isRecord: the writer thread imports this file, and would load all of the SDK with it.
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function jsonOf(value: JsonObject, what: string, most: number): string {
  const text = plainJson(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > most) throw invalid(`a ${what} of ${bytes} bytes; at most ${most} are kept with a delivery`);
  return text;
}

function invalid(reason: string): Refusal {
  return new Refusal("store-invalid-op", { reason });
}
