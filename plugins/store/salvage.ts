import { isUtf8 } from "node:buffer";
import { statSync } from "node:fs";
import { openConnection, type Sqlite, type Statement } from "./native.ts";
import type { Columns } from "./rows.ts";

/** Rows asked for at a time; a range that cannot be read is halved until what is left out is one row. */
const rangeRows = 1_024;
const valuesAtATime = 500;
/** A larger file is not checked table by table: that would hold up the start. */
const checkedBytes = 256 * 1024 * 1024;

/** Rows taken over from a damaged database. */
export interface Salvaged {
  /** Rows that were added or replaced, by table; only tables with some. */
  rows: Record<string, number>;
  /** Ids that may have held rows and could not be read, by table; only tables with some. */
  unreadable: Record<string, number>;
  /** Tables that could not be reached at all, or not before the time was up. */
  notReached: string[];
  /** Tables whose structure is damaged: rows may be missing there although every read succeeds. */
  damaged: string[];
  /** False: the file was too large to be checked table by table. */
  isChecked: boolean;
}

interface SalvagedTable {
  name: string;
  key: string;
  /** Columns whose text is JSON: bytes that were overwritten in the middle of a row are no structural damage. */
  json: readonly string[];
  /** Rows are added and removed, never changed: what the target has is not copied again. */
  isAppendOnly?: true;
}

/** The order is that of worth: accepted work first, the long history last. */
const tables: readonly SalvagedTable[] = [
  { name: "deliveries", key: "id", json: ["payload", "steps", "result"] },
  { name: "sessions", key: "row", json: ["body"] },
  { name: "runs", key: "row", json: ["outcome"] },
  { name: "system_events", key: "row", json: ["body"] },
  { name: "idempotency", key: "row", json: ["value"] },
  { name: "set_aside", key: "id", json: [] },
  { name: "messages", key: "row", json: ["body"], isAppendOnly: true },
];

/**
 * Brings `db`, a snapshot or an empty database, as close as can be to a damaged one: rows that can be read there replace those of the same id. Rows that
 * are missing there are removed only when their table has no damage: a page of zeros, or one that nothing leads to any more, reads as if it had no rows.
 * @param path damaged file to read from; SQLite may write to it
 * @param isOver asked between ranges: true ends the work
 * @returns undefined when nothing of the file can be read
 */
export async function salvage(db: Sqlite, path: string, isOver: () => boolean): Promise<Salvaged | undefined> {
  const isChecked = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= checkedBytes;
  const damaged = await openDamaged(path);
  if (!damaged) return undefined;
  const found: Salvaged = { rows: {}, unreadable: {}, notReached: [], damaged: [], isChecked };
  try {
    const isSound = (name: string) => {
      if (!isChecked) return false;
      const isFine = isSoundTable(damaged, name);
      if (!isFine) found.damaged.push(name);
      return isFine;
    };
    const work: Work = { db, damaged, found, isOver, isSound };
    for (const table of tables) if (!salvageTable(work, table)) found.notReached.push(table.name);
    if (isOver() || !salvageValues(work)) found.notReached.push("kv");
  } finally {
    damaged.close();
  }
  return found;
}

/** Undefined when not even its schema can be read. */
async function openDamaged(path: string): Promise<Sqlite | undefined> {
  const damaged = await openConnection(path, {});
  try {
    damaged.pragma("cell_size_check = ON");
    damaged.pragma("trusted_schema = OFF");
    damaged.prepare("SELECT count(*) FROM sqlite_master").get();
    return damaged;
  } catch (error) {
    damaged.close();
    if (isReadFault(error)) return undefined;
    throw error;
  }
}

interface Work {
  db: Sqlite;
  damaged: Sqlite;
  found: Salvaged;
  isOver(): boolean;
  /** Has this table of the damaged file no damage of its structure? */
  isSound(table: string): boolean;
}

