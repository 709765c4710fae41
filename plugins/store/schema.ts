import type { Sqlite } from "./native.ts";

export interface SchemaStep {
  /** `PRAGMA user_version` after this step; 1, 2, 3 … without gaps. */
  version: number;
  /**
   * Oldest schema version whose programs may still use the file after this step; stored with it. Default: this version, which is right for every step that
   * changes what an older program reads or writes.
   */
  minReader?: number;
  /** Runs inside its own transaction. No network, no clock, repeatable. */
  up(db: Sqlite): void;
}

/** Steps are only ever added: an old step describes files that exist. */
export const schemaSteps: readonly SchemaStep[] = [
  { version: 1, up: (db) => db.exec(first) },
  { version: 2, up: (db) => db.exec(second) },
  { version: 3, up: (db) => db.exec(systemEvents) },
  { version: 4, up: (db) => db.exec(deliveries) },
  { version: 5, minReader: 4, up: (db) => db.exec(schemaInfo) },
  { version: 6, minReader: 4, up: (db) => db.exec(conditions) },
  { version: 7, up: (db) => db.exec(inbound) },
];

/**
 * Columns for what is queried, JSON for the rest (`rows.ts`). `finished_at` is null while a run is unfinished: two partial indexes keep
 * both kinds cheap. `sessions_by_update` covers filters and search, so that a list reads only the rows it returns.
 */
const first = `
CREATE TABLE sessions (
  row INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  last_interaction_at INTEGER,
  archived INTEGER NOT NULL,
  label TEXT,
  title TEXT,
  search TEXT NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX sessions_by_transcript ON sessions (session_id);
CREATE INDEX sessions_by_update ON sessions (updated_at DESC, key, archived, agent_id, label, search);
CREATE INDEX sessions_by_interaction ON sessions (last_interaction_at DESC, key, updated_at, archived, agent_id, label, search);

CREATE TABLE messages (
  row INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  ts INTEGER NOT NULL,
  role TEXT NOT NULL,
  run_id TEXT,
  body TEXT NOT NULL
);
CREATE UNIQUE INDEX messages_in_order ON messages (session_id, seq);
CREATE UNIQUE INDEX messages_by_id ON messages (session_id, id);

CREATE TABLE runs (
  row INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  session_key TEXT NOT NULL,
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  state TEXT NOT NULL,
  trigger TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  finished_at INTEGER,
  outcome TEXT
);
CREATE INDEX runs_unfinished ON runs (row) WHERE finished_at IS NULL;
CREATE INDEX runs_finished ON runs (finished_at, row) WHERE finished_at IS NOT NULL;

CREATE TABLE idempotency (
  row INTEGER PRIMARY KEY,
  family TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (family, key)
);
CREATE INDEX idempotency_by_expiry ON idempotency (expires_at, row);

CREATE TABLE kv (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (scope, key)
) WITHOUT ROWID;

CREATE TABLE set_aside (
  id INTEGER PRIMARY KEY,
  origin TEXT NOT NULL,
  at INTEGER NOT NULL,
  data TEXT NOT NULL
);

CREATE TABLE probe (id INTEGER PRIMARY KEY, filler BLOB NOT NULL);
`;

/** Kind and origin of a session become columns: lists leave kinds out, and ask for the sessions that another one made. */
const second = `
ALTER TABLE sessions ADD COLUMN kind TEXT NOT NULL DEFAULT 'direct';
ALTER TABLE sessions ADD COLUMN spawned_by TEXT;
UPDATE sessions SET kind = coalesce(json_extract(body, '$.kind'), 'direct') WHERE json_valid(body);
DROP INDEX sessions_by_update;
DROP INDEX sessions_by_interaction;
CREATE INDEX sessions_by_update ON sessions (updated_at DESC, key, kind, archived, agent_id, label, spawned_by, search);
CREATE INDEX sessions_by_interaction ON sessions (last_interaction_at DESC, key, updated_at, kind, archived, agent_id, label, spawned_by, search);
CREATE INDEX sessions_by_kind ON sessions (kind, archived, agent_id);
CREATE INDEX sessions_by_label ON sessions (label) WHERE label IS NOT NULL;
`;

