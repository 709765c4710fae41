import { execFileSync } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { migrate, minReaderOf, versionOf } from "./migrate.ts";
import { openConnection, type Sqlite } from "./native.ts";
import { openDatabase } from "./open-database.ts";
import { suspectMark } from "./restore.ts";
import { schemaSteps } from "./schema.ts";
import { accept, append, put, session, type TempStore, tempStore } from "./testing/temp-store.ts";

const visit = () => undefined;
const newest = schemaSteps.length;
const added = { version: newest + 1, up: (db: Sqlite) => db.exec("ALTER TABLE kv ADD COLUMN note TEXT") };
const open = (temp: TempStore, steps = schemaSteps) => openDatabase({ path: temp.path, steps, visit, now: 1_000 });

async function filled(temp: TempStore): Promise<void> {
  const store = await temp.open();
  for (let n = 0; n < 60; n += 1)
    await store.commit([put(session(`k${n}`)), append(`m${n}`, { content: [{ type: "text", text: "y".repeat(5_000) }] })]);
  await store.close();
}

/** Overwrites the middle third of the file; its first page, with the schema, stays. */
function damage(path: string): void {
  const size = statSync(path).size;
  const file = openSync(path, "r+");
  const junk = Buffer.alloc(Math.floor(size / 3), 0xa5);
  writeSync(file, junk, 0, junk.length, Math.floor(size / 3 / 4096) * 4096);
  closeSync(file);
}

const copies = (temp: TempStore) => readdirSync(temp.dir).filter((name) => name.includes(".pre-"));
const kept = (temp: TempStore) => readdirSync(temp.dir).filter((name) => name.includes(".corrupt."));

test("a fresh database has the newest schema, WAL, full synchronisation and is readable by its owner only", async () => {
  const temp = tempStore(onTestFinished);
  const { db, migrated } = await open(temp);

  expect(migrated).toEqual({ from: 0, to: schemaSteps.length });
  expect(versionOf(db)).toBe(schemaSteps.length);
  expect(db.pragma("journal_mode", { simple: true })).toBe("wal");
  expect(db.pragma("synchronous", { simple: true })).toBe(2);
  expect(db.pragma("busy_timeout", { simple: true })).toBe(5_000);
  expect(statSync(temp.path).mode & 0o777).toBe(0o600);
  expect(db.pragma("foreign_keys", { simple: true })).toBe(1);
  expect(db.pragma("trusted_schema", { simple: true })).toBe(0);
  expect(db.pragma("journal_size_limit", { simple: true })).toBe(64 * 1024 * 1024);
  expect(copies(temp)).toEqual([]);
  db.close();
});

test("an older database is copied before its schema changes, and the copy is the old one", async () => {
  const temp = tempStore(onTestFinished);
  await filled(temp);

  const { db, migrated } = await open(temp, [...schemaSteps, added]);
  db.prepare("INSERT INTO kv (scope, key, value, note) VALUES ('s', 'k', '1', 'new column')").run();
  db.close();

  expect(migrated).toEqual({ from: newest, to: newest + 1, copy: `${temp.path}.pre-${newest}-1000` });
  expect(copies(temp)).toEqual([`state.sqlite.pre-${newest}-1000`]);
  const copy = await openConnection(`${temp.path}.pre-${newest}-1000`, { readonly: true });
  expect(versionOf(copy)).toBe(newest);
  expect(copy.prepare("SELECT count(*) FROM messages").pluck().get()).toBe(60);
  expect(statSync(`${temp.path}.pre-${newest}-1000`).mode & 0o777).toBe(0o600);
  copy.close();
});

test("sessions of the first schema keep their kind; what cannot be read is left as it is", async () => {
  const temp = tempStore(onTestFinished);
  const { db } = await open(temp, schemaSteps.slice(0, 1));
  const put = db.prepare(
    "INSERT INTO sessions (key, session_id, agent_id, updated_at, archived, search, body) VALUES (?, 's', 'main', 1, 0, '', ?)",
  );
  put.run("agent:main:team", '{"kind":"group"}');
  put.run("agent:main:main", "{}");
  put.run("agent:main:torn", '{"kind');
  db.close();

  const { rows, total } = (await temp.open()).sessions.list({ limit: 10 });

  expect(rows.map((row) => [row.key, row.kind])).toEqual([
    ["agent:main:main", "direct"],
    ["agent:main:team", "group"],
  ]);
  expect(total).toBe(3);
});

