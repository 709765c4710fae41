import { closeSync, openSync, writeSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openConnection, type Sqlite } from "./native.ts";
import type { OpenStore } from "./open-store.ts";
import type { Columns } from "./rows.ts";
import { takeSnapshot } from "./snapshots.ts";
import { corrupt, seeded } from "./testing/corrupt.ts";
import { accept, append, put, run, session, tempStore } from "./testing/temp-store.ts";

const pageBytes = 4_096;

/** Tables by the column that names their rows. */
const named = {
  ...{ sessions: "key", messages: "id", runs: "run_id", system_events: "session_key" },
  ...{ idempotency: "key", deliveries: "uid", kv: "key" },
} as const;
type Table = keyof typeof named;

const stored = (name: string) => [
  put(session(name)),
  append(name),
  { op: "run.put" as const, run: run(name) },
  { op: "systemEvent.add" as const, event: { sessionKey: name, text: `event of ${name}`, source: "test", ts: 1, wake: false } },
  { op: "idempotency.put" as const, row: { family: "f", key: name, value: { of: name }, createdAt: 1, expiresAt: 9e12 } },
  { op: "kv.put" as const, scope: "s", key: name, value: { of: name } },
  accept(name),
];

interface Damage {
  /** Writes of the store after its snapshot, beside the rows `new1` to `new3`. */
  later?: (store: OpenStore) => Promise<unknown>;
  /** Damage to rows behind the store's back. */
  rows?: (raw: Sqlite) => void;
  /** Damage to the file after that. */
  pages?: (path: string, raw: Sqlite) => void;
  /** Default: when the test is over. */
  cleanup?: (fn: () => Promise<void>) => void;
}

type Restored = Awaited<ReturnType<typeof restored>>;

/** A database with the rows `old1` to `old3` in its snapshot and `new1` to `new3` behind it, damaged, and restored by the next start. */
async function restored({ later, rows, pages, cleanup = onTestFinished }: Damage) {
  const temp = tempStore(cleanup);
  const store = await temp.open();
  for (const name of ["old1", "old2", "old3"]) await store.commit(stored(name));
  await takeSnapshot(temp.path, { at: 1_000, depth: "full" });
  for (const name of ["new1", "new2", "new3"]) await store.commit(stored(name));
  await later?.(store);
  await store.close();
  const raw = await openConnection(temp.path, {});
  rows?.(raw);
  raw.pragma("wal_checkpoint(TRUNCATE)");
  pages?.(temp.path, raw);
  raw.close();
  corrupt(temp.path, "header", seeded(1));

  const next = await temp.open();
  const { restored: figures } = next.status();
  await next.close();

  const db = await openConnection(temp.path, { readonly: true });
  cleanup(async () => void db.close());
  return {
    unreadable: figures?.unreadableRows,
    notice: temp.notices[0]?.message,
    names: (table: Table) => db.prepare(`SELECT ${named[table]} FROM ${table} ORDER BY 1`).pluck().all(),
    row: (table: Table, name: string) => db.prepare(`SELECT * FROM ${table} WHERE ${named[table]} = ?`).get(name) as Columns | undefined,
  };
}

const tables = Object.keys(named) as Table[];
const all = ["new1", "new2", "new3", "old1", "old2", "old3"];

describe("of a row that the snapshot has, too", () => {
  test("the later state is in force", async () => {
    const { row, names, unreadable } = await restored({
      later: (store) => store.commit([put(session("old1", { updatedAt: 9 })), { op: "kv.put", scope: "s", key: "old1", value: "later" }]),
    });

    expect(row("sessions", "old1")).toMatchObject({ updated_at: 9 });
    expect(row("kv", "old1")).toMatchObject({ value: '"later"' });
    for (const table of tables) expect([table, names(table)]).toEqual([table, all]);
    expect(unreadable).toBe(0);
  });

  test("a message is what the snapshot has: messages are never changed, so another one is damage", async () => {
    const change = "UPDATE messages SET body = replace(body, 'text of', 'never said by') WHERE id IN ('old1', 'new1')";
    const { row, names, unreadable } = await restored({ rows: (raw) => raw.exec(change) });

    expect(row("messages", "old1")?.body).toContain("text of old1");
    expect(row("messages", "new1")?.body).toContain("never said by new1");
    expect([names("messages"), unreadable]).toEqual([all, 0]);
  });
});

