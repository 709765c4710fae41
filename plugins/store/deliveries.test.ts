import type { DeliveryState, StoreOp } from "svc/sdk";
import { expect, onTestFinished, test } from "vitest";
import type { OpenStore } from "./open-store.ts";
import { accept, append, claim, delivery, finish, firstOwner, put, session, tempStore } from "./testing/temp-store.ts";

const dayMs = 86_400_000;
const openedStore = () => tempStore(onTestFinished).open();
const uidsOf = (rows: Array<{ uid: string }>) => rows.map((row) => row.uid);
const dirs = ["hook-agent"] as const;
const dueUids = (store: OpenStore, now = 10_000) => uidsOf(store.deliveries.due({ dirs, now, limit: 1_000 }));
const keyed = { idemScope: "token /agent", idemKey: "k1", fingerprint: "f1" };

test("what was taken on is there with everything that was said of it, and after a restart too", async () => {
  const temp = tempStore(onTestFinished);
  const first = await temp.open();
  expect(await first.commit([accept("u1", { ...keyed, lane: "agent:main:main" })])).toEqual([{}]);
  const expected = {
    id: expect.any(Number),
    uid: "u1",
    dir: "hook-agent",
    lane: "agent:main:main",
    ...keyed,
    payload: { text: "payload of u1" },
    state: "accepted",
    attempt: 0,
    steps: {},
    createdAt: 1_000,
    updatedAt: 1_000,
    expiresAt: 1_000_000,
  };
  const { payload, ...shown } = expected;

  for (const store of [first, await temp.open()]) {
    expect(store.deliveries.get("u1")).toEqual(expected);
    expect(store.deliveries.byKey(keyed)).toEqual(expected);
    expect(store.deliveries.due({ dirs, now: 1_000, limit: 10 })).toEqual([expected]);
    expect(store.deliveries.list({ limit: 10 })).toEqual([shown]);
    expect(store.deliveries.counts()).toEqual({ byDir: { "hook-agent": { accepted: 1 } }, bytes: JSON.stringify(payload).length });
  }
});

test("what is not there reads as undefined or empty", async () => {
  const { deliveries } = await openedStore();
  expect(deliveries.get("none")).toBeUndefined();
  expect(deliveries.byKey(keyed)).toBeUndefined();
  expect(deliveries.due({ dirs, now: 1, limit: 10 })).toEqual([]);
  expect(deliveries.abandoned({ dirs, boot: "b", limit: 10 })).toEqual([]);
  expect(deliveries.overdue({ dirs, now: 1, limit: 10 })).toEqual([]);
  expect(deliveries.nextAt(dirs)).toBeUndefined();
  expect(deliveries.list({ limit: 10 })).toEqual([]);
  expect(deliveries.counts()).toEqual({ byDir: {}, bytes: 0 });
});

test("a try is begun, its steps are recorded, and the end drops the payload and keeps steps and result", async () => {
  const store = await openedStore();
  await store.commit([accept("u1")]);

  await store.commit([claim("u1")]);
  expect(store.deliveries.get("u1")).toMatchObject({ state: "running", attempt: 1, leaseBoot: "b1", updatedAt: 2_000 });
  await store.commit([{ op: "delivery.step", uid: "u1", ...firstOwner, step: "run", value: { status: "ok" }, at: 2_100 }]);
  await store.commit([{ op: "delivery.step", uid: "u1", ...firstOwner, step: "summary", value: {}, at: 2_200 }]);
  expect(store.deliveries.get("u1")).toMatchObject({ steps: { run: { status: "ok" }, summary: {} }, updatedAt: 2_200 });
  await store.commit([finish("u1", "done", { owner: firstOwner })]);

  const row = store.deliveries.get("u1");
  expect(row).toMatchObject({ state: "done", attempt: 1, steps: { run: { status: "ok" }, summary: {} }, result: { status: "done" } });
  expect(row).not.toHaveProperty("payload");
  expect(row).not.toHaveProperty("leaseBoot");
  expect(store.deliveries.counts()).toEqual({ byDir: { "hook-agent": { done: 1 } }, bytes: 0 });
});

