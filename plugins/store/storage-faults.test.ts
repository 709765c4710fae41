import { rmSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { append, put, session, tempStore, until } from "./testing/temp-store.ts";
import { faultAt, type StorageFaults } from "./writer-messages.ts";

const large = { content: [{ type: "text" as const, text: "x".repeat(500_000) }] };
const sharedFaults = () => new Int32Array(new SharedArrayBuffer(12)) satisfies StorageFaults;

test("a full disk stores nothing of a commit, refuses further ones, keeps reads, and recovers by itself", async () => {
  const faults = sharedFaults();
  const changes: string[] = [];
  const temp = tempStore(onTestFinished);
  const store = await temp.open({ faults, probeMs: 10, onStatus: () => changes.push(store.status().reason ?? "ok") });
  await store.commit([append("before")]);
  Atomics.store(faults, faultAt.full, 1);

  const refused = await Promise.allSettled([
    store.commit([put(session("half")), append("large", large)]),
    store.commit([append("neighbour")]),
  ]);

  expect(refused.map((outcome) => outcome.status === "rejected" && outcome.reason.code)).toEqual([
    "storage-unavailable",
    "storage-unavailable",
  ]);
  expect(store.status()).toMatchObject({ ok: false, reason: "full", queued: 0 });
  await expect(store.commit([append("small")])).rejects.toMatchObject({
    code: "storage-unavailable",
    details: { code: "STORAGE_UNAVAILABLE", reason: "full" },
    message: expect.stringContaining("free some space"),
  });
  expect(store.sessions.get("half")).toBeUndefined();
  expect(store.messages.page("s", { limit: 10 }).map((row) => row.id)).toEqual(["before"]);

  Atomics.store(faults, faultAt.full, 0);
  await until(() => store.status().ok, "the store recovers");
  await store.commit([append("after", large)]);

  expect(store.messages.page("s", { limit: 10 }).map((row) => row.id)).toEqual(["before", "after"]);
  expect(changes).toEqual(["full", "ok"]);
  expect(temp.logs.filter((line) => line.level === "error")).toHaveLength(1);
});

test("a database that turned read-only says so and recovers by itself", async () => {
  const faults = sharedFaults();
  const store = await tempStore(onTestFinished).open({ faults, probeMs: 10 });
  Atomics.store(faults, faultAt.readonly, 1);

  await expect(store.commit([append("m")])).rejects.toMatchObject({ code: "storage-unavailable", fields: { reason: "readonly" } });
  expect(store.status()).toMatchObject({ ok: false, reason: "readonly" });

  Atomics.store(faults, faultAt.readonly, 0);
  await until(() => store.status().ok, "the store recovers");
  expect(await store.commit([append("m")])).toEqual([{ seq: 1 }]);
});

test("when the writer thread ends, what waits is rejected at once and another thread takes over", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open({ failpoint: "store.before-commit=exit@2", restartMs: 10 });
  await store.commit([append("before")]);

  const lost = [store.commit([append("in the transaction", large), append("2", large)]), store.commit([append("waiting")])];
  const outcomes = await Promise.allSettled(lost);

  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({
      status: "rejected",
      reason: { code: "storage-unavailable", fields: { reason: "down" }, cause: { code: "worker-down" } },
    });
  }
  expect(store.messages.page("s", { limit: 10 }).map((row) => row.id)).toEqual(["before"]);

  await until(() => store.status().ok, "another thread is up");
  expect(await store.commit([append("after")])).toEqual([{ seq: 2 }]);
});

test("a thread that ends while nothing happens is replaced too, and close does not wait for it", async () => {
  const store = await tempStore(onTestFinished).open({ failpoint: "store.before-reply=exit", restartMs: 60_000 });

  await expect(store.commit([append("written but not answered")])).rejects.toMatchObject({ fields: { reason: "down" } });
  expect(store.status()).toMatchObject({ ok: false, reason: "down" });
  await expect(store.commit([append("m")])).rejects.toMatchObject({ fields: { reason: "down" } });
  await store.close();

  expect(store.status()).toMatchObject({ ok: false, reason: "closed" });
});

test("after an I/O error the file is opened anew, and writing goes on by itself", async () => {
  const faults = sharedFaults();
  const store = await tempStore(onTestFinished).open({ faults, probeMs: 10 });
  await store.commit([append("before")]);
  Atomics.store(faults, faultAt.io, 1);

  await expect(store.commit([append("lost")])).rejects.toMatchObject({ code: "storage-unavailable", fields: { reason: "io" } });
  expect(store.messages.count("s")).toBe(1);

  Atomics.store(faults, faultAt.io, 0);
  await until(() => store.status().ok, "the store recovers");
  expect(await store.commit([append("after")])).toEqual([{ seq: 2 }]);
});

test("a fault can be put into a running process by a file with its name, and taken out with the file", async () => {
  const temp = tempStore(onTestFinished);
  const file = `${temp.dir}/fault`;
  const store = await temp.open({ faults: { file }, probeMs: 10 });
  await store.commit([append("before")]);

  for (const reason of ["full", "readonly", "io"]) {
    writeFileSync(file, `${reason}\n`);
    await expect(store.commit([append("large", large)])).rejects.toMatchObject({ code: "storage-unavailable", fields: { reason } });
    rmSync(file);
    await until(() => store.status().ok, "the store recovers");
  }

  expect(await store.commit([append("after", large)])).toEqual([{ seq: 2 }]);
});
