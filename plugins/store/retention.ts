import type { DeliveryDir } from "svc/sdk";
import { deliveryDirs } from "./delivery-rows.ts";
import type { Sqlite, Statement } from "./native.ts";

const dayMs = 86_400_000;
const idempotencyKept = 1_000;
const runsKept = 10_000;
/** Ended deliveries: how long. Those of `in` are what tells a message that comes again. */
const doneKeptMs = { "hook-agent": dayMs, "hook-wake": dayMs, out: dayMs, in: 7 * dayMs } as const satisfies Record<DeliveryDir, number>;
const lostKeptMs = 7 * dayMs;
/** And how many of a kind and state. */
const deliveriesKept = 10_000;
const inboundKept = 50_000;
/** Rows of one step; keeps each transaction at a few milliseconds, so that commits pass in between. */
const stepRows = 500;

export interface Retention {
  /** Drops one step's worth of old rows in one transaction; true when there may be more. */
  step(now: number): boolean;
}

/**
 * Prunes old rows. Kept: idempotency rows that have not expired and the newest 1,000 in all; finished runs of the last 24 h and the newest
 * 10,000; unfinished runs always. Deliveries: the newest 10,000 of each kind and end (50,000 messages of channels), `done` for 24 h, others and messages of
 * channels for 7 days; unfinished ones always.
 */
export function createRetention(db: Sqlite): Retention {
  const idempotency = dropOld(db, { table: "idempotency", by: "expires_at", kept: idempotencyKept });
  const runs = dropOld(db, { table: "runs", by: "finished_at", kept: runsKept });
  const deliveries = dropDeliveries(db);
  return {
    step: (now) =>
      db
        .transaction(() => {
          const more = [idempotency(now), runs(now - dayMs), deliveries(now)];
          return more.includes(true);
        })
        .immediate(),
  };
}

function dropOld(db: Sqlite, { table, by, kept }: { table: string; by: string; kept: number }): (before: number) => boolean {
  // The newest row that is one too many; everything older may go once its time has passed.
  const firstExtra = db.prepare(
    `SELECT ${by} AS at, row FROM ${table} WHERE ${by} IS NOT NULL ORDER BY ${by} DESC, row DESC LIMIT 1 OFFSET ${kept}`,
  ) as Statement & { get(): { at: number; row: number } | undefined };
  const drop = db.prepare(
    `DELETE FROM ${table} WHERE row IN (
       SELECT row FROM ${table} WHERE ${by} IS NOT NULL AND ${by} < @before AND (${by}, row) <= (@at, @row) ORDER BY ${by}, row LIMIT ${stepRows})`,
  );
  return (before) => {
    const extra = firstExtra.get();
    return extra !== undefined && drop.run({ before, ...extra }).changes === stepRows;
  };
}

/** A kind has its own share, so that thousands of wakes do not push out the keys of agent runs. */
function dropDeliveries(db: Sqlite): (now: number) => boolean {
  const old = db.prepare(
    `DELETE FROM deliveries WHERE id IN (
       SELECT id FROM deliveries WHERE state = @state AND dir = @dir AND ended_at IS NOT NULL AND ended_at < @before ORDER BY ended_at LIMIT ${stepRows})`,
  );
  const extra = db.prepare(
    `DELETE FROM deliveries WHERE id IN (
       SELECT id FROM deliveries WHERE state = @state AND dir = @dir
         AND id <= (SELECT id FROM deliveries WHERE state = @state AND dir = @dir ORDER BY id DESC LIMIT 1 OFFSET @kept)
       ORDER BY id LIMIT ${stepRows})`,
  );
  return (now) => {
    let more = false;
    for (const state of ["done", "failed", "expired"] as const) {
      for (const dir of deliveryDirs) {
        const keptMs = state === "done" ? doneKeptMs[dir] : lostKeptMs;
        const kept = dir === "in" ? inboundKept : deliveriesKept;
        const dropped = [old.run({ state, dir, before: now - keptMs }), extra.run({ state, dir, kept })];
        more ||= dropped.some(({ changes }) => changes === stepRows);
      }
    }
    return more;
  };
}
