import { copyFileSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openConnection, type Sqlite } from "./native.ts";
import type { OpenStore } from "./open-store.ts";
import { nextFile, suspectMark } from "./restore.ts";
import { listSnapshots, takeSnapshot } from "./snapshots.ts";
import { type Corruption, corrupt, corruptions, seeded } from "./testing/corrupt.ts";
import { accept, append, put, session, type TempStore, tempStore } from "./testing/temp-store.ts";

const rounds = process.env.SVC_TEST_LONG === "1" ? 100 : 12;
const seed = Number(process.env.SVC_TEST_SEED ?? 20_260);

const text = (id: string) => [{ type: "text" as const, text: `${id} ${"y".repeat(900)}` }];
const stored = (n: number, what: string) => [
  put(session(`${what}${n}`)),
  append(`${what}${n}`, { content: text(`${what}${n}`) }),
  { op: "kv.put" as const, scope: "s", key: `${what}${n}`, value: n },
  accept(`${what}${n}`),
];

/** In several transactions, so that the log has several ends. */
async function fill(store: OpenStore, what: string, count: number): Promise<void> {
  const all = Array.from({ length: count }, (_, n) => stored(n, what));
  for (let n = 0; n < count; n += 10) await store.commit(all.slice(n, n + 10).flat());
}

/** As the running store does it: first what is in the log, then the copy. */
async function snapshot(path: string): Promise<void> {
  const raw = await openConnection(path, {});
  raw.pragma("wal_checkpoint(PASSIVE)");
  raw.close();
  await takeSnapshot(path, { at: 1_000, depth: "full" });
}

let scene: TempStore;
const cleanups: Array<() => Promise<void>> = [];
beforeAll(async () => {
  scene = tempStore((fn) => cleanups.push(fn));
  const store = await scene.open();
  await fill(store, "old", 60);
  await snapshot(scene.path);
  await fill(store, "new", 60);
});
afterAll(async () => {
  for (const cleanup of cleanups) await cleanup();
});

/** The files of a process that was killed: 60 rows of each kind before its snapshot, 60 after it, a part of those in the log only. */
function crashed(): TempStore {
  const victim = tempStore(onTestFinished);
  for (const suffix of ["", "-wal", ".snapshot.1000"]) copyFileSync(scene.path + suffix, victim.path + suffix);
  return victim;
}

/** The same after a clean stop: all is in the database. */
async function stopped(): Promise<TempStore> {
  const victim = crashed();
  const raw = await openConnection(victim.path, {});
  raw.pragma("wal_checkpoint(TRUNCATE)");
  raw.close();
  return victim;
}

const ids = (what: string) => Array.from({ length: 60 }, (_, n) => `${what}${n}`);

function found(store: OpenStore): { messages: string[]; sessions: string[]; values: string[]; deliveries: string[] } {
  return {
    messages: store.messages.scan("s", 0, 1_000).map((row) => row.id),
    sessions: store.sessions.list({ limit: 1_000 }).rows.map((row) => row.key),
    values: store.kv.list("s", "").map((row) => row.key),
    deliveries: store.deliveries.list({ limit: 1_000 }).map((row) => row.uid),
  };
}

/** All that the snapshot has is there as it was written, and nothing that never was. */
function expectWhole(store: OpenStore): void {
  for (const [name, known] of Object.entries(found(store))) {
    expect(
      known.filter((id) => !ids("old").includes(id) && !ids("new").includes(id)),
      name,
    ).toEqual([]);
    expect(
      ids("old").filter((id) => !known.includes(id)),
      name,
    ).toEqual([]);
    expect(new Set(known).size, name).toBe(known.length);
  }
  for (const row of store.messages.scan("s", 0, 1_000)) expect(row.content).toEqual(text(row.id));
}

