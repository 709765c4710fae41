import type { Sqlite, Statement } from "./native.ts";
import type { Columns } from "./rows.ts";

/** The writer's prepared statements; the only place with write SQL besides `schema.ts`, `retention.ts` and the probe. */
export interface WriteStatements {
  session: Lookup;
  putSession: Statement;
  deleteSession: Statement;
  deleteTranscript: Statement;
  appendMessage: Statement;
  run: Lookup;
  putRun: Statement;
  idempotency: Lookup;
  putIdempotency: Statement;
  putKv: Statement;
  deleteKv: Statement;
  setAside: Statement;
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
      "updated_at",
      "last_interaction_at",
      "archived",
      "label",
      "title",
      "search",
      "body",
    ]),
    deleteSession: db.prepare("DELETE FROM sessions WHERE key = ?"),
    deleteTranscript: db.prepare("DELETE FROM messages WHERE session_id = ?"),
    appendMessage: db.prepare(
      `INSERT INTO messages (session_id, seq, id, ts, role, run_id, body)
       VALUES (@session_id, (SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE session_id = @session_id), @id, @ts, @role, @run_id, @body)
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
    idempotency: lookup(db, "idempotency", ["family", "key"]),
    putIdempotency: upsert(db, "idempotency", "family, key", ["family", "key", "value", "created_at", "expires_at"]),
    putKv: upsert(db, "kv", "scope, key", ["scope", "key", "value"]),
    deleteKv: db.prepare("DELETE FROM kv WHERE scope = ? AND key = ?"),
    setAside: db.prepare("INSERT INTO set_aside (origin, at, data) VALUES (?, ?, ?)"),
  };
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