test.each(["failed", "expired"] as const)("what ends as %s keeps its payload, and an operator's retry begins anew", async (state) => {
  const store = await openedStore();
  await store.commit([accept("u1"), claim("u1"), finish("u1", state, { owner: firstOwner })]);
  expect(store.deliveries.get("u1")).toMatchObject({ state, payload: { text: "payload of u1" } });
  expect(dueUids(store)).toEqual([]);

  await store.commit([{ op: "delivery.requeue", uid: "u1", from: ["failed", "expired"], attempt: 0, expiresAt: 2_000_000, at: 4_000 }]);

  expect(store.deliveries.get("u1")).toMatchObject({ state: "accepted", attempt: 0, expiresAt: 2_000_000, updatedAt: 4_000 });
  expect(dueUids(store)).toEqual(["u1"]);
});

test("a try that did not work waits for its time, with the reason, and keeps the count of tries and the steps", async () => {
  const store = await openedStore();
  await store.commit([
    accept("u1"),
    claim("u1"),
    { op: "delivery.step", uid: "u1", ...firstOwner, step: "run", value: { n: 1 }, at: 2_000 },
    { op: "delivery.requeue", uid: "u1", from: ["running"], owner: firstOwner, notBefore: 7_000, result: { reason: "busy" }, at: 3_000 },
  ]);

  expect(store.deliveries.get("u1")).toMatchObject({
    state: "accepted",
    attempt: 1,
    notBefore: 7_000,
    result: { reason: "busy" },
    steps: { run: { n: 1 } },
  });
  expect(dueUids(store, 6_999)).toEqual([]);
  expect(store.deliveries.nextAt(dirs)).toBe(7_000);
  expect(dueUids(store, 7_000)).toEqual(["u1"]);

  await store.commit([claim("u1")]);
  expect(store.deliveries.get("u1")).toMatchObject({ state: "running", attempt: 2 });
  expect(store.deliveries.get("u1")).not.toHaveProperty("notBefore");
});

test("eight identical requests at once are one delivery", async () => {
  const store = await openedStore();

  const results = await Promise.all(Array.from({ length: 8 }, (_, n) => store.commit([accept(`u${n}`, keyed)])));

  const [first, ...others] = results.flat();
  expect(first).toEqual({});
  for (const result of others) {
    expect(result.known).toMatchObject({ uid: "u0", state: "accepted", ...keyed });
    expect(result.known).not.toHaveProperty("payload");
  }
  expect(uidsOf(store.deliveries.list({ limit: 10 }))).toEqual(["u0"]);
});

test("another scope, key or fingerprint is another delivery, and so is every one without a key", async () => {
  const store = await openedStore();
  const others = [keyed, { ...keyed, idemScope: "other" }, { ...keyed, idemKey: "other" }, { ...keyed, fingerprint: "other" }, {}, {}];

  const results = await store.commit(others.map((key, n) => accept(`u${n}`, key)));

  expect(results).toEqual(others.map(() => ({})));
});

test.each(["done", "failed", "expired"] as const)(
  "a key is known until 24 h after its delivery was %s; then it is free, and the old row stays without it",
  async (state) => {
    const store = await openedStore();
    await store.commit([accept("u1", keyed), claim("u1"), finish("u1", state, { owner: firstOwner })]);

    const [within] = await store.commit([accept("u2", keyed, 3_000 + dayMs)]);
    expect(within?.known).toMatchObject({ uid: "u1", state, result: { status: state } });

    expect(await store.commit([accept("u2", keyed, 3_001 + dayMs)])).toEqual([{}]);
    expect(store.deliveries.byKey(keyed)?.uid).toBe("u2");
    expect(store.deliveries.get("u1")).toMatchObject({ state });
    expect(store.deliveries.get("u1")).not.toHaveProperty("idemKey");
  },
);

test("a uid is given once", async () => {
  const store = await openedStore();
  await store.commit([accept("u1")]);

  await expect(store.commit([append("m"), accept("u1", { lane: "other" })])).rejects.toMatchObject({
    code: "exists",
    fields: { kind: "delivery", key: "u1", row: expect.objectContaining({ lane: "lane of u1" }) },
  });

  expect(store.messages.count("s")).toBe(0);
});