/** Bytes inside a row are no part of the structure: the check at the start does not see them, and a row that they broke is counted when it is read. */
function expectCounted(store: OpenStore): void {
  const { messages } = found(store);
  const missing = [...ids("old"), ...ids("new")].filter((id) => !messages.includes(id));
  expect(store.status().unreadableRows).toBeGreaterThanOrEqual(missing.length);
}

/** A copy, as a crash leaves it, with an index whose order is not the one that its definition says. */
async function contradicting(temp: TempStore, before: (raw: Sqlite) => void = () => undefined): Promise<TempStore> {
  const raw = await openConnection(temp.path, {});
  before(raw);
  raw.unsafeMode(true);
  raw.pragma("writable_schema = ON");
  raw.prepare("UPDATE sqlite_master SET sql = replace(sql, 'updated_at DESC', 'updated_at ASC') WHERE name = 'sessions_by_update'").run();
  const victim = tempStore(onTestFinished);
  for (const suffix of ["", "-wal"]) copyFileSync(temp.path + suffix, victim.path + suffix);
  raw.close();
  return victim;
}

const kinds = Array.from({ length: rounds }, (_, n) => [n, corruptions[n % corruptions.length] as Corruption] as const);

test.each(kinds)("corruption %i (%s): the store comes up with all that the snapshot has, and invents nothing", async (n, kind) => {
  const temp = crashed();
  corrupt(temp.path, kind, seeded(seed + n));

  const store = await temp.open();

  if (kind === "some bytes" && !store.status().restored) expectCounted(store);
  else expectWhole(store);
  const { restored, damaged } = store.status();
  if (restored) {
    expect(existsSync(damaged ?? "")).toBe(true);
    expect(restored.snapshotAt).toBe(1_000);
    expect(temp.notices).toMatchObject([
      { id: "state/restored", severity: "error", message: expect.stringContaining("1970-01-01T00:00:01") },
    ]);
  }
  await store.commit([append("life goes on")]);
  await store.close();
  const raw = await openConnection(temp.path, { readonly: true });
  expect(raw.pragma("integrity_check", { simple: true })).toBe("ok");
  raw.close();
  expect(readdirSync(temp.dir).filter((name) => /salvage|\.next|\.tmp|suspect/.test(name))).toEqual([]);
});

test("a damaged page costs only the newer rows on it", async () => {
  const temp = await stopped();
  for (let n = 0; n < 4; n += 1) corrupt(temp.path, "one page", seeded(40 + n));
  writeFileSync(suspectMark(temp.path), "");

  const store = await temp.open();

  const { messages } = found(store);
  expect(messages.length).toBeGreaterThan(90);
  expect(ids("old").filter((id) => !messages.includes(id))).toEqual([]);
  expect(store.status()).toMatchObject({ ok: true, restored: { snapshotAt: 1_000 } });
  expect(temp.notices[0]?.message).toMatch(/recovered from the damaged file: .*messages/);
});

test("a damaged header costs nothing: newer rows are recovered from the damaged file", async () => {
  const temp = await stopped();
  corrupt(temp.path, "header", seeded(1));

  const store = await temp.open();

  expect(found(store).messages).toHaveLength(120);
  expect(store.status()).toMatchObject({ ok: true, restored: { snapshotAt: 1_000, unreadableRows: 0 } });
  expect(store.status().restored?.salvagedRows).toBeGreaterThanOrEqual(240);
  expect(temp.notices[0]?.message).toContain("nothing is known to be lost");
});

test("an index that contradicts its table is found at the start after a crash", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  await store.commit(Array.from({ length: 20 }, (_, n) => put(session(`k${n}`, { updatedAt: n + 1 }))));
  await store.close();
  const victim = await contradicting(temp);

  const next = await victim.open();

  expect(next.status()).toMatchObject({ ok: true, restored: { unreadableRows: 0 } });
  expect(found(next).sessions).toHaveLength(20);
});

