import type { StoreOp } from "svc/sdk";
import { expect, onTestFinished, test } from "vitest";
import { openConnection } from "./native.ts";
import type { OpenStore } from "./open-store.ts";
import { createRetention } from "./retention.ts";
import { accept, finish, run, session, tempStore, until } from "./testing/temp-store.ts";

const dayMs = 86_400_000;
const now = 1_000 * dayMs;

const kept = (n: number, expiresAt: number): StoreOp => ({
  op: "idempotency.put",
  row: { family: "chat", key: `i${n}`, value: {}, createdAt: 1, expiresAt },
});

test("expired idempotency rows beyond the newest 1,000 go, oldest first; unexpired ones stay however many", async () => {
  const clock = { now: () => now, monotonic: () => performance.now() };
  const temp = tempStore(onTestFinished);
  const store = await temp.open({ clock, maintenanceMs: 20 });
  const count = await openConnection(temp.path, { readonly: true });
  onTestFinished(() => void count.close());
  const rows = () => count.prepare("SELECT count(*) FROM idempotency").pluck().get() as number;

  await store.commit(Array.from({ length: 2_200 }, (_, n) => kept(n, now - 2_200 + n)));
  await until(() => rows() === 1_000, "the oldest 1,200 are dropped");
  expect(store.idempotency.get("chat", "i1199")).toBeUndefined();
  expect(store.idempotency.get("chat", "i1200")).toBeDefined();

  await store.commit(Array.from({ length: 1_500 }, (_, n) => kept(10_000 + n, now)));
  await until(() => rows() === 1_500, "all expired ones are dropped");
  expect(store.idempotency.get("chat", "i10000")).toBeDefined();
});

const finished = (n: number, endedAt: number): StoreOp => ({ op: "run.put", run: run(`r${n}`, { state: "ok", endedAt }) });

async function runsLeft(ops: StoreOp[]): Promise<string[]> {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  for (let at = 0; at < ops.length; at += 5_000) await store.commit(ops.slice(at, at + 5_000));
  await store.close();
  const db = await openConnection(temp.path, {});
  onTestFinished(() => void db.close());
  expect(createRetention(db).step(now)).toBe(false);
  return db.prepare("SELECT run_id FROM runs ORDER BY row").pluck().all() as string[];
}

test("of finished runs older than a day the newest 10,000 stay", async () => {
  const old = Array.from({ length: 10_002 }, (_, n) => finished(n, now - dayMs - 20_000 + n));

  const left = await runsLeft(old);

  expect(left).toHaveLength(10_000);
  expect(left[0]).toBe("r2");
});

test("a finished run of the last day stays however many are newer; an unfinished one stays for ever", async () => {
  const newer = Array.from({ length: 10_000 }, (_, n) => finished(n, now));
  const queued: StoreOp = { op: "run.put", run: run("queued", { createdAt: 1 }) };

  const left = await runsLeft([queued, finished(-1, now - dayMs - 1), finished(-2, now - dayMs), ...newer]);

  expect(left.slice(0, 2)).toEqual(["queued", "r-2"]);
  expect(left).toHaveLength(10_002);
});

test("one step drops at most 500 rows of a table and says that there are more", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  await store.commit(Array.from({ length: 2_000 }, (_, n) => kept(n, n)));
  await store.close();
  const db = await openConnection(temp.path, {});
  onTestFinished(() => void db.close());
  const retention = createRetention(db);

  const more = [retention.step(now), retention.step(now), retention.step(now)];

  expect(more).toEqual([true, true, false]);
  expect(db.prepare("SELECT count(*) FROM idempotency").pluck().get()).toBe(1_000);
});

const states = ["done", "failed", "expired"] as const;

/** The store's own cleaning sees a time at which nothing is old. */
async function afterRetention(ops: StoreOp[]): Promise<OpenStore> {
  const temp = tempStore(onTestFinished);
  const store = await temp.open({ clock: { now: () => 0, monotonic: () => performance.now() } });
  for (let at = 0; at < ops.length; at += 5_000) await store.commit(ops.slice(at, at + 5_000));
  const db = await openConnection(temp.path, {});
  onTestFinished(() => void db.close());
  const retention = createRetention(db);
  while (retention.step(now));
  return store;
}