test.each([
  ["without a key", {}],
  ["with one", keyed],
])("what is over with its accept is there in full, %s", async (_, key) => {
  const store = await openedStore();

  await store.commit([
    accept("w1", { dir: "hook-wake", lane: "agent:main:main", expiresAt: 9_000, done: { status: "ok" }, ...key }, 1_234),
  ]);

  expect(store.deliveries.get("w1")).toEqual({
    id: expect.any(Number),
    uid: "w1",
    dir: "hook-wake",
    lane: "agent:main:main",
    ...key,
    state: "done",
    attempt: 0,
    steps: {},
    createdAt: 1_234,
    updatedAt: 1_234,
    expiresAt: 9_000,
    result: { status: "ok" },
  });
});

test("a text for the next prompt and its delivery are one commit: both or none", async () => {
  const store = await openedStore();
  const event: StoreOp = { op: "systemEvent.add", event: { sessionKey: "k", text: "t", source: "hook", ts: 1, wake: true } };
  const wake = (uid: string) => [event, accept(uid, { dir: "hook-wake", done: { path: "wake" } })];

  expect(await store.commit(wake("w1"))).toEqual([{}, {}]);
  await expect(store.commit(wake("w1"))).rejects.toMatchObject({ code: "exists" });
  expect(await store.commit(wake("w2"))).toEqual([{ coalesced: true }, {}]);

  const row = store.deliveries.get("w1");
  expect(row).toMatchObject({ state: "done", attempt: 0, result: { path: "wake" }, updatedAt: 1_000 });
  expect(row).not.toHaveProperty("payload");
  expect(store.systemEvents.pending("k", 10)).toHaveLength(1);
  expect(store.deliveries.counts()).toEqual({ byDir: { "hook-wake": { done: 2 } }, bytes: 0 });
});

const waysTo = (uid: string): Record<DeliveryState, StoreOp[]> => ({
  accepted: [],
  running: [claim(uid)],
  sending: [claim(uid, { to: "sending" })],
  uncertain: [claim(uid), { op: "delivery.requeue", uid, from: ["running"], owner: firstOwner, to: "uncertain", at: 1 }],
  done: [finish(uid)],
  failed: [finish(uid, "failed")],
  expired: [finish(uid, "expired")],
});
const step = (uid: string): StoreOp => ({ op: "delivery.step", uid, ...firstOwner, step: "run", value: {}, at: 1 });
const requeue = (uid: string, from: DeliveryState[] = ["running", "sending"]): StoreOp => ({
  op: "delivery.requeue",
  uid,
  from,
  ...(from.includes("running") ? { owner: firstOwner } : {}),
  at: 1,
});

test.each<[string, (uid: string) => StoreOp, DeliveryState[]]>([
  ["claim", (uid) => claim(uid), ["accepted", "uncertain"]],
  ["step", step, ["running", "sending"]],
  ["requeue", (uid) => requeue(uid), ["running", "sending"]],
  ["requeue of what has failed", (uid) => requeue(uid, ["done", "failed"]), ["failed"]],
  ["finish", (uid) => ({ ...finish(uid, "done", { owner: firstOwner }), from: ["running", "sending"] }) as StoreOp, ["running", "sending"]],
  ["finish of what has failed", (uid) => ({ ...finish(uid), from: ["failed"] }) as StoreOp, ["failed"]],
])("%s works in its states only; in others it is refused with the row, and nothing changes", async (_, opOn, allowed) => {
  const store = await openedStore();
  for (const state of Object.keys(waysTo("")) as DeliveryState[]) {
    await store.commit([accept(state), ...waysTo(state)[state]]);
    const before = store.deliveries.get(state);
    expect(before?.state).toBe(state);

    const outcome = store.commit([opOn(state)]);

    if (allowed.includes(state)) {
      expect(await outcome).toEqual([{}]);
      continue;
    }
    await expect(outcome).rejects.toMatchObject({
      code: "delivery-state",
      fields: { key: state, row: expect.objectContaining({ state }) },
    });
    expect(store.deliveries.get(state)).toEqual(before);
  }
});

test("of a delivery that is not there nothing can be said", async () => {
  const store = await openedStore();
  for (const op of [claim("u1"), step("u1"), requeue("u1"), finish("u1")]) {
    await expect(store.commit([op])).rejects.toMatchObject({ code: "delivery-state", message: expect.stringContaining("is absent") });
  }
});

