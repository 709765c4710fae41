import type { DeliveryCounts, DeliveryDir, DeliveryQuery, DeliveryRow, Store } from "svc/sdk";
import type { Param, Row } from "./database.ts";
import { decodeDelivery, deliveryDirs, deliveryStates, shownColumns } from "./delivery-rows.ts";
import { clean, liveOwners, type ReadKit } from "./read-kit.ts";
import { boundLimit } from "./session-list.ts";

const withPayload = `${shownColumns}, payload`;
/** `$1`: the kinds, as JSON. */
const isOneOf = "dir IN (SELECT jsonb_array_elements_text($1::text::jsonb))";
const waits = "state NOT IN ('running', 'sending')";
/** The oldest unfinished row of each lane. */
const heads = "SELECT min(id) FROM deliveries WHERE ended_at IS NULL GROUP BY lane";

export type DeliveryReads = Omit<Store["deliveries"], "crashed" | "gate">;

/** The reads of `Store.deliveries`; a row that is not whole is among what they find (`decodeDelivery`) and is counted. */
export function createDeliveryReads({ query, onUnreadable }: ReadKit): DeliveryReads {
  const decode = (columns: Row): DeliveryRow => {
    const { row, isWhole } = decodeDelivery(columns);
    if (!isWhole) onUnreadable("deliveries", row.id);
    return row;
  };
  const find = async (text: string, params: Param[]) => (await query(text, params.map(clean))).map(decode);
  return {
    get: async (uid) => (await find(`SELECT ${withPayload} FROM deliveries WHERE uid = $1`, [uid]))[0],
    byKey: async ({ idemScope, idemKey, fingerprint }) =>
      (
        await find(`SELECT ${withPayload} FROM deliveries WHERE idem_scope = $1 AND idem_key = $2 AND fingerprint = $3`, [
          idemScope,
          idemKey,
          fingerprint,
        ])
      )[0],
    due: ({ dirs, now, limit }) =>
      find(
        `SELECT ${withPayload} FROM deliveries WHERE id IN (${heads}) AND ${waits} AND ${isOneOf}
           AND (not_before IS NULL OR not_before <= $2) ORDER BY id LIMIT $3`,
        [JSON.stringify(dirs), Math.trunc(now), boundLimit(limit)],
      ),
    abandoned: ({ dirs, limit }) =>
      find(
        `SELECT ${withPayload} FROM deliveries WHERE ended_at IS NULL AND NOT ${waits} AND ${isOneOf}
           AND (lease_boot IS NULL OR lease_boot NOT IN (${liveOwners})) ORDER BY id LIMIT $2`,
        [JSON.stringify(dirs), boundLimit(limit)],
      ),
    overdue: ({ dirs, now, limit }) =>
      find(`SELECT ${withPayload} FROM deliveries WHERE ended_at IS NULL AND expires_at <= $2 AND ${isOneOf} ORDER BY id LIMIT $3`, [
        JSON.stringify(dirs),
        Math.trunc(now),
        boundLimit(limit),
      ]),
    nextAt: (dirs) => readNextAt(query, dirs),
    list: (wanted) => find(...listQuery(wanted)),
    counts: () => readCounts(query),
  };
}

async function readNextAt(query: ReadKit["query"], dirs: readonly DeliveryDir[]): Promise<number | undefined> {
  const [row] = await query(
    `SELECT least(
       (SELECT min(expires_at) FROM deliveries WHERE ended_at IS NULL AND ${waits} AND ${isOneOf}),
       (SELECT min(coalesce(not_before, created_at)) FROM deliveries WHERE id IN (${heads}) AND ${waits} AND ${isOneOf})) AS at`,
    [JSON.stringify(dirs)],
  );
  return typeof row?.at === "number" ? row.at : undefined;
}

/** One seek for each kind and state: a rare state is not looked for among thousands of another. */
function listQuery(query: DeliveryQuery): [text: string, params: Param[]] {
  const params = [boundLimit(query.limit), query.before ?? Number.MAX_SAFE_INTEGER];
  if (!query.dirs && !query.states) return [`SELECT ${shownColumns} FROM deliveries WHERE id < $2 ORDER BY id DESC LIMIT $1`, params];
  const states = [...new Set(query.states ?? deliveryStates)].filter((state) => deliveryStates.includes(state));
  const dirs = [...new Set(query.dirs ?? deliveryDirs)].filter((dir) => deliveryDirs.includes(dir));
  return [
    `SELECT ${shownColumns} FROM deliveries WHERE id IN (
       SELECT near.id FROM jsonb_array_elements_text($3::text::jsonb) AS s (state) CROSS JOIN jsonb_array_elements_text($4::text::jsonb) AS k (dir)
         CROSS JOIN LATERAL (SELECT d.id FROM deliveries d WHERE d.state = s.state AND d.dir = k.dir AND d.id < $2 ORDER BY d.id DESC LIMIT $1) AS near)
     ORDER BY id DESC LIMIT $1`,
    [...params, JSON.stringify(states), JSON.stringify(dirs)],
  ];
}

async function readCounts(query: ReadKit["query"]): Promise<DeliveryCounts> {
  const found = await query(
    "SELECT state, dir, count(*) AS n, coalesce(sum(payload_bytes) FILTER (WHERE ended_at IS NULL), 0)::bigint AS bytes FROM deliveries GROUP BY state, dir",
  );
  const byDir: DeliveryCounts["byDir"] = {};
  let bytes = 0;
  for (const { state, dir, n, bytes: own } of found) {
    const known = deliveryStates.find((one) => one === state) ?? "accepted";
    const before = byDir[dir as DeliveryDir];
    byDir[dir as DeliveryDir] = { ...before, [known]: (before?.[known] ?? 0) + Number(n) };
    bytes += Number(own);
  }
  return { byDir, bytes };
}