/** False when the table could not be gone through to its end. */
function salvageTable(work: Work, table: SalvagedTable): boolean {
  const { name, key, isAppendOnly } = table;
  const { db, damaged, found, isOver } = work;
  const isSound = work.isSound(name);
  const source = unlessUnreadable(() => damaged.prepare(`SELECT * FROM ${name} NOT INDEXED WHERE ${key} BETWEEN ? AND ? ORDER BY ${key}`));
  if (!source) return false;
  const own = lastId(db, table) ?? 0;
  const last = lastId(damaged, table) ?? lastReachableId(damaged, table, own);
  const target = prepareTarget(work, table);
  const take = (from: number, to: number): void => {
    if (from > to) return;
    const rows = unlessUnreadable(() => source.all(from, to) as Columns[]);
    if (rows) {
      const wanted = isAppendOnly ? rows.filter((row) => Number(row[key]) > own) : rows;
      const done = target.replace({ from, to, rows: wanted, ids: isSound ? rows.map((row) => row[key]) : undefined });
      count(found.rows, name, done.copied);
      count(found.unreadable, name, done.broken);
    } else if (from === to) count(found.unreadable, name, 1);
    else {
      const middle = Math.floor((from + to) / 2);
      take(from, middle);
      take(middle + 1, to);
    }
  };
  // The newest first: what the snapshot does not have is there.
  for (let to = Math.max(last, own); to > 0; to -= rangeRows) {
    if (isOver()) return false;
    take(Math.max(1, to - rangeRows + 1), to);
  }
  return true;
}

interface Range {
  from: number;
  to: number;
  /** Rows that may have to be copied. */
  rows: readonly Columns[];
  /** Ids of all rows that are there; undefined: some that are not seen may be there. */
  ids: ReadonlyArray<unknown> | undefined;
}

interface Target {
  /** Makes a range of the table like that of the damaged file. */
  replace(range: Range): { copied: number; broken: number };
}

function prepareTarget({ db, damaged }: Work, { name, key, json }: SalvagedTable): Target {
  const columns = (db.pragma(`table_info(${name})`) as Array<{ name: string }>).map((column) => column.name);
  const present = db.prepare(`SELECT * FROM ${name} NOT INDEXED WHERE ${key} BETWEEN ? AND ?`);
  const remove = db.prepare(`DELETE FROM ${name} WHERE ${key} = ?`);
  const isText = textCheck(damaged, name, `${key} = @${key}`);
  const inserts = new Map<string, Statement>();
  /** A file of an older schema has fewer columns; the others get their defaults. */
  const insertFor = (row: Columns): Statement => {
    const known = columns.filter((column) => column in row);
    const id = known.join();
    const made =
      inserts.get(id) ??
      db.prepare(`INSERT OR REPLACE INTO ${name} (${known.join(", ")}) VALUES (${known.map((column) => `@${column}`).join(", ")})`);
    inserts.set(id, made);
    return made;
  };
  return {
    replace: db.transaction(({ from, to, rows, ids }: Range) => {
      const own = new Map((present.all(from, to) as Columns[]).map((row) => [row[key], row]));
      const theirs = ids && new Set(ids);
      if (theirs) for (const id of own.keys()) if (!theirs.has(id)) remove.run(id);
      let copied = 0;
      let broken = 0;
      for (const row of rows) {
        if (isSameRow(own.get(row[key] as number), row)) continue;
        if (isWhole(row, json) && isText(row) && isTaken(() => insertFor(row).run(row))) copied += 1;
        else broken += 1;
      }
      return { copied, broken };
    }),
  };
}

/** Checks the order of ids, the bounds of cells and the pages that lead to them; the content of rows is not checked. */
function isSoundTable(damaged: Sqlite, name: string): boolean {
  const found = unlessUnreadable(() => damaged.pragma(`quick_check(${name})`, { simple: true }));
  return found === "ok";
}

function isSameRow(a: Columns | undefined, b: Columns): boolean {
  return a !== undefined && Object.entries(b).every(([column, value]) => a[column] === value);
}

function isWhole(row: Columns, json: readonly string[]): boolean {
  return json.every((column) => row[column] === null || row[column] === undefined || isJson(row[column]));
}

/** Replacement for bytes that were not valid UTF-8 in a text. */
const replacement = "\uFFFD";

/**
 * Makes the check whether the texts of a row are UTF-8, as all that was written is: eight bytes of something else in the middle of a text leave the JSON
 * around it whole.
 */
function textCheck(damaged: Sqlite, table: string, isRow: string): (row: Columns) => boolean {
  return (row) =>
    Object.entries(row).every(([column, value]) => {
      if (typeof value !== "string" || !value.includes(replacement)) return true;
      const read = () => damaged.prepare(`SELECT CAST(${column} AS BLOB) FROM ${table} NOT INDEXED WHERE ${isRow}`).pluck().get(row);
      const bytes = unlessUnreadable(read);
      return bytes instanceof Uint8Array && isUtf8(bytes);
    });
}

