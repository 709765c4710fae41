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