test("a database of the sixth schema keeps its deliveries as they are, gives no id twice and takes messages of channels", async () => {
  const temp = tempStore(onTestFinished);
  const { db } = await open(temp, schemaSteps.slice(0, 6));
  const columns = `uid, dir, lane, idem_scope, idem_key, fingerprint, state, attempt, not_before, lease_boot, created_at, updated_at, expires_at, ended_at,
    payload_bytes, steps, result, payload`;
  const put = db.prepare(
    `INSERT INTO deliveries (${columns}) VALUES (${columns
      .split(",")
      .map(() => "?")
      .join(", ")})`,
  );
  put.run("waits", "out", "irc:default:#room", null, null, null, "accepted", 2, 9, null, 1, 2, 3, null, 2, "[]", null, Buffer.from("{}"));
  put.run("ran", "hook-agent", "l", "scope", "key", "print", "done", 1, null, "boot", 1, 2, 3, 4, 0, '["a"]', '{"ok":true}', null);
  put.run("gone", "hook-wake", "l", null, null, null, "running", 1, null, "boot", 1, 2, 3, null, 2, "[]", null, Buffer.from("{}"));
  db.exec("DELETE FROM deliveries WHERE uid = 'gone'");
  expect(() => db.exec("UPDATE deliveries SET dir = 'in'")).toThrow("CHECK constraint failed");
  const rows = "SELECT * FROM deliveries ORDER BY id";
  const before = db.prepare(rows).all();
  db.close();

  const { db: now, migrated } = await open(temp);

  expect(migrated).toMatchObject({ from: 6, to: newest });
  expect(now.prepare(rows).all()).toEqual(before);
  expect(before).toHaveLength(2);
  const { lastInsertRowid } = now
    .prepare(
      "INSERT INTO deliveries SELECT null, 'new', 'in', lane, null, null, null, state, attempt, not_before, lease_boot, created_at, updated_at, expires_at, ended_at, payload_bytes, steps, result, payload FROM deliveries WHERE uid = 'waits'",
    )
    .run();
  // The deleted row had 3: an id that was seen once is no other row's.
  expect(lastInsertRowid).toBe(4);
  now.close();
});

test("a database of the third schema keeps what it has and takes deliveries", async () => {
  const temp = tempStore(onTestFinished);
  const { db } = await open(temp, schemaSteps.slice(0, 3));
  db.prepare("INSERT INTO kv (scope, key, value) VALUES ('s', 'k', '1')").run();
  db.prepare('INSERT INTO system_events (session_key, wake, body) VALUES (\'k\', 1, \'{"text":"t","source":"rpc","ts":1}\')').run();
  db.close();

  const store = await temp.open();
  await store.commit([accept("u1")]);

  expect(copies(temp)).toEqual([expect.stringMatching(/^state\.sqlite\.pre-3-\d+$/)]);
  expect(store.kv.get("s", "k")).toBe(1);
  expect(store.systemEvents.pending("k", 10)).toMatchObject([{ text: "t" }]);
  expect(store.deliveries.get("u1")).toMatchObject({ state: "accepted" });
});

test("a database of version 0 with something in it is copied and brought up", async () => {
  const temp = tempStore(onTestFinished);
  const foreign = await openConnection(temp.path, {});
  foreign.exec("CREATE TABLE notes (text)");
  foreign.close();

  const store = await temp.open();
  await store.commit([append("m")]);

  expect(copies(temp)).toEqual([expect.stringMatching(/^state\.sqlite\.pre-0-\d+$/)]);
  expect(store.messages.count("s")).toBe(1);
});

test("a step that fails leaves the database as it was, and the message names the version and the reason", async () => {
  const temp = tempStore(onTestFinished);
  await filled(temp);
  const broken = { version: newest + 1, up: (db: Sqlite) => db.exec("CREATE TABLE half (x); CREATE TABLE half (y)") };

  await expect(open(temp, [...schemaSteps, broken])).rejects.toMatchObject({
    code: "store-migration-failed",
    fields: { version: newest + 1, reason: expect.stringContaining("half"), copy: `${temp.path}.pre-${newest}-1000` },
  });

  const store = await temp.open();
  expect(store.messages.count("s")).toBe(60);
});

