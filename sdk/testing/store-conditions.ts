import assert from "node:assert/strict";
import type { StoreChange, StoreOp } from "../types/store.ts";
import type { DeliveryRow, MessageBlock, MessageRow } from "../types/store-rows.ts";
import { eventually } from "./eventually.ts";
import { deliveryStates, sampleDelivery, sampleMessage, sampleRun, sampleSession } from "./store-operations.ts";
import { leadTo, outcomeOf, type StoreSubject } from "./store-subject.ts";

export async function checkPages({ store: { commit, messages } }: StoreSubject): Promise<void> {
  const mebibyte = 1024 * 1024;
  // A letter of two bytes: characters are not what counts.
  const content: MessageBlock[] = [{ type: "text", text: "ä".repeat(mebibyte / 2) }];
  const ids = Array.from({ length: 9 }, (_, n) => `m${n}`);
  for (const id of ids) await commit([{ op: "message.append", message: { ...sampleMessage(id, "t"), content } }]);
  for (const [maxBytes, most] of [[undefined, 7] as const, [2.5 * mebibyte, 2] as const, [1, 1] as const, [64 * mebibyte, 9] as const]) {
    const bound = maxBytes === undefined ? {} : { maxBytes };
    const page = async (before: number) => messages.page("t", { before, limit: 1_000, ...bound });
    const back: MessageRow[][] = [];
    for (let found = await page(99); found.length > 0; found = await page(found[0]?.seq ?? 0)) back.unshift(found);
    const scan = async (after: number) => messages.scan("t", after, 1_000, bound);
    const on: MessageRow[][] = [];
    for (let found = await scan(0); found.length > 0; found = await scan(found.at(-1)?.seq ?? 99)) on.push(found);
    for (const found of [back, on]) {
      const where = `maxBytes ${maxBytes}`;
      assert.deepEqual(
        found.flatMap((rows) => rows.map(({ id }) => id)),
        ids,
        where,
      );
      assert.equal(Math.max(...found.map((rows) => rows.length)), most, where);
    }
  }
}

export async function checkStatus({ store }: StoreSubject): Promise<void> {
  await store.commit([{ op: "kv.put", scope: "s", key: "k", value: 1 }]);
  const { ok, reason, notReady, queued, backend, endpoint } = store.status();
  assert.deepEqual({ ok, reason, notReady, queued }, { ok: true, reason: undefined, notReady: undefined, queued: 0 });
  assert.ok(backend !== "" && endpoint !== "", "backend or endpoint is empty");
  assert.ok(!URL.canParse(endpoint) || new URL(endpoint).password === "", "the endpoint shows a password");
}

export async function checkVersions({ store }: StoreSubject): Promise<void> {
  const put = (value: unknown, ifVersion?: number): StoreOp => ({
    op: "kv.put",
    scope: "s",
    key: "k",
    value,
    ...(ifVersion === undefined ? {} : { ifVersion }),
  });
  assert.equal(await store.kv.read("s", "k"), undefined);
  assert.equal(await outcomeOf(store.commit([put("early", 1)])), "kv-changed");
  const [first] = await store.commit([put("one")]);
  assert.deepEqual(await store.kv.read("s", "k"), { value: "one", version: first?.version });
  const [second] = await store.commit([put("two", first?.version)]);
  assert.equal(await outcomeOf(store.commit([put("late", first?.version)])), "kv-changed");
  assert.equal(await store.kv.get("s", "k"), "two");
  const remove = (ifVersion?: number): StoreOp => ({
    op: "kv.delete",
    scope: "s",
    key: "k",
    ...(ifVersion === undefined ? {} : { ifVersion }),
  });
  assert.equal(await outcomeOf(store.commit([remove(first?.version)])), "kv-changed");
  await store.commit([remove(second?.version)]);
  // Made again, it is another value: a writer who read the old one must not change it.
  const [third] = await store.commit([put("three")]);
  assert.ok(Number(third?.version) > Number(second?.version), "the version of a value that was made again did not grow");
}