test("only the boot that has claimed a delivery records its steps", async () => {
  const store = await openedStore();
  await store.commit([accept("u1"), claim("u1", { leaseBoot: "b2" })]);

  await expect(store.commit([step("u1")])).rejects.toMatchObject({
    code: "fenced",
    message: 'delivery "u1" has another owner by now; nothing of this commit was stored',
  });

  expect(store.deliveries.get("u1")?.steps).toEqual({});
});

test.each(["running", "sending"] as const)("a write that ends or requeues what is %s names its owner", async (state) => {
  const store = await openedStore();
  await store.commit([accept("u1"), claim("u1", { to: state })]);

  for (const op of [finish("u1"), { op: "delivery.requeue", uid: "u1", from: [state], at: 1 } as const])
    await expect(store.commit([op])).rejects.toMatchObject({ code: "fenced" });

  expect(store.deliveries.get("u1")).toMatchObject({ state, leaseBoot: "b1" });
});

test("of each lane only the oldest unfinished delivery may be tried", async () => {
  const store = await openedStore();
  await store.commit([
    accept("a1", { lane: "a" }),
    accept("b1", { lane: "b" }),
    accept("a2", { lane: "a" }),
    accept("c1", { lane: "c", dir: "out" }),
    accept("a3", { lane: "a" }),
  ]);
  expect(dueUids(store)).toEqual(["a1", "b1"]);
  expect(uidsOf(store.deliveries.due({ dirs: ["hook-agent", "out"], now: 10_000, limit: 1_000 }))).toEqual(["a1", "b1", "c1"]);
  expect(uidsOf(store.deliveries.due({ dirs, now: 10_000, limit: 1 }))).toEqual(["a1"]);
  expect(store.deliveries.due({ dirs: [], now: 10_000, limit: 1 })).toEqual([]);

  await store.commit([claim("a1")]);
  expect(dueUids(store)).toEqual(["b1"]);

  await store.commit([{ op: "delivery.requeue", uid: "a1", from: ["running"], owner: firstOwner, notBefore: 20_000, at: 1 }]);
  expect(dueUids(store, 19_999)).toEqual(["b1"]);
  expect(dueUids(store, 20_000)).toEqual(["a1", "b1"]);

  await store.commit([finish("a1")]);
  expect(dueUids(store)).toEqual(["b1", "a2"]);
});

test("an uncertain delivery may be tried like one that waits", async () => {
  const store = await openedStore();
  await store.commit([
    accept("u1", { dir: "out" }),
    claim("u1", { to: "sending" }),
    { op: "delivery.requeue", uid: "u1", from: ["sending"], owner: firstOwner, to: "uncertain", at: 1 },
  ]);
  expect(store.deliveries.due({ dirs: ["out"], now: 10_000, limit: 10 })).toMatchObject([{ uid: "u1", state: "uncertain" }]);
});

test("the next time is that of the first lane that may go on, or of the first expiry", async () => {
  const store = await openedStore();
  const { deliveries } = store;
  await store.commit([accept("a1", { lane: "a", expiresAt: 9_000 }, 1_500), accept("a2", { lane: "a", expiresAt: 8_000 })]);
  expect(deliveries.nextAt(dirs)).toBe(1_500);
  expect(deliveries.nextAt(["out", "hook-wake"])).toBeUndefined();

  await store.commit([claim("a1")]);
  expect(deliveries.nextAt(dirs)).toBe(8_000);

  await store.commit([{ op: "delivery.requeue", uid: "a1", from: ["running"], owner: firstOwner, notBefore: 7_000, at: 1 }]);
  expect(deliveries.nextAt(dirs)).toBe(7_000);

  await store.commit([claim("a1"), finish("a2")]);
  expect(deliveries.nextAt(dirs)).toBeUndefined();
});

test("deliveries of other boots are abandoned; those of this one are not", async () => {
  const store = await openedStore();
  await store.commit([
    accept("mine"),
    accept("older"),
    accept("sent", { dir: "out" }),
    accept("waits"),
    claim("mine", { leaseBoot: "now" }),
    claim("older"),
    claim("sent", { to: "sending" }),
  ]);
  const abandoned = (limit = 10) => uidsOf(store.deliveries.abandoned({ dirs: ["hook-agent", "out"], boot: "now", limit }));
  expect(abandoned()).toEqual(["older", "sent"]);
  expect(abandoned(1)).toEqual(["older"]);
  expect(store.deliveries.abandoned({ dirs, boot: "now", limit: 10 })).toMatchObject([{ payload: { text: "payload of older" } }]);

  await store.commit([finish("older", "done", { owner: firstOwner })]);
  expect(abandoned()).toEqual(["sent"]);
});

