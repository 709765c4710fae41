import type { IdempotencyRow, MessageRow, RunRow, SessionRow, Store, SystemEventRow, TranscriptInfo } from "svc/sdk";
import type { Row } from "./database.ts";
import { createDeliveryReads, type DeliveryReads } from "./delivery-reads.ts";
import { clean, liveOwners, type ReadKit } from "./read-kit.ts";
import { decodeIdempotency, decodeMessage, decodeRun, decodeSession, decodeSystemEvent } from "./rows.ts";
import { boundLimit, createSessionList } from "./session-list.ts";

const lastSeq = Number.MAX_SAFE_INTEGER;
/** Size of a page of messages, unless its reader says otherwise. */
const pageBytes = 8 * 1024 * 1024;
/** Records of a transcript that are fetched at once; a page of pictures would otherwise be fetched whole to be cut off. */
const chunkRows = 1_000;

export type Reads = Pick<Store, "messages" | "transcripts" | "idempotency" | "systemEvents" | "kv" | "runs"> & {
  sessions: Omit<Store["sessions"], "version">;
  deliveries: DeliveryReads;
  /** Number of keys in a scope. */
  kvCount(scope: string): Promise<number>;
};

/** The reads of the store: one statement each, at most 1,000 rows. */
export function createReads(kit: ReadKit): Reads {
  const rows = createDecoder(kit);
  const deliveries = createDeliveryReads(kit);
  return {
    sessions: sessionReads(rows),
    messages: messageReads(rows),
    transcripts: transcriptReads(kit, deliveries),
    runs: runReads(rows),
    systemEvents: eventReads(kit, rows),
    deliveries,
    ...keyedReads(kit, rows),
  };
}

type Decoder = ReturnType<typeof createDecoder>;

function createDecoder({ query, onUnreadable }: ReadKit) {
  const some = async <T>(
    table: string,
    decode: (row: Row) => T,
    text: string,
    params: ReadonlyArray<string | number | null>,
  ): Promise<T[]> =>
    (await query(text, params.map(clean))).flatMap((row) => {
      try {
        return [decode(row)];
      } catch {
        onUnreadable(table, row.row ?? row.key ?? row.id);
        return [];
      }
    });
  return {
    some,
    one: async <T>(table: string, decode: (row: Row) => T, text: string, params: ReadonlyArray<string | number | null>) =>
      (await some(table, decode, text, params))[0],
  };
}

function sessionReads(rows: Decoder): Reads["sessions"] {
  const decode = decodeSession as (row: Row) => SessionRow;
  return {
    get: (key) => rows.one("sessions", decode, "SELECT * FROM sessions WHERE key = $1", [key]),
    bySessionId: (id) =>
      rows.one("sessions", decode, "SELECT * FROM sessions WHERE session_id = $1 ORDER BY updated_at DESC, key LIMIT 1", [id]),
    list: createSessionList((text, params) => rows.some("sessions", decode, text, params), rows),
  };
}

function messageReads(rows: Decoder): Reads["messages"] {
  const decode = decodeMessage as (row: Row) => MessageRow;
  // The sum is made by the database: what a page leaves out does not cross the wire.
  const pick = (
    order: "ASC" | "DESC",
    sessionId: string,
    from: number,
    { limit, maxBytes = pageBytes }: { limit: number; maxBytes?: number | undefined },
  ) =>
    rows.some(
      "messages",
      decode,
      `SELECT m.* FROM messages m JOIN (
         SELECT seq, sum(size) OVER (ORDER BY seq ${order}) AS total, row_number() OVER (ORDER BY seq ${order}) AS nth FROM (
           SELECT seq, octet_length(body) AS size FROM messages
           WHERE session_id = $1 AND seq ${order === "ASC" ? ">" : "<"} $2 ORDER BY seq ${order} LIMIT $3) AS near) AS sized
         ON m.session_id = $1 AND m.seq = sized.seq AND (sized.nth = 1 OR sized.total <= $4) ORDER BY m.seq`,
      [sessionId, Math.trunc(from), Math.min(chunkRows, boundLimit(limit)), boundBytes(maxBytes)],
    );
  return {
    page: (sessionId, { before = lastSeq, limit, maxBytes }) => pick("DESC", sessionId, before, { limit, maxBytes }),
    scan: (sessionId, after, limit, { maxBytes } = {}) => pick("ASC", sessionId, after, { limit, maxBytes }),
    count: async (sessionId) =>
      (await rows.one(
        "transcripts",
        (row) => Number(row.n),
        "SELECT last_seq - first_seq + 1 AS n FROM transcripts WHERE session_id = $1",
        [sessionId],
      )) ?? 0,
  };
}