/** Columns of JSON, and the number of the two rows in which one is overwritten, before the snapshot and behind it. */
const json = [
  ["sessions", "body", 1],
  ["runs", "outcome", 1],
  ["system_events", "body", 1],
  ["idempotency", "value", 1],
  ["messages", "body", 1],
  ["deliveries", "payload", 1],
  ["deliveries", "steps", 2],
  ["deliveries", "result", 3],
  ["kv", "value", 1],
] as const;
const texts = [...json, ["sessions", "search", 2], ["runs", "trigger", 2]] as const;

function overwrite(columns: typeof json | typeof texts, bytes: Buffer) {
  return (raw: Sqlite) => {
    for (const [table, column, n] of columns) {
      const statement = raw.prepare(`UPDATE ${table} SET ${column} = CAST(@bytes AS TEXT) WHERE ${named[table]} IN (@before, @after)`);
      expect(statement.run({ bytes, before: `old${n}`, after: `new${n}` }).changes).toBe(2);
    }
  };
}

// JSON all the same.
const noUtf8 = Buffer.from('{"of":"a\xff\xfe"}', "latin1");

describe.each([
  ["no JSON", json, Buffer.from('{"of": ')],
  ["no UTF-8", texts, noUtf8],
] as const)("where a text was overwritten by what is %s", (_, columns, bytes) => {
  let found: Restored;
  beforeAll(async () => {
    found = await restored({ rows: overwrite(columns, bytes), cleanup: afterAll });
  });

  test.each(columns)("a row of %s is not taken over for its %s", (table, column, n) => {
    expect(found.names(table)).toEqual(expect.not.arrayContaining([`new${n}`]));
    expect(found.names(table)).toEqual(expect.arrayContaining(["old1", "old2", "old3"]));
    expect(found.row(table, `old${n}`)?.[column] ?? "").not.toBe(bytes.toString());
  });

  test("each such row is counted; messages of the snapshot are not asked for", () => {
    expect(found.unreadable).toBe(2 * columns.length - 1);
  });
});

test("a text in which somebody wrote the replacement character is taken over", async () => {
  const written = '{"of":"a\uFFFD"}';
  const { row, unreadable } = await restored({ rows: overwrite(texts, Buffer.from(written)) });

  for (const [table, column, n] of texts) expect([table, column, row(table, `new${n}`)?.[column]]).toEqual([table, column, written]);
  expect(unreadable).toBe(0);
});

describe("rows that are missing behind the snapshot", () => {
  test("are removed from sound tables", async () => {
    const remove = (raw: Sqlite) => tables.map((table) => raw.exec(`DELETE FROM ${table} WHERE ${named[table]} = 'old2'`));
    const { names } = await restored({ rows: remove });

    for (const table of tables) expect([table, names(table)]).toEqual([table, all.filter((name) => name !== "old2")]);
  });

  test("stay in damaged ones: a page that has lost its cells reads as if it had no rows", async () => {
    const { names } = await restored({ pages: (path, raw) => tables.map((table) => loseCells(path, rootPage(raw, table))) });

    for (const table of tables) {
      expect([table, names(table)]).toEqual([table, expect.arrayContaining(["old1", "old2", "old3"])]);
      expect(names(table), table).not.toEqual(all);
    }
  });

  test("are not called safe in the notice to operators when a damaged table could be read to its end", async () => {
    const { notice, unreadable } = await restored({ pages: (path, raw) => loseCells(path, rootPage(raw, "runs")) });

    expect(unreadable).toBe(0);
    expect(notice).toContain("the structure of runs is damaged there, so more rows may be missing than were counted");
    expect(notice).not.toContain("nothing is known to be lost");
  });

  test("are none where no table is damaged, and the notice says so", async () => {
    expect((await restored({})).notice).toContain("nothing is known to be lost");
  });
});

function rootPage(raw: Sqlite, table: Table): number {
  return raw.prepare("SELECT rootpage FROM sqlite_master WHERE name = ?").pluck().get(table) as number;
}

/** Loses all but the first: the number of a page's cells is in its fourth and fifth byte. */
function loseCells(path: string, page: number): void {
  const file = openSync(path, "r+");
  writeSync(file, Buffer.from([0, 1]), 0, 2, (page - 1) * pageBytes + 3);
  closeSync(file);
}