test("unfinished deliveries past their time are overdue, whatever their state", async () => {
  const store = await openedStore();
  const expiring = ["late", "later", "running", "done"].map((uid, n) => accept(uid, { expiresAt: 100 + n }));
  await store.commit([...expiring, accept("in time"), claim("running"), finish("done")]);
  const overdue = (now: number, limit = 10) => uidsOf(store.deliveries.overdue({ dirs, now, limit }));

  expect(overdue(99)).toEqual([]);
  expect(overdue(100)).toEqual(["late"]);
  expect(overdue(200)).toEqual(["late", "later", "running"]);
  expect(overdue(200, 2)).toEqual(["late", "later"]);
});

test("lists are newest first, by kind and state, page by page", async () => {
  const store = await openedStore();
  for (let n = 0; n < 6; n += 1) await store.commit([accept(`a${n}`), accept(`w${n}`, { dir: "hook-wake", done: {} })]);
  await store.commit([finish("a1", "failed"), finish("a3", "expired"), finish("a5")]);
  const list = (query: object) => uidsOf(store.deliveries.list({ limit: 10, ...query }));

  expect(list({ limit: 3 })).toEqual(["w5", "a5", "w4"]);
  expect(list({ dirs: ["hook-agent"] })).toEqual(["a5", "a4", "a3", "a2", "a1", "a0"]);
  expect(list({ states: ["failed", "expired", "failed"] })).toEqual(["a3", "a1"]);
  expect(list({ dirs: ["hook-wake"], states: ["done"], limit: 2 })).toEqual(["w5", "w4"]);
  expect(list({ dirs: ["out"] })).toEqual([]);
  expect(list({ states: [] })).toEqual([]);
  const before = store.deliveries.get("a3")?.id;
  expect(list({ before, limit: 2 })).toEqual(["w2", "a2"]);
  expect(list({ before, dirs: ["hook-agent"], limit: 2 })).toEqual(["a2", "a1"]);
  expect(store.deliveries.counts().byDir).toEqual({
    "hook-agent": { accepted: 3, failed: 1, expired: 1, done: 1 },
    "hook-wake": { done: 6 },
  });
});

const tooMuch: Array<[string, StoreOp]> = [
  ["a payload over 256 KiB", accept("u1", { payload: { text: "ä".repeat(131_067) } })],
  ["an empty uid", accept("")],
  ["a long uid", accept("u".repeat(201))],
  ["a key without fingerprint", { op: "delivery.accept", delivery: { ...delivery("u1"), idemScope: "s", idemKey: "k" }, at: 1 }],
  ["a time that is none", accept("u1", { expiresAt: Number.NaN })],
  ["a result over 64 KiB", { ...finish("u0"), result: { text: "x".repeat(65_536) } } as StoreOp],
  ["a step without a name", { ...step("u0"), step: "" } as StoreOp],
  ["steps over 64 KiB together", { ...step("u0"), step: "two", value: { x: "x".repeat(40_000) } } as StoreOp],
];

test(`not taken: ${tooMuch.map(([what]) => what).join(", ")}`, async () => {
  const store = await openedStore();
  const large = { x: "x".repeat(40_000) };
  await store.commit([accept("u0"), claim("u0"), { ...step("u0"), step: "one", value: large } as StoreOp]);

  for (const [what, op] of tooMuch) {
    await expect(store.commit([put(session("half")), op]), what).rejects.toMatchObject({ code: "store-invalid-op" });
  }

  expect(store.sessions.get("half")).toBeUndefined();
  expect(store.deliveries.list({ limit: 10 })).toMatchObject([{ uid: "u0", state: "running", steps: { one: large } }]);
});

test("a payload of exactly 256 KiB is taken", async () => {
  const store = await openedStore();
  const payload = { text: "x".repeat(256 * 1024 - 11) };
  await store.commit([accept("u1", { payload })]);
  expect(store.deliveries.counts().bytes).toBe(256 * 1024);
  expect(store.deliveries.get("u1")?.payload).toEqual(payload);
});
