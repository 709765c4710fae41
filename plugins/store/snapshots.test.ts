import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openConnection } from "./native.ts";
import { listSnapshots, takeSnapshot } from "./snapshots.ts";
import { append, type TempStore, tempStore, until } from "./testing/temp-store.ts";

const names = (temp: TempStore) => readdirSync(temp.dir).filter((name) => name.includes(".snapshot."));

test("a snapshot has every resolved commit, is one sound file, and only its owner can read it", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  await store.commit([append("m1"), append("m2")]);

  expect(await takeSnapshot(temp.path, { at: 7, depth: "full" })).toEqual({ path: `${temp.path}.snapshot.7`, at: 7 });

  const copy = await openConnection(`${temp.path}.snapshot.7`, { readonly: true });
  expect(copy.prepare("SELECT id FROM messages ORDER BY row").pluck().all()).toEqual(["m1", "m2"]);
  expect(copy.pragma("journal_mode", { simple: true })).toBe("delete");
  copy.close();
  expect(statSync(`${temp.path}.snapshot.7`).mode & 0o777).toBe(0o600);
  expect(names(temp)).toEqual(["state.sqlite.snapshot.7"]);
});

test("three snapshots stay, and what a copy that was cut off has left goes", async () => {
  const temp = tempStore(onTestFinished);
  await temp.open();
  writeFileSync(`${temp.path}.snapshot.1.tmp`, "half a copy");
  for (const at of [10, 20, 30, 40]) await takeSnapshot(temp.path, { at, depth: "quick" });

  expect(listSnapshots(temp.path).map(({ at }) => at)).toEqual([40, 30, 20]);
  expect(names(temp)).toHaveLength(3);
});

test("after a clock that was ahead for hours, a new snapshot is the newest one and stays", async () => {
  const temp = tempStore(onTestFinished);
  await temp.open();
  for (const at of [1_000, 2_000, 3_000]) await takeSnapshot(temp.path, { at, depth: "quick" });

  const taken = await takeSnapshot(temp.path, { at: 40, depth: "quick" });
  const next = await takeSnapshot(temp.path, { at: 50, depth: "quick" });

  expect([taken, next].map((snapshot) => "path" in snapshot && existsSync(snapshot.path))).toEqual([true, true]);
  expect(listSnapshots(temp.path)[0]).toEqual(next);
  expect(listSnapshots(temp.path)[1]).toEqual(taken);
});

test("a damaged database becomes no snapshot, and the good ones stay", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  await store.commit([append("m1")]);
  await takeSnapshot(temp.path, { at: 1, depth: "quick" });
  await store.close();
  const size = statSync(temp.path).size;
  writeFileSync(temp.path, Buffer.alloc(size - 4_096, 0xa5), { flag: "r+" });
  const spoilt = await openConnection(`${temp.path}.snapshot.1`, { readonly: true });
  const header = spoilt.serialize().subarray(0, 4_096);
  spoilt.close();
  writeFileSync(temp.path, header, { flag: "r+" });

  expect(await takeSnapshot(temp.path, { at: 2, depth: "quick" })).toEqual({ damage: expect.any(String) });

  expect(names(temp)).toEqual(["state.sqlite.snapshot.1"]);
});

test("a running store takes one when something was stored since the last, and none when nothing was", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open({ firstSnapshotMs: 1, snapshotMs: 50 });
  await store.commit([append("m1")]);
  await until(() => store.status().snapshotAt !== undefined, "the first snapshot is taken");
  const first = store.status().snapshotAt as number;
  // Some rounds in which nothing is stored.
  await sleep(500);
  expect(listSnapshots(temp.path)[0]?.at).toBe(store.status().snapshotAt);
  const quiet = listSnapshots(temp.path).length;

  await store.commit([append("m2")]);
  await until(() => (store.status().snapshotAt ?? 0) > first, "another snapshot is taken");

  expect(quiet).toBeLessThanOrEqual(2);
  expect(listSnapshots(temp.path)[0]?.at).toBe(store.status().snapshotAt);
});

test("a start takes none when the newest is younger than what is stored", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  await store.commit([append("m1")]);
  await store.close();
  const at = Date.now() + 60_000;
  await takeSnapshot(temp.path, { at, depth: "quick" });

  const next = await temp.open({ firstSnapshotMs: 1, snapshotMs: 20 });
  await sleep(300);

  expect(listSnapshots(temp.path)).toHaveLength(1);
  expect(next.status().snapshotAt).toBe(at);
});

test("commits go on while a snapshot is taken", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  for (let n = 0; n < 40; n += 1)
    await store.commit(
      Array.from({ length: 25 }, (_, i) => append(`m${n}-${i}`, { content: [{ type: "text", text: "z".repeat(8_000) }] })),
    );
  let isDone = false;
  const taking = takeSnapshot(temp.path, { at: 1, depth: "full" }).finally(() => {
    isDone = true;
  });

  await store.commit([append("meanwhile")]);

  expect(existsSync(`${temp.path}.snapshot.1`) || !isDone).toBe(true);
  expect(await taking).toEqual({ path: `${temp.path}.snapshot.1`, at: 1 });
  expect(store.messages.count("s")).toBe(1_001);
});

test("reads leave nothing open: the log can be emptied after any of them", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  for (let n = 0; n < 30; n += 1) await store.commit([append(`m${n}`)]);
  store.messages.page("s", { limit: 2 });
  store.messages.scan("s", 0, 1);
  store.kv.list("s", "");
  store.deliveries.list({ limit: 1 });

  const other = await openConnection(temp.path, {});
  expect(other.pragma("wal_checkpoint(TRUNCATE)")).toEqual([{ busy: 0, log: 0, checkpointed: 0 }]);
  other.close();
});