/** Ids are never given twice: what was read as 7 must not be another event when 7 is taken. */
const systemEvents = `
CREATE TABLE system_events (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  session_key TEXT NOT NULL,
  wake INTEGER NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX system_events_by_session ON system_events (session_key, row);
CREATE INDEX system_events_waking ON system_events (session_key) WHERE wake = 1;
`;

/**
 * `ended_at` is null while a delivery is unfinished. `deliveries_open` has what the scans of unfinished rows ask for; there are 2,000 of them at most.
 * To whom a row belongs is checked here: one that nobody asks for could not be set aside. `payload` is last, so that only who wants it reads its pages.
 */
const deliveries = `
CREATE TABLE deliveries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE CHECK (typeof(uid) = 'text'),
  dir TEXT NOT NULL CHECK (dir IN ('hook-agent', 'hook-wake', 'out')),
  lane TEXT NOT NULL CHECK (typeof(lane) = 'text'),
  idem_scope TEXT,
  idem_key TEXT,
  fingerprint TEXT,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  not_before INTEGER,
  lease_boot TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER,
  payload_bytes INTEGER NOT NULL,
  steps TEXT NOT NULL,
  result TEXT,
  payload BLOB
);
CREATE UNIQUE INDEX deliveries_by_key ON deliveries (idem_scope, idem_key, fingerprint) WHERE idem_key IS NOT NULL;
CREATE INDEX deliveries_open ON deliveries (lane, id, dir, state, not_before, created_at, expires_at, payload_bytes) WHERE ended_at IS NULL;
CREATE INDEX deliveries_ended ON deliveries (state, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX deliveries_by_state ON deliveries (state, dir);
`;

/** Schema version that a program has to know to use the file; `migrate.ts` writes it with each step from here on. */
const schemaInfo = `
CREATE TABLE schema_info (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL,
  min_reader INTEGER NOT NULL
);
`;

/**
 * Versions of values and tokens of leases come from counters that only grow: one that was deleted and made again is not taken for the old one. A program of an
 * earlier schema writes values without counting; it is never there at the same time as one that compares.
 */
const conditions = `
CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counters (name, value) VALUES ('kv', 1), ('lease', 0);
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  token INTEGER NOT NULL
) WITHOUT ROWID;
ALTER TABLE kv ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
`;

/**
 * Messages from channels are deliveries, too. A check of a table cannot be changed, so the table is made again; its counter goes on where it was, because ids
 * are never given twice.
 */
const inbound = `
CREATE TABLE deliveries_7 (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE CHECK (typeof(uid) = 'text'),
  dir TEXT NOT NULL CHECK (dir IN ('hook-agent', 'hook-wake', 'out', 'in')),
  lane TEXT NOT NULL CHECK (typeof(lane) = 'text'),
  idem_scope TEXT,
  idem_key TEXT,
  fingerprint TEXT,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  not_before INTEGER,
  lease_boot TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER,
  payload_bytes INTEGER NOT NULL,
  steps TEXT NOT NULL,
  result TEXT,
  payload BLOB
);
INSERT INTO deliveries_7 SELECT id, uid, dir, lane, idem_scope, idem_key, fingerprint, state, attempt, not_before, lease_boot, created_at, updated_at, expires_at,
  ended_at, payload_bytes, steps, result, payload FROM deliveries;
DELETE FROM sqlite_sequence WHERE name = 'deliveries_7';
INSERT INTO sqlite_sequence (name, seq) SELECT 'deliveries_7', seq FROM sqlite_sequence WHERE name = 'deliveries';
DROP TABLE deliveries;
ALTER TABLE deliveries_7 RENAME TO deliveries;
CREATE UNIQUE INDEX deliveries_by_key ON deliveries (idem_scope, idem_key, fingerprint) WHERE idem_key IS NOT NULL;
CREATE INDEX deliveries_open ON deliveries (lane, id, dir, state, not_before, created_at, expires_at, payload_bytes) WHERE ended_at IS NULL;
CREATE INDEX deliveries_ended ON deliveries (state, dir, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX deliveries_by_state ON deliveries (state, dir);
`;
