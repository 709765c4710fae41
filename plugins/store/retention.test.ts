import type { StoreOp } from "svc/sdk";
import { expect, onTestFinished, test } from "vitest";
import { openConnection } from "./native.ts";
import { createRetention } from "./retention.ts";
import { run, tempStore, until } from "./testing/temp-store.ts";

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

test("finished runs go when they are older than a day and not among the newest 10,000; unfinished ones never", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  const runs = (ids: number, fields: (n: number) => Parameters<typeof run>[1]) =>
    store.commit(Array.from({ length: ids }, (_, n): StoreOp => ({ op: "run.put", run: run(`${JSON.stringify(fields(n))}`, fields(n)) })));
  await runs(10_000, (n) => ({ state: "ok", endedAt: now - dayMs - 1 - n }));
  await runs(3, (n) => ({ state: "error", endedAt: now - n }));
  await runs(2, (n) => ({ state: "running", createdAt: n }));
  await store.close();
  const db = await openConnection(temp.path, {});
  onTestFinished(() => void db.close());
  const states = () => db.prepare("SELECT state, count(*) AS n FROM runs GROUP BY state ORDER BY state").all();

  expect(createRetention(db).step(now)).toBe(false);

  expect(states()).toEqual([
    { state: "error", n: 3 },
    { state: "ok", n: 9_997 },
    { state: "running", n: 2 },
  ]);
  expect(db.prepare("SELECT min(finished_at) FROM runs").pluck().get()).toBe(now - dayMs - 1 - 9_996);
  createRetention(db).step(now - 100 * dayMs);
  expect(states()).toContainEqual({ state: "ok", n: 9_997 });
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
