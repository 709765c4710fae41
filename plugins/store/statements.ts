import { type DeliveryStatements, prepareDeliveries } from "./delivery-statements.ts";
import type { Sqlite, Statement } from "./native.ts";
import type { Columns } from "./rows.ts";

/** The writer's prepared statements; the only place with write SQL besides `delivery-statements.ts`, `schema.ts`, the retention and the probe. */
export interface WriteStatements {
  session: Lookup;
  putSession: Statement;
  deleteSession: Statement;
  deleteTranscript: Statement;
  pruneTranscript: Statement;
  appendMessage: Statement;
  run: Lookup;
  putRun: Statement;
  deleteRun: Statement;
  idempotency: Lookup;
  putIdempotency: Statement;
  putKv: Statement;
  deleteKv: Statement;
  kvVersion: Lookup;
  /** Version of the next value. */
  nextVersion: Counter;
  /** Another session of an agent that has a label. */
  sessionByLabel: Lookup;
  leaseToken: Lookup;
  nextToken: Counter;
  putLease: Statement;
  releaseLease: Statement;
  /** Newest of a session. */
  lastSystemEvent: Lookup;
  /** Counts waiting events: of a session, of all. */
  countSystemEvents: { get(key: string): { own: number; total: number } };
  addSystemEvent: Statement;
  wakeSystemEvent: Statement;
  takeSystemEvent: Statement;
  deleteSystemEvents: Statement;
  setAside: Statement;
  deliveries: DeliveryStatements;
}

interface Counter {
  get(): { value: number };
}

interface Lookup {
  get(...key: string[]): Columns | undefined;
}

export function prepareWrites(db: Sqlite): WriteStatements {
  return {
    session: lookup(db, "sessions", ["key"]),
    putSession: upsert(db, "sessions", "key", [
      "key",
      "session_id",
      "agent_id",
      "kind",
      "updated_at",
      "last_interaction_at",
      "archived",
      "label",
      "spawned_by",
      "title",
      "search",
      "body",
    ]),
    deleteSession: db.prepare("DELETE FROM sessions WHERE key = ?"),
    deleteTranscript: db.prepare("DELETE FROM messages WHERE session_id = ?"),
    // In steps, so that commits pass in between; from the old end, so that what is left is still without gaps.
    pruneTranscript: db.prepare(
      `DELETE FROM messages WHERE row IN (
         SELECT row FROM messages WHERE session_id = @id AND NOT EXISTS (SELECT 1 FROM sessions WHERE session_id = @id) ORDER BY seq LIMIT 500)`,
    ),
    appendMessage: db.prepare(
      `INSERT INTO messages (session_id, seq, id, ts, role, run_id, body)
       VALUES (?, (SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE session_id = ?), ?, ?, ?, ?, ?)
       RETURNING seq`,
    ),
    run: lookup(db, "runs", ["run_id"]),
    putRun: upsert(db, "runs", "run_id", [
      "run_id",
      "session_key",
      "session_id",
      "agent_id",
      "state",
      "trigger",
      "boot_id",
      "created_at",
      "started_at",
      "ended_at",
      "finished_at",
      "outcome",
    ]),
    deleteRun: db.prepare("DELETE FROM runs WHERE run_id = ?"),
    idempotency: lookup(db, "idempotency", ["family", "key"]),
    putIdempotency: upsert(db, "idempotency", "family, key", ["family", "key", "value", "created_at", "expires_at"]),
    putKv: upsert(db, "kv", "scope, key", ["scope", "key", "value", "version"]),
    deleteKv: db.prepare("DELETE FROM kv WHERE scope = ? AND key = ?"),
    kvVersion: db.prepare("SELECT version FROM kv WHERE scope = ? AND key = ?") as unknown as Lookup,
    nextVersion: counter(db, "kv"),
    sessionByLabel: db.prepare("SELECT key FROM sessions WHERE agent_id = ? AND label = ? AND key <> ? LIMIT 1") as unknown as Lookup,
    leaseToken: db.prepare("SELECT token FROM leases WHERE name = ?") as unknown as Lookup,
    nextToken: counter(db, "lease"),
    putLease: upsert(db, "leases", "name", ["name", "token"]),
    releaseLease: db.prepare("DELETE FROM leases WHERE name = ? AND token = ?"),
    lastSystemEvent: db.prepare("SELECT * FROM system_events WHERE session_key = ? ORDER BY row DESC LIMIT 1") as unknown as Lookup,
    countSystemEvents: db.prepare(
      "SELECT (SELECT count(*) FROM system_events WHERE session_key = ?) AS own, (SELECT count(*) FROM system_events) AS total",
    ) as unknown as WriteStatements["countSystemEvents"],
    addSystemEvent: db.prepare("INSERT INTO system_events (session_key, wake, body) VALUES (?, ?, ?)"),
    wakeSystemEvent: db.prepare("UPDATE system_events SET wake = 1 WHERE row = ?"),
    takeSystemEvent: db.prepare("DELETE FROM system_events WHERE row = ?"),
    deleteSystemEvents: db.prepare("DELETE FROM system_events WHERE session_key = ?"),
    setAside: db.prepare("INSERT INTO set_aside (origin, at, data) VALUES (?, ?, ?)"),
    deliveries: prepareDeliveries(db),
  };
}

function counter(db: Sqlite, name: string): Counter {
  return db.prepare(`UPDATE counters SET value = value + 1 WHERE name = '${name}' RETURNING value`) as unknown as Counter;
}

function lookup(db: Sqlite, table: string, keys: string[]): Lookup {
  return db.prepare(`SELECT * FROM ${table} WHERE ${keys.map((key) => `${key} = ?`).join(" AND ")}`) as unknown as Lookup;
}

/** Keeps the row id of an existing row, so that creation order stays. */
function upsert(db: Sqlite, table: string, conflict: string, columns: string[]): Statement {
  const updates = columns.filter((column) => !conflict.split(", ").includes(column)).map((column) => `${column} = excluded.${column}`);
  return db.prepare(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map((column) => `@${column}`).join(", ")})
     ON CONFLICT (${conflict}) DO UPDATE SET ${updates.join(", ")}`,
  );
}