function boundBytes(bytes: number): number {
  return Math.trunc(Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, bytes)));
}

function transcriptReads({ query }: ReadKit, deliveries: DeliveryReads): Reads["transcripts"] {
  const decode = (row: Row): TranscriptInfo => ({
    sessionId: String(row.session_id),
    lastAt: Number(row.last_at),
    hasSession: row.has_session === 1,
  });
  return {
    page: async ({ after = "", limit }) =>
      (
        await query(
          `SELECT t.session_id, t.last_at, (EXISTS (SELECT 1 FROM sessions s WHERE s.session_id = t.session_id))::integer AS has_session
           FROM transcripts t WHERE t.session_id > $1 ORDER BY t.session_id LIMIT $2`,
          [clean(after), boundLimit(limit)],
        )
      ).map(decode),
    async usedBytes() {
      const [row] = await query(
        "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS n FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'",
      );
      return Math.max(0, Number(row?.n ?? 0) - (await deliveries.counts()).bytes);
    },
  };
}

function runReads(rows: Decoder): Reads["runs"] {
  const decode = decodeRun as (row: Row) => RunRow;
  return {
    get: (runId) => rows.one("runs", decode, "SELECT * FROM runs WHERE run_id = $1", [runId]),
    unfinished: ({ expired = false } = {}) =>
      rows.some(
        "runs",
        decode,
        `SELECT * FROM runs WHERE finished_at IS NULL ${expired ? `AND boot_id NOT IN (${liveOwners})` : ""} ORDER BY row LIMIT 1000`,
        [],
      ),
  };
}

function eventReads({ query }: ReadKit, rows: Decoder): Reads["systemEvents"] {
  const decode = decodeSystemEvent as (row: Row) => SystemEventRow;
  return {
    pending: (sessionKey, limit) =>
      rows.some("system_events", decode, "SELECT * FROM system_events WHERE session_key = $1 ORDER BY row LIMIT $2", [
        sessionKey,
        boundLimit(limit),
      ]),
    waking: async () =>
      (await query("SELECT DISTINCT session_key FROM system_events WHERE wake = 1 LIMIT 1000")).map((row) => String(row.session_key)),
  };
}

function keyedReads({ query }: ReadKit, rows: Decoder): Pick<Reads, "idempotency" | "kv" | "kvCount"> {
  const decode = (row: Row) => ({ key: String(row.key), value: JSON.parse(String(row.value)) as unknown });
  const value = "SELECT key, value, version FROM kv WHERE scope = $1 AND key = $2";
  return {
    idempotency: {
      get: (family, key) =>
        rows.one(
          "idempotency",
          decodeIdempotency as (row: Row) => IdempotencyRow,
          "SELECT * FROM idempotency WHERE family = $1 AND key = $2",
          [family, key],
        ),
    },
    kv: {
      get: async (scope, key) => (await rows.one("kv", decode, value, [scope, key]))?.value,
      read: (scope, key) => rows.one("kv", (row) => ({ value: decode(row).value, version: Number(row.version) }), value, [scope, key]),
      list: (scope, prefix) =>
        rows.some(
          "kv",
          decode,
          "SELECT key, value FROM kv WHERE scope = $1 AND key >= $2 AND starts_with(key, $2) ORDER BY key LIMIT 1000",
          [scope, prefix],
        ),
    },
    kvCount: async (scope) => Number((await query("SELECT count(*) AS n FROM kv WHERE scope = $1", [clean(scope)]))[0]?.n ?? 0),
  };
}
