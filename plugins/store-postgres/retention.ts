import type { Link } from "./database.ts";

const stepRows = 500;

/** One step: `$1` is the hash of the lock that makes one gateway the leader. Times are the database's. */
const lead = "SELECT pg_try_advisory_xact_lock(hashtext(current_schema()), 1)::integer AS leads";

const statements = [
  `DELETE FROM idempotency WHERE row IN (
     SELECT row FROM idempotency WHERE expires_at < (extract(epoch FROM clock_timestamp()) * 1000)::bigint
       AND (expires_at, row) <= (SELECT expires_at, row FROM idempotency ORDER BY expires_at DESC, row DESC LIMIT 1 OFFSET 1000)
     ORDER BY expires_at, row LIMIT ${stepRows}) AND (${lead}) = 1`,
  `DELETE FROM runs WHERE row IN (
     SELECT row FROM runs WHERE finished_at IS NOT NULL AND stored_at < clock_timestamp() - interval '1 day'
       AND (stored_at, row) <= (SELECT stored_at, row FROM runs WHERE finished_at IS NOT NULL ORDER BY stored_at DESC, row DESC LIMIT 1 OFFSET 10000)
     ORDER BY stored_at, row LIMIT ${stepRows}) AND (${lead}) = 1`,
  ...(["hook-agent", "hook-wake", "out", "in"] as const).flatMap((dir) =>
    (["done", "failed", "expired"] as const).flatMap((state) => {
      const kept = state === "done" && dir !== "in" ? "1 day" : "7 days";
      const own = `state = '${state}' AND dir = '${dir}'`;
      return [
        `DELETE FROM deliveries WHERE id IN (
           SELECT id FROM deliveries WHERE ${own} AND ended_at IS NOT NULL AND ended_by_server < clock_timestamp() - interval '${kept}'
           ORDER BY ended_by_server LIMIT ${stepRows}) AND (${lead}) = 1`,
        `DELETE FROM deliveries WHERE id IN (
           SELECT id FROM deliveries WHERE ${own} AND id <= (SELECT id FROM deliveries WHERE ${own} ORDER BY id DESC LIMIT 1 OFFSET ${dir === "in" ? 50_000 : 10_000})
           ORDER BY id LIMIT ${stepRows}) AND (${lead}) = 1`,
      ];
    }),
  ),
];

/**
 * Drops old rows, 500 at a time, each time in a transaction of its own; the gateway that gets the lock leads, the others find it taken and leave it to that one.
 * @param signal ends it between two steps
 */
export async function dropOldRows(link: Link, signal: AbortSignal): Promise<number> {
  let dropped = 0;
  for (const statement of statements) {
    for (let n = stepRows; n === stepRows && !signal.aborted; dropped += n) {
      const [row] = await link.query(`WITH gone AS (${statement} RETURNING 1) SELECT count(*) AS n FROM gone`);
      n = Number(row?.n ?? 0);
    }
  }
  return dropped;
}