test("deliveries go 24 h after they were done and 7 days after they failed or expired, not before; unfinished ones stay", async () => {
  const ended = states.flatMap((state) =>
    [1, 7].flatMap((days) =>
      [0, 1].flatMap((older) => {
        const uid = `${state} ${days} d${older ? " and more" : ""}`;
        return [accept(uid), finish(uid, state, { at: now - days * dayMs - older })];
      }),
    ),
  );

  const store = await afterRetention([accept("waits", {}, 1), ...ended]);

  expect(
    store.deliveries
      .list({ limit: 100 })
      .map((row) => row.uid)
      .toReversed(),
  ).toEqual(["waits", "done 1 d", "failed 1 d", "failed 1 d and more", "failed 7 d", "expired 1 d", "expired 1 d and more", "expired 7 d"]);
});

test("a clock that goes a year ahead drops nothing before a second look a minute later says the same", async () => {
  const at = { wall: now, steady: 0, reads: 0 };
  const clock = { now: () => (at.reads++, at.wall), monotonic: () => at.steady };
  const store = await tempStore(onTestFinished).open({ clock, maintenanceMs: 10 });
  await store.commit([accept("a"), finish("a", "done", { at: now })]);
  const looks = async () => {
    const before = at.reads;
    await until(() => at.reads > before + 3, "old rows are looked for");
  };

  at.wall += 365 * dayMs;
  await looks();
  expect(store.deliveries.get("a")).toBeDefined();
  at.wall -= 365 * dayMs;
  await looks();
  at.wall += 365 * dayMs;
  await looks();
  at.steady += 59_999;
  at.wall += 59_999;
  await looks();
  expect(store.deliveries.get("a")).toBeDefined();

  at.steady += 1;
  await until(() => store.deliveries.get("a") === undefined, "it is dropped");
});

test("a start with a clock far past the newest session is a step, too", async () => {
  const temp = tempStore(onTestFinished);
  const at = { wall: now, steady: 0 };
  const clock = { now: () => at.wall, monotonic: () => at.steady };
  const first = await temp.open({ clock });
  await first.commit([{ op: "session.put", session: session("k", { updatedAt: now }) }, accept("a"), finish("a", "done", { at: now })]);
  await first.close();

  at.wall += 365 * dayMs;
  const second = await temp.open({ clock, maintenanceMs: 10 });
  await second.commit([accept("b")]);
  expect(second.deliveries.get("a")).toBeDefined();

  at.steady += 60_000;
  at.wall += 60_000;
  await until(() => second.deliveries.get("a") === undefined, "it is dropped");
});

test("of each kind and end the newest 10,000 stay: many wakes do not push out the runs of agents", async () => {
  const wakes = Array.from({ length: 10_700 }, (_, n) => accept(`w${n}`, { dir: "hook-wake", done: {} }, now));

  const store = await afterRetention([accept("run"), finish("run", "done", { at: now }), ...wakes]);

  expect(store.deliveries.counts().byDir).toEqual({ "hook-agent": { done: 1 }, "hook-wake": { done: 10_000 } });
  expect(store.deliveries.get("w699")).toBeUndefined();
  expect(store.deliveries.get("w700")).toBeDefined();
});

test("a message of a channel is known for 7 days after it was answered", async () => {
  const answered = [0, 1].flatMap((older) => {
    const uid = `m${older}`;
    return [accept(uid, { dir: "in" }), finish(uid, "done", { at: now - 7 * dayMs - older })];
  });

  const store = await afterRetention(answered);

  expect(store.deliveries.list({ limit: 100 }).map((row) => row.uid)).toEqual(["m0"]);
});

test("of answered messages of channels the newest 50,000 stay", async () => {
  const temp = tempStore(onTestFinished);
  await (await temp.open()).close();
  const db = await openConnection(temp.path, {});
  onTestFinished(() => void db.close());
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50300)
    INSERT INTO deliveries (uid, dir, lane, state, attempt, created_at, updated_at, expires_at, ended_at, payload_bytes, steps)
    SELECT 'm' || i, 'in', 'l', 'done', 1, 1, 1, 1, ${now}, 0, '[]' FROM n`);
  const retention = createRetention(db);

  while (retention.step(now));

  expect(db.prepare("SELECT count(*), min(id) FROM deliveries").raw().get()).toEqual([50_000, 301]);
});

test("a busy endpoint does not wait for the hour: old deliveries go after each 1,000 that have ended", async () => {
  const store = await tempStore(onTestFinished).open();
  const old = Array.from({ length: 999 }, (_, n) => accept(`w${n}`, { dir: "hook-wake", done: {} }, 1));
  await store.commit(old);
  expect(store.deliveries.counts().byDir["hook-wake"]).toEqual({ done: 999 });

  await store.commit([accept("last", {}, 1), finish("last", "done", { at: 1 })]);

  await until(() => store.deliveries.list({ limit: 1 }).length === 0, "the old ones are dropped");
});
