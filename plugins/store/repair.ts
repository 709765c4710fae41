import { existsSync } from "node:fs";
import { writeFileAtomic } from "svc/sdk";
import type { Sqlite } from "./native.ts";
import { openDatabase } from "./open-database.ts";
import { type Restored, suspectMark } from "./restore.ts";
import { schemaSteps } from "./schema.ts";
import { listSnapshots } from "./snapshots.ts";

/** Result of the repair of a database that no process uses. */
export interface Repair {
  /** It was damaged or missing, and was replaced. */
  restored?: Restored;
  /** File with the rows that cannot be read, one JSON line each; absent when all can. */
  keptRows?: { path: string; count: number };
}

/** Columns whose text is JSON, by table. Deliveries are left alone: who waits for one has to see that it is broken, and can end it. */
const readTables: ReadonlyArray<{ table: string; column: string }> = [
  { table: "sessions", column: "body" },
  { table: "messages", column: "body" },
  { table: "runs", column: "outcome" },
  { table: "system_events", column: "body" },
  { table: "idempotency", column: "value" },
];

/**
 * Checks the state database in full, whatever its size, replaces a damaged one as a start does, and takes rows that do not parse out of it into a file. The state
 * lock must be held.
 * @returns undefined when there is no database yet
 * @throws {Refusal} as `openDatabase`
 */
export async function repairDatabase(path: string, { now }: { now: number }): Promise<Repair | undefined> {
  if (!existsSync(path) && !existsSync(`${path}-wal`) && listSnapshots(path).length === 0) return undefined;
  if (existsSync(path)) await writeFileAtomic(suspectMark(path), "");
  const { db, restored } = await openDatabase({ path, steps: schemaSteps, visit: () => undefined, now });
  try {
    const keptRows = await takeUnreadable(db, `${path}.unreadable.${now}.jsonl`);
    db.pragma("wal_checkpoint(TRUNCATE)");
    return { ...(restored ? { restored } : {}), ...(keptRows ? { keptRows } : {}) };
  } finally {
    db.close();
  }
}

/** The file is on disk before a row is deleted. Rows that were set aside while a gateway ran go along. */
async function takeUnreadable(db: Sqlite, path: string): Promise<Repair["keptRows"]> {
  const lines: string[] = [];
  const found = readTables.map(({ table, column }) => {
    const where = `WHERE ${column} IS NOT NULL AND NOT json_valid(${column})`;
    const rows = db.prepare(`SELECT * FROM ${table} ${where}`).all() as Array<{ row: number }>;
    for (const row of rows) lines.push(JSON.stringify({ table, ...row }));
    return { table, ids: rows.map(({ row }) => row) };
  });
  for (const row of db.prepare("SELECT * FROM set_aside").all() as object[]) lines.push(JSON.stringify({ table: "set_aside", ...row }));
  if (lines.length === 0) return undefined;
  await writeFileAtomic(path, `${lines.join("\n")}\n`);
  db.transaction(() => {
    for (const { table, ids } of found) {
      const remove = db.prepare(`DELETE FROM ${table} WHERE row = ?`);
      for (const id of ids) remove.run(id);
    }
    db.exec("DELETE FROM set_aside");
  })();
  return { path, count: lines.length };
}
