import assert from "node:assert/strict";
import type { Store, StoreOp } from "../types/store.ts";
import { type ContractCase, defineCases } from "./contract.ts";
import {
  checkAbandoned,
  checkChanges,
  checkCounters,
  checkEvents,
  checkFence,
  checkFirstWriter,
  checkLabels,
  checkLanes,
  checkLeases,
  checkListeners,
  checkPages,
  checkReleased,
  checkRunOwner,
  checkSessionVersion,
  checkStatus,
  checkTakeover,
  checkUnusedSession,
  checkVersions,
} from "./store-conditions.ts";
import { type ModelDelivery, StoreModel } from "./store-model.ts";
import { anyOp, createChoices, deliveryStates, letters, sampleDelivery } from "./store-operations.ts";
import { expectedOf, leadTo, outcomeOf, type StoreSubject } from "./store-subject.ts";

/** Number of random worlds, unless the caller says otherwise, and commits in each. */
const allWorlds = 200;
const commitsPerWorld = 30;

/**
 * Conformance suite of `store@2` and `leases@1`, to be called inside `describe`: results, order, conditions, fences, leases and changes. Files, faults of the disk
 * and crashes are the business of each implementation.
 * @param create makes a fresh subject; called once per case
 */
export function storeContract(create: () => Promise<StoreSubject>, options: StoreContractOptions = {}): void {
  defineCases(storeCases(create, options));
}

/** Settings of `storeContract`. */
export interface StoreContractOptions {
  /** Repeats the random sequences of a failed run, which names it. Default: another one each time. */
  seed?: number;
  /** Number of random sequences; default 200. Fewer for a store that takes milliseconds for each of thousands of reads. */
  worlds?: number;
}

/** The statements of `storeContract`, for running them without a test runner. */
export function storeCases(create: () => Promise<StoreSubject>, { seed, worlds = allWorlds }: StoreContractOptions = {}): ContractCase[] {
  const make = (name: string, check: (subject: StoreSubject) => Promise<void>): ContractCase => ({
    name,
    async run() {
      const subject = await create();
      try {
        await check(subject);
      } finally {
        await subject.dispose?.();
      }
    },
  });
  return [
    make("any sequence of commits has the results and leaves the rows of the model", (subject) => checkRandom(subject, worlds, seed)),
    make("each operation on a delivery, in each state, has the result of the model", checkDeliveryTable),
    make("a refused commit leaves nothing, and does not touch the commits beside it", checkAtomic),
    make("every read returns a promise", checkPromises),
    make("a page of messages ends at its bytes, and only an empty one is the last", checkPages),
    make("the status names the backend and its location, without a secret", checkStatus),
    make("a value is written only over the version that was read", checkVersions),
    make("of two first writers of a value one is refused", checkFirstWriter),
    make("what is added to the counters of a session by many is all there", checkCounters),
    make("of two sessions that take one label at once one is refused", checkLabels),
    make("events that one prompt has taken are not taken by another", checkEvents),
    make("a session for which an event came meanwhile is not deleted as unused", checkUnusedSession),
    make("a run is ended by its owner only", checkRunOwner),
    make("a claim that was taken over cannot be written to by its first owner", checkTakeover),
    make("only the oldest unfinished delivery of a lane is due", checkLanes),
    make("rows whose owner holds no lease are abandoned, the others are not", checkAbandoned),
    make("a later holder of a lease has a greater token, and the earlier one loses it", checkLeases),
    make("a commit with the fence of a lost lease stores nothing", checkFence),
    make("a released lease fences off whoever kept its token", checkReleased),
    make("changes are announced after they can be read, each kind once for a group", checkChanges),
    make("a listener that throws, or has ended, disturbs nobody", checkListeners),
    make("the version of sessions moves with their changes", checkSessionVersion),
  ];
}

