import { deliveryFunctions } from "./sql-deliveries.ts";
import { groupFunctions } from "./sql-group.ts";
import { operationFunctions } from "./sql-operations.ts";

export interface SchemaStep {
  /** Version of the schema after this step; 1, 2, 3 … without gaps. */
  version: number;
  /** Oldest schema version whose programs may still use the database after this step; default: this version. */
  minReader?: number;
  /** Runs in the transaction of the migration, with the schema first in the search path. */
  sql: string;
}

/**
 * Columns for what is queried, JSON for the rest, as text: `jsonb` takes neither U+0000 nor lone surrogates. Keys compare by bytes, so that their order is that of the
 * embedded store. `stored_at` and `ended_by_server` are times of the database: what is dropped, and which key is known, must not hang on the clock of a gateway.
 */
const tables = `
CREATE TABLE sessions (
  key text COLLATE "C" PRIMARY KEY,
  session_id text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  updated_at bigint NOT NULL,
  last_interaction_at bigint,
  archived integer NOT NULL,
  label text COLLATE "C",
  spawned_by text COLLATE "C",
  title text,
  key_fold text NOT NULL,
  label_fold text,
  title_fold text,
  search text GENERATED ALWAYS AS (key_fold || coalesce(chr(10) || label_fold, '') || coalesce(chr(10) || title_fold, '')) STORED,
  body text NOT NULL
);
CREATE INDEX sessions_by_transcript ON sessions (session_id);
CREATE INDEX sessions_by_update ON sessions (updated_at DESC, key);
CREATE INDEX sessions_by_interaction ON sessions (last_interaction_at DESC NULLS LAST, key);
CREATE INDEX sessions_by_kind ON sessions (kind, archived, agent_id);
CREATE INDEX sessions_by_label ON sessions (agent_id, label) WHERE label IS NOT NULL;
CREATE INDEX sessions_by_origin ON sessions (spawned_by) WHERE spawned_by IS NOT NULL;

CREATE TABLE transcripts (
  session_id text COLLATE "C" PRIMARY KEY,
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  last_at bigint NOT NULL
);
CREATE TABLE messages (
  session_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  ts bigint NOT NULL,
  role text NOT NULL,
  run_id text COLLATE "C",
  body text NOT NULL,
  PRIMARY KEY (session_id, seq),
  UNIQUE (session_id, id)
);

CREATE TABLE runs (
  row bigint GENERATED ALWAYS AS IDENTITY,
  run_id text COLLATE "C" PRIMARY KEY,
  session_key text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  state text NOT NULL,
  trigger text NOT NULL,
  boot_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  started_at bigint,
  ended_at bigint,
  finished_at bigint,
  outcome text,
  stored_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX runs_unfinished ON runs (row) WHERE finished_at IS NULL;
CREATE INDEX runs_finished ON runs (stored_at, row) WHERE finished_at IS NOT NULL;

CREATE TABLE idempotency (
  row bigint GENERATED ALWAYS AS IDENTITY,
  family text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (family, key)
);
CREATE INDEX idempotency_by_expiry ON idempotency (expires_at, row);

CREATE SEQUENCE kv_version;
CREATE TABLE kv (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (scope, key)
);

CREATE TABLE system_events (
  row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session_key text COLLATE "C" NOT NULL,
  wake integer NOT NULL,
  same text NOT NULL,
  body text NOT NULL
);
CREATE INDEX system_events_by_session ON system_events (session_key, row);
CREATE INDEX system_events_waking ON system_events (session_key) WHERE wake = 1;

CREATE TABLE deliveries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  uid text COLLATE "C" NOT NULL UNIQUE,
  dir text NOT NULL CHECK (dir IN ('hook-agent', 'hook-wake', 'out', 'in')),
  lane text COLLATE "C" NOT NULL,
  idem_scope text COLLATE "C",
  idem_key text COLLATE "C",
  fingerprint text COLLATE "C",
  state text NOT NULL,
  attempt bigint NOT NULL,
  not_before bigint,
  lease_boot text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  ended_at bigint,
  ended_by_server timestamptz,
  payload_bytes bigint NOT NULL,
  steps text NOT NULL,
  result text,
  payload text
);
CREATE UNIQUE INDEX deliveries_by_key ON deliveries (idem_scope, idem_key, fingerprint) WHERE idem_key IS NOT NULL;
CREATE INDEX deliveries_open ON deliveries (lane, id) INCLUDE (dir, state, payload_bytes) WHERE ended_at IS NULL;
CREATE INDEX deliveries_ended ON deliveries (state, dir, ended_by_server) WHERE ended_at IS NOT NULL;
CREATE INDEX deliveries_by_state ON deliveries (state, dir, id);

CREATE TABLE gateway (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  boot_id text COLLATE "C" NOT NULL UNIQUE,
  instance text COLLATE "C" NOT NULL,
  version text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  lease_until timestamptz NOT NULL,
  fenced_at timestamptz
);
CREATE INDEX gateway_by_instance ON gateway (instance);
CREATE SEQUENCE lease_token;
CREATE TABLE lease (
  name text COLLATE "C" PRIMARY KEY,
  gateway_id bigint NOT NULL,
  token bigint NOT NULL,
  owner text COLLATE "C"
);
CREATE INDEX lease_by_gateway ON lease (gateway_id);

CREATE TABLE probe (id integer PRIMARY KEY, n bigint NOT NULL);
INSERT INTO probe VALUES (1, 0);
`;

/** Steps are only ever added: an old step describes schemas that exist. */
export const schemaSteps: readonly SchemaStep[] = [
  { version: 1, sql: [tables, operationFunctions, deliveryFunctions, groupFunctions].join("\n") },
];