export async function checkFirstWriter({ store }: StoreSubject): Promise<void> {
  const put = (value: string): StoreOp => ({ op: "kv.put", scope: "s", key: "identity", value, ifAbsent: true });
  const outcomes = await Promise.all([outcomeOf(store.commit([put("a")])), outcomeOf(store.commit([put("b")]))]);
  assert.deepEqual(outcomes, [[{}], "exists"]);
  assert.equal(await store.kv.get("s", "identity"), "a");
}

export async function checkCounters({ store }: StoreSubject): Promise<void> {
  await store.commit([{ op: "session.put", session: sampleSession("k", { inputTokens: 5 }) }]);
  const add = (inputTokens: number): StoreOp => ({ op: "session.patch", key: "k", patch: {}, add: { inputTokens } });
  await Promise.all(Array.from({ length: 50 }, () => store.commit([add(2)])));
  assert.equal((await store.sessions.get("k"))?.inputTokens, 105);
  await store.commit([add(-1_000)]);
  assert.equal((await store.sessions.get("k"))?.inputTokens, 0);
}

export async function checkLabels({ store }: StoreSubject): Promise<void> {
  const put = (key: string, agentId = "main"): StoreOp => ({
    op: "session.put",
    session: sampleSession(key, { agentId, label: "plans" }),
    uniqueLabel: true,
  });
  const outcomes = await Promise.all([put("a"), put("b"), put("c", "other"), put("a")].map((op) => outcomeOf(store.commit([op]))));
  assert.deepEqual(outcomes, [[{}], "label-in-use", [{}], [{}]]);
  await store.commit([{ op: "session.put", session: sampleSession("d") }]);
  const relabel: StoreOp = { op: "session.patch", key: "d", patch: { label: "plans" }, uniqueLabel: true };
  assert.equal(await outcomeOf(store.commit([relabel])), "label-in-use");
}

export async function checkEvents({ store }: StoreSubject): Promise<void> {
  const add = (text: string): StoreOp => ({ op: "systemEvent.add", event: { sessionKey: "k", text, source: "test", ts: 1, wake: false } });
  await store.commit([add("one"), add("two")]);
  const ids = (await store.systemEvents.pending("k", 10)).map(({ id }) => id);
  const outcomes = await Promise.all([ids, ids].map((all) => outcomeOf(store.commit([{ op: "systemEvent.take", ids: all, all: true }]))));
  assert.deepEqual(outcomes, [[{ removed: 2 }], "events-taken"]);
  await store.commit([add("three")]);
  const [three] = await store.systemEvents.pending("k", 10);
  const both = [...ids, three?.id ?? 0];
  assert.equal(await outcomeOf(store.commit([{ op: "systemEvent.take", ids: both, all: true }])), "events-taken");
  assert.equal((await store.systemEvents.pending("k", 10)).length, 1, "a refused take removed an event");
}

export async function checkUnusedSession({ store }: StoreSubject): Promise<void> {
  const remove: StoreOp = { op: "session.delete", key: "k", deleteTranscript: false, ifNoEvents: true };
  const event = { sessionKey: "k", text: "one", source: "test", ts: 1, wake: false };
  await store.commit([{ op: "session.put", session: sampleSession("k") }]);
  const outcomes = await Promise.all([[{ op: "systemEvent.add", event } as const], [remove]].map((ops) => outcomeOf(store.commit(ops))));
  assert.deepEqual(outcomes, [[{}], "events-waiting"]);
  const events = await store.systemEvents.pending("k", 10);
  assert.ok((await store.sessions.get("k")) && events.length === 1, "a refused deletion removed something");
  await store.commit([{ op: "systemEvent.take", ids: events.map(({ id }) => id) }]);
  assert.deepEqual(await outcomeOf(store.commit([remove])), [{ removed: 1 }]);
}

export async function checkRunOwner({ store }: StoreSubject): Promise<void> {
  await store.commit([{ op: "run.put", run: sampleRun("r", { state: "running", bootId: "b1" }) }]);
  const end = (bootId: string): StoreOp => ({
    op: "run.put",
    run: sampleRun("r", { state: "ok", bootId }),
    ifState: ["queued", "running"],
    ifOwner: bootId,
  });
  assert.equal(await outcomeOf(store.commit([end("b2")])), "fenced");
  assert.deepEqual(await outcomeOf(store.commit([end("b1")])), [{}]);
  assert.equal(await outcomeOf(store.commit([end("b1")])), "run-state");
}