async function checkRandom({ store }: StoreSubject, worlds: number, seed = Math.floor(Math.random() * 2 ** 31)): Promise<void> {
  for (let n = 0; n < worlds; n++) {
    const choices = createChoices(seed + n);
    const world = `w${n}`;
    const commits = Array.from({ length: choices.number(commitsPerWorld) + 1 }, () =>
      Array.from({ length: choices.number(4) }, () => anyOp(choices, world)),
    );
    const model = new StoreModel();
    const expected = commits.map((ops) => expectedOf(model.commit(structuredClone(ops))));
    // Begun together: they are carried out in call order.
    const found = await Promise.all(commits.map((ops) => outcomeOf(store.commit(ops))));
    const where = `world ${n} of seed ${seed}`;
    for (const [at, outcome] of found.entries()) {
      assert.deepEqual(outcome, expected[at], `${where}, commit ${at}: ${JSON.stringify(commits[at])}`);
    }
    await expectSameRows(store, model, { world, where });
  }
}

async function expectSameRows(store: Store, model: StoreModel, { world, where }: { world: string; where: string }): Promise<void> {
  for (const letter of letters) {
    const [key, transcript, run] = [`${world}/k${letter}`, `${world}/t${letter}`, `${world}/r${letter}`];
    assert.deepEqual(await store.sessions.get(key), model.sessions.get(key), where);
    const ids = model.messages.get(transcript) ?? [];
    assert.deepEqual(
      (await store.messages.page(transcript, { limit: 1_000 })).map(({ id, seq }) => `${seq} ${id}`),
      ids.map((id, at) => `${at + 1} ${id}`),
      where,
    );
    assert.equal(await store.messages.count(transcript), ids.length, where);
    assert.deepEqual(
      (await store.systemEvents.pending(key, 1_000)).map(({ text }) => text),
      model.events.get(key) ?? [],
      where,
    );
    assert.deepEqual(await store.runs.get(run), model.runs.get(run), where);
    assert.deepEqual(await store.idempotency.get("f", `${world}${letter}`), model.values.get(`idempotency f ${world}${letter}`), where);
    assert.deepEqual(await store.kv.get(world, `k${letter}`), model.values.get(`kv ${world} k${letter}`), where);
    await expectSameDelivery(store, model.delivery(`${world}/d${letter}`), { uid: `${world}/d${letter}`, where });
  }
  const newest = [...model.sessions.values()].sort((a, b) => b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1));
  assert.deepEqual(
    (await store.sessions.list({ limit: 100, search: `${world}/` })).rows.map(({ key }) => key),
    newest.map(({ key }) => key),
    where,
  );
  await expectSameQueue(store, model, { world, where });
}

async function expectSameDelivery(
  store: Store,
  expected: ModelDelivery | undefined,
  { uid, where }: { uid: string; where: string },
): Promise<void> {
  const row = await store.deliveries.get(uid);
  const { id: _, ...found } = row ?? { id: 0 };
  // An optional field that the model has cleared is absent in a row.
  assert.deepEqual(found, JSON.parse(JSON.stringify(expected ?? {})), where);
}

async function expectSameQueue(store: Store, model: StoreModel, { world, where }: { world: string; where: string }): Promise<void> {
  const dirs = ["hook-agent", "out"] as const;
  const uidsOf = (rows: ReadonlyArray<{ uid: string }>) => rows.map(({ uid }) => uid).filter((uid) => uid.startsWith(`${world}/`));
  const unfinished = model.deliveries.filter(({ state }) => !["done", "failed", "expired"].includes(state));
  const isHead = (row: ModelDelivery) => unfinished.find(({ lane }) => lane === row.lane) === row;
  for (const now of [2, 1_000]) {
    const due = unfinished.filter((row) => ["accepted", "uncertain"].includes(row.state) && (row.notBefore ?? 0) <= now && isHead(row));
    assert.deepEqual(uidsOf(await store.deliveries.due({ dirs, now, limit: 1_000 })), uidsOf(due), where);
    const overdue = unfinished.filter(({ expiresAt }) => expiresAt <= now);
    assert.deepEqual(uidsOf(await store.deliveries.overdue({ dirs, now, limit: 1_000 })), uidsOf(overdue), where);
  }
  const failed = model.deliveries.filter(({ state }) => state === "failed").reverse();
  assert.deepEqual(uidsOf(await store.deliveries.list({ states: ["failed"], limit: 1_000 })), uidsOf(failed), where);
}

