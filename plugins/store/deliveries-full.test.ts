import { expect, onTestFinished, test } from "vitest";
import { openConnection } from "./native.ts";
import type { OpenStore } from "./open-store.ts";
import { accept, append, claim, finish, firstOwner, put, session, type TempStore, tempStore, until } from "./testing/temp-store.ts";
import { faultAt } from "./writer-messages.ts";

const most = 2_000;

async function waiting(store: OpenStore, count: number): Promise<void> {
  await store.commit(Array.from({ length: count }, (_, n) => accept(`waits ${n}`, { dir: n % 2 === 0 ? "hook-agent" : "out" })));
}

test("2,000 unfinished deliveries of all kinds are taken on; the next is refused with the rest of its commit, and an end makes room", async () => {
  const store = await tempStore(onTestFinished).open();
  await waiting(store, most);

  await expect(store.commit([put(session("half")), accept("one more")])).rejects.toMatchObject({
    code: "deliveries-full",
    retryAfterMs: 5_000,
    spec: { http: 503, retryable: true },
    details: { code: "DELIVERIES_FULL" },
  });
  expect(store.sessions.get("half")).toBeUndefined();
  expect(store.deliveries.get("one more")).toBeUndefined();

  await store.commit([accept("a wake", { dir: "hook-wake", done: {} })]);
  await store.commit([claim("waits 0"), finish("waits 0", "failed", { owner: firstOwner })]);
  await store.commit([accept("one more")]);
  await expect(store.commit([accept("two more")])).rejects.toMatchObject({ code: "deliveries-full" });
  const retry = { op: "delivery.requeue", uid: "waits 0", from: ["failed"], at: 1 } as const;
  await expect(store.commit([retry])).rejects.toMatchObject({ code: "deliveries-full" });
  expect(store.deliveries.get("waits 0")?.state).toBe("failed");

  await store.commit([finish("waits 1")]);
  await store.commit([retry]);
  await expect(store.commit([accept("two more")])).rejects.toMatchObject({ code: "deliveries-full" });
});

test("what is known already is answered although all places are taken", async () => {
  const store = await tempStore(onTestFinished).open();
  const key = { idemScope: "s", idemKey: "k", fingerprint: "f" };
  await store.commit([accept("first", key)]);
  await waiting(store, most - 1);

  const [again] = await store.commit([accept("second", key)]);

  expect(again?.known?.uid).toBe("first");
});

test("refused commits take no place", async () => {
  const store = await tempStore(onTestFinished).open();
  await waiting(store, most - 1);

  for (const uid of ["a", "b", "c"]) {
    const refused = store.commit([accept(uid), { op: "session.patch", key: "nobody", patch: {} }]);
    await expect(refused).rejects.toMatchObject({ code: "session-missing" });
  }
  await expect(store.commit([finish("waits 0"), finish("nobody")])).rejects.toMatchObject({ code: "delivery-state" });

  await store.commit([accept("last")]);
  await expect(store.commit([accept("one more")])).rejects.toMatchObject({ code: "deliveries-full" });
});

test.each(["full", "readonly", "io"] as const)("a group that the disk (%s) did not take takes no place", async (fault) => {
  const faults = new Int32Array(new SharedArrayBuffer(12));
  const store = await tempStore(onTestFinished).open({ faults, probeMs: 10 });
  await waiting(store, most - 1);
  Atomics.store(faults, faultAt[fault], 1);
  const large = append("large", { content: [{ type: "text", text: "x".repeat(500_000) }] });
  await expect(store.commit([accept("lost"), large])).rejects.toMatchObject({ code: "storage-unavailable", fields: { reason: fault } });
  Atomics.store(faults, faultAt[fault], 0);
  await until(() => store.status().ok, "the store recovers");
  expect(store.deliveries.get("lost")).toBeUndefined();

  await store.commit([accept("last")]);

  await expect(store.commit([accept("one more")])).rejects.toMatchObject({ code: "deliveries-full" });
});

async function tampered(temp: TempStore, sql: string): Promise<void> {
  const db = await openConnection(temp.path, {});
  db.exec(sql);
  db.close();
}

test("256 MiB of payloads are taken on; what has ended and what waits is counted anew at the opening", async () => {
  const temp = tempStore(onTestFinished);
  const first = await temp.open();
  await first.commit([accept("large"), accept("small"), accept("ended"), finish("ended", "failed")]);
  await first.close();
  const payload = { text: "x".repeat(100 - 11) };
  const own = JSON.stringify({ text: "payload of small" }).length;
  await tampered(
    temp,
    `UPDATE deliveries SET payload_bytes = ${256 * 1024 * 1024 - own - 100} WHERE uid = 'large'; UPDATE deliveries SET payload_bytes = 1000 WHERE uid = 'ended'`,
  );

  const store = await temp.open();

  await expect(store.commit([accept("too large", { payload: { text: "x".repeat(101 - 11) } })])).rejects.toMatchObject({
    code: "deliveries-full",
  });
  await store.commit([accept("fits", { payload })]);
  expect(store.deliveries.counts().bytes).toBe(256 * 1024 * 1024);
  await expect(store.commit([accept("one more")])).rejects.toMatchObject({ code: "deliveries-full" });
  await store.commit([finish("large")]);
  await store.commit([accept("one more")]);
});
