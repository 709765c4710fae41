import type { RunRow, TranscriptInfo } from "svc/sdk";
import { createDeliveryReads, type DeliveryReads } from "./delivery-reads.ts";
import type { Sqlite, Statement } from "./native.ts";
import { createRowReader, mostSkipped, type ReaderNotices, type RowReader } from "./row-reader.ts";
import { type Columns, decodeIdempotency, decodeMessage, decodeRun, decodeSession, decodeSystemEvent } from "./rows.ts";
import { boundLimit, createSessionList } from "./session-list.ts";
import type { SyncStore } from "./sync-store.ts";

const lastSeq = Number.MAX_SAFE_INTEGER;
/** Size of a page of messages, unless its reader says otherwise. */
const pageBytes = 8 * 1024 * 1024;

export type Reads = Pick<SyncStore, "messages" | "transcripts" | "idempotency" | "systemEvents" | "kv"> & {
  deliveries: DeliveryReads;
  sessions: Omit<SyncStore["sessions"], "version">;
  runs: {
    get: SyncStore["runs"]["get"];
    /** Unfinished runs of all but these owners. */
    unfinished(owners?: readonly string[]): RunRow[];
  };
  /** Token of each lease. */
  leases(): Map<string, number>;
  /** Number of keys in a scope. */
  kvCount(scope: string): number;
};

/** The reads of the store on a connection of the main thread: one statement each, at most 1,000 rows. */
export function createReader(db: Sqlite, notices: ReaderNotices): Reads {
  const rows = createRowReader(notices);
  const deliveries = createDeliveryReads(db, { rows, onUnreadable: notices.onUnreadable });
  return {
    sessions: sessionReads(db, rows),
    messages: messageReads(db, rows),
    transcripts: transcriptReads(db, { rows, deliveries }),
    runs: runReads(db, rows),
    systemEvents: systemEventReads(db, rows),
    deliveries,
    ...keyedReads(db, rows),
    leases: leaseReads(db, rows),
  };
}

function sessionReads(db: Sqlite, rows: RowReader): Reads["sessions"] {
  const byKey = db.prepare("SELECT * FROM sessions WHERE key = ?");
  const byTranscript = db.prepare("SELECT * FROM sessions WHERE session_id = ? ORDER BY updated_at DESC LIMIT 1");
  const list = createSessionList(db);
  return {
    get: (key) => rows.one("sessions", byKey, [key], decodeSession),
    bySessionId: (sessionId) => rows.one("sessions", byTranscript, [sessionId], decodeSession),
    list(query) {
      const found = rows.guard(() => list(query));
      return { rows: rows.some("sessions", () => found.rows, decodeSession, found.rows.length), total: found.total };
    },
  };
}

function messageReads(db: Sqlite, rows: RowReader): Reads["messages"] {
  const backwards = db.prepare("SELECT * FROM messages WHERE session_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?");
  const forwards = db.prepare("SELECT * FROM messages WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?");
  // Records are appended and removed as whole transcripts, so both ends say how many there are; counting would walk all of them.
  const count = db
    .prepare(
      `SELECT coalesce((SELECT max(seq) FROM messages WHERE session_id = @id) - (SELECT min(seq) FROM messages WHERE session_id = @id) + 1, 0)`,
    )
    .pluck();
  const pick = (statement: Statement, keys: [sessionId: string, seq: number], limit: number, maxBytes = pageBytes) => {
    const wanted = boundLimit(limit);
    return rows.some("messages", () => statement.iterate(...keys, wanted + mostSkipped), decodeMessage, wanted, maxBytes);
  };
  return {
    page: (sessionId, { before = lastSeq, limit, maxBytes }) => pick(backwards, [sessionId, before], limit, maxBytes).reverse(),
    scan: (sessionId, after, limit, { maxBytes } = {}) => pick(forwards, [sessionId, after], limit, maxBytes),
    count: (sessionId) => rows.guard(() => count.get({ id: sessionId }) as number),
  };
}