export async function checkTakeover({ store }: StoreSubject): Promise<void> {
  const owner = { leaseBoot: "b1", attempt: 1 };
  await store.commit(leadTo("sending", "d"));
  await store.commit([{ op: "delivery.requeue", uid: "d", from: ["sending"], owner, at: 3 }]);
  const finish: StoreOp = { op: "delivery.finish", uid: "d", from: deliveryStates, owner, state: "done", result: {}, at: 5 };
  const step: StoreOp = { op: "delivery.step", uid: "d", leaseBoot: "b1", attempt: 1, step: "run", value: {}, at: 5 };
  assert.equal(await outcomeOf(store.commit([finish])), "fenced");
  // The same owner in a later try is another one.
  for (const leaseBoot of ["b2", "b1"]) {
    await store.commit([{ op: "delivery.claim", uid: "d", to: "sending", leaseBoot, at: 4 }]);
    const { attempt } = (await store.deliveries.get("d")) as DeliveryRow;
    assert.equal(await outcomeOf(store.commit([finish])), "fenced", `claimed by ${leaseBoot}`);
    assert.equal(await outcomeOf(store.commit([step])), "fenced", `claimed by ${leaseBoot}`);
    await store.commit([{ op: "delivery.requeue", uid: "d", from: ["sending"], owner: { leaseBoot, attempt }, at: 5 }]);
  }
}

export async function checkLanes({ store }: StoreSubject): Promise<void> {
  const lane = { lane: "one" };
  await store.commit([
    { op: "delivery.accept", delivery: sampleDelivery("first", lane), at: 1 },
    { op: "delivery.accept", delivery: sampleDelivery("second", lane), at: 1 },
    { op: "delivery.accept", delivery: sampleDelivery("beside", { lane: "two" }), at: 1 },
  ]);
  const due = async () => (await store.deliveries.due({ dirs: ["hook-agent"], now: 5, limit: 10 })).map(({ uid }) => uid);
  assert.deepEqual(await due(), ["first", "beside"]);
  await store.commit([{ op: "delivery.claim", uid: "first", to: "running", leaseBoot: "b1", at: 2 }]);
  assert.deepEqual(await due(), ["beside"]);
  const owner = { leaseBoot: "b1", attempt: 1 };
  await store.commit([{ op: "delivery.finish", uid: "first", from: ["running"], owner, state: "failed", result: {}, at: 3 }]);
  assert.deepEqual(await due(), ["second", "beside"]);
}

export async function checkAbandoned({ store, leases }: StoreSubject): Promise<void> {
  await store.commit([...leadTo("running", "d"), { op: "run.put", run: sampleRun("r", { state: "running", bootId: "b1" }) }]);
  const abandoned = async () => ({
    deliveries: (await store.deliveries.abandoned({ dirs: ["hook-agent"], limit: 10 })).map(({ uid }) => uid),
    runs: (await store.runs.unfinished({ expired: true })).map(({ runId }) => runId),
  });
  const lease = await leases.acquire("hooks", { owner: "b1" });
  assert.deepEqual(await abandoned(), { deliveries: [], runs: [] });
  assert.equal((await store.runs.unfinished()).length, 1);
  await lease.release();
  assert.deepEqual(await abandoned(), { deliveries: ["d"], runs: ["r"] });
  await leases.acquire("hooks", { owner: "b2" });
  assert.deepEqual(await abandoned(), { deliveries: ["d"], runs: ["r"] });
}

export async function checkLeases({ leases }: StoreSubject): Promise<void> {
  const first = await leases.acquire("role");
  const beside = await leases.acquire("other role");
  const second = await leases.acquire("role");
  assert.ok(second.token > first.token, `token ${second.token} after ${first.token}`);
  assert.deepEqual([first.lost.aborted, second.lost.aborted, beside.lost.aborted], [true, false, false]);
  assert.equal((first.lost.reason as { code?: unknown }).code, "fenced");
  await first.release();
  assert.equal(second.lost.aborted, false, "the release of a lost lease took it from its present holder");
  await second.release();
  assert.ok((await leases.acquire("role")).token > second.token, "a token was given again after a release");
}