test("without room for the copy and the steps nothing is migrated and nothing is touched", async () => {
  const temp = tempStore(onTestFinished);
  await filled(temp);
  const { db } = await open(temp);
  const bytes = (db.pragma("page_count", { simple: true }) as number) * (db.pragma("page_size", { simple: true }) as number);
  const migrated = (free: number) => migrate(db, temp.path, { steps: [...schemaSteps, added], visit, now: 1, freeBytes: () => free });

  await expect(migrated(2 * bytes - 1)).rejects.toMatchObject({ code: "store-no-room", fields: { path: temp.path, needed: 1, free: 1 } });
  expect([versionOf(db), copies(temp)]).toEqual([newest, []]);
  expect(await migrated(2 * bytes)).toMatchObject({ from: newest, to: newest + 1 });
  db.close();
});

test("only the newest three copies are kept", async () => {
  const temp = tempStore(onTestFinished);
  const { db } = await open(temp);
  const steps = [...schemaSteps, ...[1, 2, 3, 4, 5].map((n) => ({ version: newest + n, up: () => undefined }))];
  for (let count = newest + 1; count <= steps.length; count += 1)
    await migrate(db, temp.path, { steps: steps.slice(0, count), visit, now: count });
  db.close();

  expect(copies(temp).sort()).toEqual([2, 3, 4].map((n) => `state.sqlite.pre-${newest + n}-${newest + n + 1}`).sort());
});

test("a database of a newer program is refused and not touched", async () => {
  const temp = tempStore(onTestFinished);
  await filled(temp);
  const newer = await openConnection(temp.path, {});
  newer.pragma("user_version = 99");
  newer.close();
  const before = readFileSync(temp.path);

  await expect(temp.open()).rejects.toMatchObject({
    code: "store-too-new",
    spec: { exit: 78 },
    message: expect.stringMatching(
      new RegExp(`schema version 99 and needs .* knows 99; this one knows up to ${newest}.*cp .*pre-${newest}-`),
    ),
  });

  expect(readFileSync(temp.path).equals(before)).toBe(true);
  expect(kept(temp)).toEqual([]);
});

test("a path that cannot be a database is a clear error", async () => {
  const temp = tempStore(onTestFinished);
  writeFileSync(`${temp.dir}/file`, "");

  await expect(temp.open({ path: temp.dir })).rejects.toMatchObject({ code: "store-open-failed" });
  await expect(temp.open({ path: `${temp.dir}/file/state.sqlite` })).rejects.toMatchObject({ code: "store-open-failed" });
});

test("a database of a newer program that only added what this one does not look at is used as it is", async () => {
  const temp = tempStore(onTestFinished);
  await filled(temp);
  const more = { version: newest + 1, minReader: newest, up: (db: Sqlite) => db.exec("CREATE TABLE more (x)") };
  const { db } = await open(temp, [...schemaSteps, more]);
  db.close();

  const store = await temp.open();
  await store.commit([append("m")]);

  expect(store.messages.count("s")).toBe(61);
  await store.close();
  const raw = await openConnection(temp.path, { readonly: true });
  expect(versionOf(raw)).toBe(newest + 1);
  raw.close();
});

test("a later step that anybody may read does not open an earlier one to programs that must not", async () => {
  const temp = tempStore(onTestFinished);
  const changed = { version: newest + 1, up: () => undefined };
  const harmless = { version: newest + 2, minReader: newest, up: () => undefined };
  const { db } = await open(temp, [...schemaSteps, changed, harmless]);

  expect(minReaderOf(db)).toBe(newest + 1);
  db.close();
  await expect(temp.open()).rejects.toMatchObject({ code: "store-too-new", fields: { needed: newest + 1 } });
});

test.each([
  ["random bytes", (path: string) => writeFileSync(path, Buffer.alloc(50_000, 0x5a))],
  ["a text file", (path: string) => writeFileSync(path, "not a database\n")],
])("%s instead of a database: it is kept, a fresh one starts, and the status says where", async (_, spoil) => {
  const temp = tempStore(onTestFinished);
  await filled(temp);
  spoil(temp.path);
  const spoilt = readFileSync(temp.path);

  const store = await temp.open();
  await store.commit([append("fresh")]);

  const [name] = kept(temp);
  expect(store.status()).toMatchObject({ ok: true, damaged: `${temp.dir}/${name}` });
  expect(readFileSync(`${temp.dir}/${name}`).equals(spoilt)).toBe(true);
  expect(store.messages.count("s")).toBe(1);
  expect(temp.logs).toContainEqual(expect.objectContaining({ level: "error", message: expect.stringContaining("damaged") }));
});