/** Each step of the recursion is one look into the index of messages, however many records a transcript has. */
function transcriptReads(db: Sqlite, { rows, deliveries }: { rows: RowReader; deliveries: DeliveryReads }): Reads["transcripts"] {
  const page = db.prepare(
    `WITH RECURSIVE ids (id, n) AS (
       SELECT (SELECT min(session_id) FROM messages WHERE session_id > @after), 1
       UNION ALL
       SELECT (SELECT min(session_id) FROM messages WHERE session_id > ids.id), n + 1 FROM ids WHERE id IS NOT NULL AND n < @limit)
     SELECT id, (SELECT ts FROM messages WHERE session_id = ids.id ORDER BY seq DESC LIMIT 1) AS last_at,
       EXISTS (SELECT 1 FROM sessions WHERE session_id = ids.id) AS has_session
     FROM ids WHERE id IS NOT NULL`,
  );
  const decode = (columns: Columns): TranscriptInfo => ({
    sessionId: String(columns.id),
    lastAt: Number(columns.last_at),
    hasSession: columns.has_session === 1,
  });
  return {
    page: ({ after = "", limit }) => rows.guard(() => (page.all({ after, limit: boundLimit(limit) }) as Columns[]).map(decode)),
    usedBytes: () =>
      rows.guard(() => {
        const [pages, free, size] = ["page_count", "freelist_count", "page_size"].map(
          (name) => db.pragma(name, { simple: true }) as number,
        );
        return Math.max(0, ((pages ?? 0) - (free ?? 0)) * (size ?? 0) - deliveries.counts().bytes);
      }),
  };
}

function runReads(db: Sqlite, rows: RowReader): Reads["runs"] {
  const byId = db.prepare("SELECT * FROM runs WHERE run_id = ?");
  const unfinished = db.prepare(
    "SELECT * FROM runs WHERE finished_at IS NULL AND boot_id NOT IN (SELECT value FROM json_each(?)) ORDER BY row LIMIT 1000",
  );
  return {
    get: (runId) => rows.one("runs", byId, [runId], decodeRun),
    unfinished: (owners = []) => rows.some("runs", () => unfinished.iterate(JSON.stringify(owners)), decodeRun, 1_000),
  };
}

function systemEventReads(db: Sqlite, rows: RowReader): Reads["systemEvents"] {
  const pending = db.prepare("SELECT * FROM system_events WHERE session_key = ? ORDER BY row LIMIT ?");
  const waking = db.prepare("SELECT DISTINCT session_key FROM system_events WHERE wake = 1 LIMIT 1000").pluck();
  return {
    pending(sessionKey, limit) {
      const wanted = boundLimit(limit);
      return rows.some("system_events", () => pending.iterate(sessionKey, wanted + mostSkipped), decodeSystemEvent, wanted);
    },
    waking: () => rows.guard(() => waking.all() as string[]),
  };
}

function keyedReads(db: Sqlite, rows: RowReader): Pick<Reads, "idempotency" | "kv" | "kvCount"> {
  const idempotency = db.prepare("SELECT * FROM idempotency WHERE family = ? AND key = ?");
  const value = db.prepare("SELECT key, value, version FROM kv WHERE scope = ? AND key = ?");
  const from = db.prepare("SELECT key, value FROM kv WHERE scope = ? AND key >= ? ORDER BY key LIMIT 1000");
  const count = db.prepare("SELECT count(*) AS n FROM kv WHERE scope = ?");
  const decodeValue = (columns: Columns) => ({ key: String(columns.key), value: JSON.parse(String(columns.value)) as unknown });
  return {
    idempotency: { get: (family, key) => rows.one("idempotency", idempotency, [family, key], decodeIdempotency) },
    kv: {
      get: (scope, key) => rows.one("kv", value, [scope, key], decodeValue)?.value,
      read: (scope, key) =>
        rows.one("kv", value, [scope, key], (columns) => ({ value: decodeValue(columns).value, version: Number(columns.version) })),
      list: (scope, prefix) => rows.some("kv", () => startingWith(from.iterate(scope, prefix), prefix), decodeValue, 1_000),
    },
    kvCount: (scope) => rows.one("kv", count, [scope], (columns) => Number(columns.n)) ?? 0,
  };
}

function leaseReads(db: Sqlite, rows: RowReader): Reads["leases"] {
  const all = db.prepare("SELECT name, token FROM leases");
  return () => rows.guard(() => new Map((all.all() as Array<{ name: string; token: number }>).map(({ name, token }) => [name, token])));
}

/** Keys with one prefix stand together in key order: the first without it ends them. */
function* startingWith(found: Iterable<unknown>, prefix: string): Generator<unknown> {
  for (const columns of found) {
    if (!String((columns as Columns).key).startsWith(prefix)) return;
    yield columns;
  }
}
