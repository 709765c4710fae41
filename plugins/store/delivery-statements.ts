import { shownColumns } from "./delivery-rows.ts";
import type { Sqlite, Statement } from "./native.ts";
import type { Columns } from "./rows.ts";

interface Found {
  get(...keys: Array<string | number | null | undefined>): Columns | undefined;
}

/** Write SQL of the table `deliveries`. */
export interface DeliveryStatements {
  byUid: Found;
  byKey: Found;
  /** The row stays, its key may be given to another one. */
  forgetKey: Statement;
  add: Statement;
  addDone: Statement;
  claim: Statement;
  setSteps: Statement;
  requeue: Statement;
  finish: Statement;
}

export function prepareDeliveries(db: Sqlite): DeliveryStatements {
  const shown = `SELECT ${shownColumns}, payload IS NOT NULL AS has_payload FROM deliveries`;
  return {
    byUid: db.prepare(`${shown} WHERE uid = ?`) as unknown as Found,
    byKey: db.prepare(`${shown} WHERE idem_scope = ? AND idem_key = ? AND fingerprint = ?`) as unknown as Found,
    forgetKey: db.prepare("UPDATE deliveries SET idem_scope = NULL, idem_key = NULL, fingerprint = NULL WHERE id = ?"),
    add: db.prepare(
      `INSERT INTO deliveries (uid, dir, lane, idem_scope, idem_key, fingerprint, state, attempt, created_at, updated_at, expires_at, ended_at, payload_bytes, steps, result, payload)
       VALUES (@uid, @dir, @lane, @idem_scope, @idem_key, @fingerprint, @state, 0, @created_at, @created_at, @expires_at, @ended_at, @payload_bytes, '{}', @result, @payload)`,
    ),
    addDone: db.prepare(
      `INSERT INTO deliveries (uid, dir, lane, state, attempt, created_at, updated_at, expires_at, ended_at, payload_bytes, steps, result)
       VALUES (?, ?, ?, 'done', 0, ?, ?, ?, ?, 0, '{}', ?)`,
    ),
    claim: db.prepare(
      "UPDATE deliveries SET state = @to, attempt = attempt + 1, not_before = NULL, lease_boot = @leaseBoot, updated_at = @at WHERE uid = @uid",
    ),
    setSteps: db.prepare("UPDATE deliveries SET steps = @steps, updated_at = @at WHERE uid = @uid"),
    requeue: db.prepare(
      `UPDATE deliveries SET state = @to, not_before = @notBefore, attempt = coalesce(@attempt, attempt), expires_at = coalesce(@expiresAt, expires_at),
         result = coalesce(@result, result), lease_boot = NULL, ended_at = NULL, updated_at = @at WHERE uid = @uid`,
    ),
    finish: db.prepare(
      `UPDATE deliveries SET state = @state, result = @result, lease_boot = NULL, not_before = NULL, ended_at = @at, updated_at = @at,
         payload = CASE @state WHEN 'done' THEN NULL ELSE payload END, payload_bytes = CASE @state WHEN 'done' THEN 0 ELSE payload_bytes END
       WHERE uid = @uid`,
    ),
  };
}

/** Number of waiting or running deliveries, and the size of their payloads. */
export interface DeliveryLoad {
  rows: number;
  bytes: number;
}

/** Counted once, at the opening; after that it is kept in step with the transactions. */
export function countDeliveryLoad(db: Sqlite): DeliveryLoad {
  return db
    .prepare("SELECT count(*) AS rows, coalesce(sum(payload_bytes), 0) AS bytes FROM deliveries WHERE ended_at IS NULL")
    .get() as DeliveryLoad;
}