test("damage inside is found by the check that follows an unclean stop", async () => {
  const temp = tempStore(onTestFinished);
  await filled(temp);
  damage(temp.path);
  writeFileSync(suspectMark(temp.path), "");

  const store = await temp.open();

  expect(store.status().damaged).toMatch(/\.corrupt\.\d+$/);
  expect(existsSync(suspectMark(temp.path))).toBe(false);
  await store.commit([append("fresh")]);
});

test("an emptied database with a log beside it is set aside together with the log", async () => {
  const temp = tempStore(onTestFinished);
  const live = await temp.open();
  await live.commit([append("m")]);
  const crashed = tempStore(onTestFinished);
  copyFileSync(`${temp.path}-wal`, `${crashed.path}-wal`);
  writeFileSync(crashed.path, "");

  const store = await crashed.open();

  expect(store.status().damaged).toBeDefined();
  expect(kept(crashed).sort()).toEqual([expect.stringMatching(/corrupt\.\d+$/), expect.stringMatching(/corrupt\.\d+-wal$/)]);
  await store.commit([append("fresh")]);
});

test("a log cut off in the middle loses its tail and nothing else", async () => {
  const temp = tempStore(onTestFinished);
  const live = await temp.open();
  for (let n = 0; n < 40; n += 1) await live.commit([append(`m${n}`)]);
  const crashed = tempStore(onTestFinished);
  copyFileSync(temp.path, crashed.path);
  copyFileSync(`${temp.path}-wal`, `${crashed.path}-wal`);
  truncateSync(`${crashed.path}-wal`, Math.floor(statSync(`${crashed.path}-wal`).size * 0.7));

  const store = await crashed.open();

  expect(store.status().damaged).toBeUndefined();
  const rows = store.messages.page("s", { limit: 100 });
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.map((row) => row.id)).toEqual(rows.map((_, n) => `m${n}`));
});

test("damage met while running stops all writes, says so, and the next start sets the file aside", async () => {
  const temp = tempStore(onTestFinished);
  await filled(temp);
  damage(temp.path);
  const store = await temp.open();
  expect(store.status().ok).toBe(true);

  expect(() => store.messages.page("s", { limit: 60 })).toThrowError(expect.objectContaining({ code: "storage-unavailable" }));
  expect(store.status()).toMatchObject({ ok: false, reason: "corrupt" });
  await expect(store.commit([append("m")])).rejects.toMatchObject({ fields: { reason: "corrupt" } });
  await store.close();

  const next = await temp.open();
  expect(next.status()).toMatchObject({ ok: true, damaged: expect.stringContaining(".corrupt.") });
});

test("rows whose JSON does not parse are skipped, counted, and do not block their key", async () => {
  const temp = tempStore(onTestFinished);
  const first = await temp.open();
  await first.commit([put(session("good")), put(session("bad")), append("m1"), append("m2"), append("m3")]);
  await first.close();
  const other = await openConnection(temp.path, {});
  other.exec("UPDATE sessions SET body = '{' WHERE key = 'bad'; UPDATE messages SET body = 'x' WHERE id = 'm2'");
  other.close();

  const store = await temp.open();

  expect(store.messages.page("s", { limit: 2 }).map((row) => row.id)).toEqual(["m1", "m3"]);
  expect(store.sessions.list({ limit: 10 }).rows.map((row) => row.key)).toEqual(["good"]);
  expect(store.sessions.get("bad")).toBeUndefined();
  expect(store.status()).toMatchObject({ ok: true, unreadableRows: 2 });
  await store.commit([{ op: "session.put", session: session("bad", { label: "again" }), ifAbsent: true }]);
  expect(store.sessions.get("bad")?.label).toBe("again");
  await store.close();

  const next = await temp.open();
  expect(next.status().unreadableRows).toBe(1);
});

test("a FIFO or a folder in the place of the database is refused by name, not waited for", async () => {
  for (const make of [(path: string) => void execFileSync("mkfifo", [path]), (path: string) => mkdirSync(path)]) {
    const temp = tempStore(onTestFinished);
    make(temp.path);
    await expect(open(temp)).rejects.toMatchObject({ code: "store-open-failed", fields: { reason: "it is not a regular file" } });
  }
});