export async function checkFence({ store, leases }: StoreSubject): Promise<void> {
  const put = (value: string): StoreOp => ({ op: "kv.put", scope: "s", key: "k", value });
  const first = await leases.acquire("role");
  assert.deepEqual(await outcomeOf(store.commit([put("first")], { fence: first })), [{}]);
  const [second, between] = await Promise.all([leases.acquire("role"), outcomeOf(store.commit([put("late")], { fence: first }))]);
  assert.equal(between, "fenced");
  assert.equal(await store.kv.get("s", "k"), "first");
  assert.deepEqual(await outcomeOf(store.commit([put("second")], { fence: second })), [{}]);
}

export async function checkReleased({ store, leases }: StoreSubject): Promise<void> {
  const lease = await leases.acquire("role");
  await lease.release();
  const put: StoreOp = { op: "kv.put", scope: "s", key: "k", value: 1 };
  assert.equal(await outcomeOf(store.commit([put], { fence: lease })), "fenced");
  assert.equal(await store.kv.get("s", "k"), undefined);
}

export async function checkChanges({ store }: StoreSubject): Promise<void> {
  const seen: Array<StoreChange | "resync"> = [];
  const reads: Array<Promise<unknown>> = [];
  const subscription = store.changes((change) => {
    seen.push(change);
    if (change !== "resync" && change.kind === "sessions") reads.push(store.sessions.get("k1"));
  });
  await Promise.all([
    store.commit([
      { op: "session.put", session: sampleSession("k1") },
      { op: "message.append", message: sampleMessage("m", "t") },
      { op: "delivery.accept", delivery: sampleDelivery("d"), at: 1 },
    ]),
    store.commit([{ op: "session.put", session: sampleSession("k2") }]),
    store.commit([
      { op: "run.put", run: sampleRun("r") },
      { op: "kv.put", scope: "s", key: "k", value: 1 },
      { op: "systemEvent.add", event: { sessionKey: "k1", text: "e", source: "test", ts: 1, wake: false } },
    ]),
    outcomeOf(store.commit([{ op: "session.patch", key: "absent", patch: {} }])),
  ]);
  const keysOf = (kind: StoreChange["kind"]) =>
    seen.flatMap((change) => (change !== "resync" && change.kind === kind ? change.keys : [])).sort();
  const expected = { sessions: ["k1", "k2"], messages: ["t"], deliveries: ["d"], runs: ["r"], kv: ["s"], systemEvents: ["k1"] };
  await eventually(() => {
    for (const [kind, keys] of Object.entries(expected)) assert.deepEqual(keysOf(kind as StoreChange["kind"]), keys, kind);
    return true;
  });
  assert.ok(
    (await Promise.all(reads)).every((row) => row !== undefined),
    "a change was announced before it could be read",
  );
  subscription.dispose();
}

export async function checkListeners({ store }: StoreSubject): Promise<void> {
  const seen: string[] = [];
  const failing = store.changes(() => {
    throw new Error("a listener of the test fails");
  });
  const ended = store.changes(() => seen.push("ended"));
  const living = store.changes(() => seen.push("living"));
  ended.dispose();
  await store.commit([{ op: "kv.put", scope: "s", key: "k", value: 1 }]);
  await eventually(() => seen.length > 0);
  assert.deepEqual(seen, ["living"]);
  for (const subscription of [failing, living]) subscription.dispose();
}

export async function checkSessionVersion({ store }: StoreSubject): Promise<void> {
  const before = store.sessions.version();
  await store.commit([{ op: "kv.put", scope: "s", key: "k", value: 1 }]);
  assert.equal(store.sessions.version(), before);
  await store.commit([{ op: "session.put", session: sampleSession("k") }]);
  assert.notEqual(store.sessions.version(), before);
}