function isJson(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

/** False for a row that the table does not take: its bytes are not those that were written. */
function isTaken(write: () => void): boolean {
  try {
    write();
    return true;
  } catch (error) {
    if (isReadFault(error)) return false;
    throw error;
  }
}

/** Undefined when the end of the table cannot be read. */
function lastId(db: Sqlite, { name, key }: SalvagedTable): number | undefined {
  return unlessUnreadable(() => Number(db.prepare(`SELECT coalesce(max(${key}), 0) FROM ${name} NOT INDEXED`).pluck().get()));
}

/** Looks behind the last known id at doubling distances for rows that can be read. */
function lastReachableId(damaged: Sqlite, { name, key }: SalvagedTable, own: number): number {
  const from = unlessUnreadable(() =>
    damaged.prepare(`SELECT ${key} FROM ${name} NOT INDEXED WHERE ${key} >= ? ORDER BY ${key} LIMIT 1`).pluck(),
  );
  let last = own;
  for (let step = 1; from && step < 2 ** 30; step *= 2) {
    const next = unlessUnreadable(() => from.get(own + step) as number | undefined);
    if (next !== undefined) last = Math.max(last, next);
  }
  return last + rangeRows;
}

/** `kv` has no row ids: it is read from both ends, and what cannot be read is between them. False when nothing of it could be read. */
function salvageValues({ db, damaged, found, isSound }: Work): boolean {
  const isText = textCheck(damaged, "kv", "scope = @scope AND key = @key");
  const put = db.prepare("INSERT OR REPLACE INTO kv (scope, key, value) VALUES (@scope, @key, @value)");
  const known = db.prepare("SELECT value FROM kv WHERE scope = @scope AND key = @key").pluck();
  const seen = new Set<string>();
  let broken = 0;
  const takeAll = db.transaction((rows: readonly Columns[]) => {
    for (const row of rows) {
      if (seen.has(placeOf(row))) continue;
      seen.add(placeOf(row));
      if (!isJson(row.value) || !isText(row)) broken += 1;
      else if (known.get(row) !== row.value) count(found.rows, "kv", put.run(row).changes);
    }
  });
  const isReadUp = readValues(damaged, "ASC", takeAll);
  const isReadDown = isReadUp || readValues(damaged, "DESC", takeAll);
  if (isReadUp && isSound("kv")) {
    const remove = db.prepare("DELETE FROM kv WHERE scope = @scope AND key = @key");
    const all = db.prepare("SELECT scope, key FROM kv").all() as Columns[];
    db.transaction(() => {
      for (const row of all) if (!seen.has(placeOf(row))) remove.run(row);
    })();
  } else if (!isReadUp) broken += 1;
  count(found.unreadable, "kv", broken);
  return isReadUp || isReadDown || seen.size > 0;
}

/** True when it could be read to the end. */
function readValues(damaged: Sqlite, order: "ASC" | "DESC", take: (rows: readonly Columns[]) => void): boolean {
  const compare = order === "ASC" ? ">" : "<";
  const next = unlessUnreadable(() =>
    damaged.prepare(
      `SELECT scope, key, value FROM kv WHERE @scope IS NULL OR (scope, key) ${compare} (@scope, @key) ORDER BY scope ${order}, key ${order} LIMIT @limit`,
    ),
  );
  let at: Columns = { scope: null, key: null };
  let limit = valuesAtATime;
  for (;;) {
    const rows = next && unlessUnreadable(() => next.all({ ...at, limit }) as Columns[]);
    // The rows before the damage are reached in smaller and smaller steps.
    if (!rows && limit === 1) return false;
    if (!rows) {
      limit = Math.max(1, Math.floor(limit / 8));
      continue;
    }
    take(rows);
    const last = rows.at(-1);
    if (rows.length < limit || !last) return true;
    at = { scope: last.scope ?? null, key: last.key ?? null };
  }
}

function placeOf({ scope, key }: Columns): string {
  return JSON.stringify([scope, key]);
}

function count(of: Record<string, number>, name: string, by: number): void {
  if (by > 0) of[name] = (of[name] ?? 0) + by;
}

/** Undefined where damage stands in the way. */
function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isReadFault(error)) return undefined;
    throw error;
  }
}

/** Damage, a table that is not there, or a row that no table of ours takes. */
function isReadFault(error: unknown): boolean {
  const code = error instanceof Error && error.name === "SqliteError" ? String((error as Error & { code?: unknown }).code) : "";
  return /^SQLITE_(CORRUPT|NOTADB|CONSTRAINT|MISMATCH|IOERR_SHORT_READ|ERROR|TOOBIG)/.test(code);
}