test("what was removed after the snapshot does not come back", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  await fill(store, "old", 5);
  await snapshot(temp.path);
  await store.commit([
    { op: "session.delete", key: "old1", deleteTranscript: false },
    { op: "kv.delete", scope: "s", key: "old2" },
    { op: "delivery.finish", uid: "old3", from: ["accepted"], state: "done", result: {}, at: Date.now() },
  ]);
  await store.close();
  corrupt(temp.path, "header", seeded(2));

  const next = await temp.open();

  expect(next.sessions.get("old1")).toBeUndefined();
  expect(next.kv.get("s", "old2")).toBeUndefined();
  expect(next.deliveries.get("old3")).toMatchObject({ state: "done" });
  expect(next.sessions.get("old4")).toBeDefined();
});

test("without a snapshot everything that can be read is taken over", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  await fill(store, "old", 60);
  await store.close();
  corrupt(temp.path, "header", seeded(3));

  const next = await temp.open();

  expect(found(next).messages).toEqual(ids("old"));
  expect(next.status().restored).not.toHaveProperty("snapshotAt");
});

test("the newest snapshot that is sound is restored, a damaged one is passed over", async () => {
  const temp = crashed();
  writeFileSync(`${temp.path}.snapshot.2000`, Buffer.alloc(40_000, 7));
  writeFileSync(temp.path, "not a database\n");
  writeFileSync(`${temp.path}-wal`, "");

  const store = await temp.open();

  expect(store.status().restored?.snapshotAt).toBe(1_000);
  expect(found(store).messages).toEqual(ids("old"));
  expect(listSnapshots(temp.path).map(({ at }) => at)).toContain(2_000);
});

test("a database that is missing although there are snapshots is restored from them", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  await fill(store, "old", 3);
  await snapshot(temp.path);
  const moved = tempStore(onTestFinished);
  copyFileSync(`${temp.path}.snapshot.1000`, `${moved.path}.snapshot.1000`);

  const next = await moved.open();

  expect(found(next).messages).toEqual(["old0", "old1", "old2"]);
  expect(next.status()).not.toHaveProperty("damaged");
  expect(moved.notices[0]?.message).toContain("the file is missing");
});

test("a crash after the damaged file was put aside: the next start uses what was prepared", async () => {
  const temp = crashed();
  copyFileSync(`${temp.path}.snapshot.1000`, nextFile(temp.path));
  const aside = tempStore(onTestFinished);
  copyFileSync(nextFile(temp.path), nextFile(aside.path));

  const store = await aside.open();

  expect(found(store).messages).toEqual(ids("old"));
  expect(store.status()).not.toHaveProperty("restored");
});

test("a crash before that: what was prepared is prepared again, with all that the damaged file has", async () => {
  const temp = await stopped();
  copyFileSync(`${temp.path}.snapshot.1000`, nextFile(temp.path));
  corrupt(temp.path, "header", seeded(4));

  expect(found(await temp.open()).messages).toHaveLength(120);
});

test("an index that contradicts its table is found in the background in a large file, and the next start restores the database", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  await store.commit(Array.from({ length: 20 }, (_, n) => put(session(`k${n}`, { updatedAt: n + 1 }))));
  await store.close();
  const victim = await contradicting(temp, (raw) => {
    // Large enough that the start leaves the indexes to the background.
    raw.exec("CREATE TABLE padding AS SELECT zeroblob(17000000) AS bytes");
    raw.pragma("wal_checkpoint(TRUNCATE)");
  });
  const damage: string[] = [];

  const running = await victim.open({ firstSnapshotMs: 1, onDamage: (message) => damage.push(message) });
  await running.commit([append("m")]);
  await expect.poll(() => running.status().reason, { timeout: 20_000 }).toBe("corrupt");
  await running.close();
  expect(existsSync(suspectMark(victim.path))).toBe(true);
  const next = await victim.open();

  expect(damage).toHaveLength(1);
  expect(next.status()).toMatchObject({ ok: true, restored: { unreadableRows: 0 } });
  expect(found(next).sessions).toHaveLength(20);
});
