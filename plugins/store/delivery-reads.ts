import type { DeliveryCounts, DeliveryDir, DeliveryQuery, DeliveryRow } from "svc/sdk";
import { decodeDelivery, deliveryDirs, deliveryStates, shownColumns } from "./delivery-rows.ts";
import type { Sqlite } from "./native.ts";
import type { ReaderNotices, RowReader } from "./row-reader.ts";
import type { Columns } from "./rows.ts";
import { boundLimit } from "./session-list.ts";
import type { SyncStore } from "./sync-store.ts";

const withPayload = `${shownColumns}, payload`;
const isOneOf = "dir IN (SELECT value FROM json_each(@dirs))";
/** A row that cannot say where it is counts as waiting, so that somebody meets it. */
const waits = "state NOT IN ('running', 'sending')";
/** The oldest unfinished row of each lane. */
const heads = "SELECT min(id) FROM deliveries WHERE ended_at IS NULL GROUP BY lane";

export type DeliveryReads = Omit<SyncStore["deliveries"], "crashed" | "gate" | "abandoned"> & {
  /** `running` and `sending` rows of all but these owners. */
  abandoned(options: { dirs: readonly DeliveryDir[]; owners: readonly string[]; limit: number }): DeliveryRow[];
};

/**
 * The reads of `Store.deliveries`. Scans of unfinished rows walk one index of at most 2,000 entries; a row that is not whole is among what they find
 * (`decodeDelivery`) and is counted.
 */
export function createDeliveryReads(
  db: Sqlite,
  { rows, onUnreadable }: { rows: RowReader; onUnreadable: ReaderNotices["onUnreadable"] },
): DeliveryReads {
  const decode = (columns: Columns): DeliveryRow => {
    const { row, isWhole } = decodeDelivery(columns);
    if (!isWhole) onUnreadable("deliveries", row.id);
    return row;
  };
  const byUid = db.prepare(`SELECT ${withPayload} FROM deliveries WHERE uid = ?`);
  const byKey = db.prepare(`SELECT ${withPayload} FROM deliveries WHERE idem_scope = ? AND idem_key = ? AND fingerprint = ?`);
  const scan = (sql: string) => {
    const statement = db.prepare(sql);
    return (values: { dirs: readonly DeliveryDir[]; limit: number; now?: number; owners?: readonly string[] }): DeliveryRow[] => {
      const limit = boundLimit(values.limit);
      const bound = { now: values.now ?? null, owners: JSON.stringify(values.owners ?? []), dirs: JSON.stringify(values.dirs), limit };
      return rows.some("deliveries", () => statement.iterate(bound), decode, limit);
    };
  };
  return {
    get: (uid) => rows.one("deliveries", byUid, [uid], decode),
    byKey: ({ idemScope, idemKey, fingerprint }) => rows.one("deliveries", byKey, [idemScope, idemKey, fingerprint], decode),
    due: scan(
      `SELECT ${withPayload} FROM deliveries WHERE id IN (${heads}) AND ${waits} AND ${isOneOf}
         AND (typeof(not_before) <> 'integer' OR not_before <= @now) ORDER BY id LIMIT @limit`,
    ),
    abandoned: scan(
      `SELECT ${withPayload} FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE ended_at IS NULL AND NOT ${waits} AND ${isOneOf})
         AND (lease_boot IS NULL OR lease_boot NOT IN (SELECT value FROM json_each(@owners))) ORDER BY id LIMIT @limit`,
    ),
    overdue: scan(
      `SELECT ${withPayload} FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE ended_at IS NULL AND expires_at <= @now AND ${isOneOf})
         ORDER BY id LIMIT @limit`,
    ),
    nextAt: readNextAt(db, rows),
    list: readList(db, rows, decode),
    counts: readCounts(db, rows),
  };
}

function readNextAt(db: Sqlite, rows: RowReader): SyncStore["deliveries"]["nextAt"] {
  const next = db
    .prepare(
      `SELECT min(at) FROM (
         SELECT min(expires_at) AS at FROM deliveries WHERE ended_at IS NULL AND ${waits} AND ${isOneOf}
         UNION ALL
         SELECT min(coalesce(not_before, created_at)) FROM deliveries WHERE ended_at IS NULL AND id IN (${heads}) AND ${waits} AND ${isOneOf})`,
    )
    .pluck();
  return (dirs) => {
    const at = rows.guard(() => next.get({ dirs: JSON.stringify(dirs) })) as unknown;
    if (at === null) return undefined;
    return typeof at === "number" ? at : 0;
  };
}

function readList(db: Sqlite, rows: RowReader, decode: (columns: Columns) => DeliveryRow): SyncStore["deliveries"]["list"] {
  const page = db.prepare(`SELECT ${shownColumns} FROM deliveries WHERE id < ? ORDER BY id DESC LIMIT ?`);
  // One seek for each kind and state: a rare state is not looked for among thousands of another.
  const ids = db.prepare("SELECT id FROM deliveries WHERE state = ? AND dir = ? AND id < ? ORDER BY id DESC LIMIT ?").pluck();
  const byIds = db.prepare(`SELECT ${shownColumns} FROM deliveries WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id DESC`);

  const read = db.transaction((query: DeliveryQuery): DeliveryRow[] => {
    const limit = boundLimit(query.limit);
    const before = query.before ?? Number.MAX_SAFE_INTEGER;
    if (!query.dirs && !query.states) return rows.some("deliveries", () => page.iterate(before, limit), decode, limit);
    const states = [...new Set(query.states ?? deliveryStates)];
    const dirs = [...new Set(query.dirs ?? deliveryDirs)];
    const found = states.flatMap((state) => dirs.flatMap((dir) => ids.all(state, dir, before, limit) as number[]));
    const newest = found.sort((a, b) => b - a).slice(0, limit);
    return rows.some("deliveries", () => byIds.iterate(JSON.stringify(newest)), decode, limit);
  });
  return (query) => rows.guard(() => read(query));
}

function readCounts(db: Sqlite, rows: RowReader): SyncStore["deliveries"]["counts"] {
  const counted = db.prepare("SELECT state, dir, count(*) AS n FROM deliveries GROUP BY state, dir");
  const waiting = db.prepare("SELECT coalesce(sum(payload_bytes), 0) FROM deliveries WHERE ended_at IS NULL").pluck();

  const read = db.transaction((): DeliveryCounts => {
    const byDir: DeliveryCounts["byDir"] = {};
    for (const { state, dir, n } of counted.all() as Array<{ state: string; dir: DeliveryDir; n: number }>) {
      // An unknown state counts as waiting here too.
      const known = deliveryStates.find((one) => one === state) ?? "accepted";
      byDir[dir] = { ...byDir[dir], [known]: (byDir[dir]?.[known] ?? 0) + n };
    }
    return { byDir, bytes: waiting.get() as number };
  });
  return () => rows.guard(read);
}