function operationsOn(uid: string): StoreOp[] {
  const at = 9;
  const owners = [{}, ...["b1", "b2"].flatMap((leaseBoot) => [1, 2].map((attempt) => ({ owner: { leaseBoot, attempt } })))];
  return [
    { op: "delivery.accept", delivery: sampleDelivery(uid), at },
    ...(["running", "sending"] as const).map((to): StoreOp => ({ op: "delivery.claim", uid, to, leaseBoot: "b2", at })),
    ...[0, 1].map((attempt): StoreOp => ({ op: "delivery.claim", uid, to: "running", leaseBoot: "b2", attempt, at })),
    ...["b1", "b2"].flatMap((leaseBoot) =>
      [1, 2].map((attempt): StoreOp => ({ op: "delivery.step", uid, leaseBoot, attempt, step: "run", value: { at }, at })),
    ),
    ...owners.flatMap((owner): StoreOp[] => [
      { op: "delivery.requeue", uid, from: deliveryStates, at, ...owner },
      { op: "delivery.finish", uid, from: deliveryStates, state: "failed", result: { at }, at, ...owner },
      { op: "delivery.finish", uid, from: ["accepted"], state: "done", result: { at }, at, ...owner },
      { op: "delivery.finish", uid, from: ["running", "sending"], state: "done", result: { at }, at, ...owner },
    ]),
  ];
}

async function checkDeliveryTable({ store }: StoreSubject): Promise<void> {
  for (const state of ["absent", ...deliveryStates] as const) {
    for (const [n] of operationsOn("").entries()) {
      const uid = `${state}/${n}`;
      const op = operationsOn(uid)[n] as StoreOp;
      const model = new StoreModel();
      model.commit(leadTo(state, uid));
      await store.commit(leadTo(state, uid));
      const where = `${state}: ${JSON.stringify(op)}`;
      assert.deepEqual(await outcomeOf(store.commit([op])), expectedOf(model.commit([op])), where);
      await expectSameDelivery(store, model.delivery(uid), { uid, where });
    }
  }
}

async function checkAtomic({ store }: StoreSubject): Promise<void> {
  const put = (key: string): StoreOp => ({ op: "kv.put", scope: "s", key, value: key });
  const [before, refused, after] = await Promise.all([
    outcomeOf(store.commit([put("a")])),
    outcomeOf(store.commit([put("b"), { ...put("a"), ifAbsent: true } as StoreOp])),
    outcomeOf(store.commit([put("c")])),
  ]);
  assert.deepEqual([before, refused, after], [[{}], "exists", [{}]]);
  assert.deepEqual(
    (await store.kv.list("s", "")).map(({ key }) => key),
    ["a", "c"],
  );
}

async function checkPromises({ store }: StoreSubject): Promise<void> {
  const { sessions, messages, transcripts, runs, idempotency, systemEvents, deliveries, kv } = store;
  const dirs = ["out"] as const;
  const reads: ReadonlyArray<() => unknown> = [
    () => sessions.get("k"),
    () => sessions.bySessionId("t"),
    () => sessions.list({ limit: 1 }),
    () => messages.page("t", { limit: 1 }),
    () => messages.scan("t", 0, 1),
    () => messages.count("t"),
    () => transcripts.page({ limit: 1 }),
    () => transcripts.usedBytes(),
    () => runs.get("r"),
    () => runs.unfinished(),
    () => idempotency.get("f", "k"),
    () => systemEvents.pending("k", 1),
    () => systemEvents.waking(),
    () => deliveries.get("d"),
    () => deliveries.byKey({ idemScope: "s", idemKey: "k", fingerprint: "f" }),
    () => deliveries.due({ dirs, now: 1, limit: 1 }),
    () => deliveries.nextAt(dirs),
    () => deliveries.abandoned({ dirs, limit: 1 }),
    () => deliveries.overdue({ dirs, now: 1, limit: 1 }),
    () => deliveries.list({ limit: 1 }),
    () => deliveries.counts(),
    () => kv.get("s", "k"),
    () => kv.read("s", "k"),
    () => kv.list("s", ""),
  ];
  for (const read of reads) {
    const answer = read();
    assert.ok(answer instanceof Promise, `${read.toString()} returned no promise`);
    await answer;
  }
}
