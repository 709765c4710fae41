import { randomUUID } from "node:crypto";
import { type DeliveryRow, type DeliveryState, NotDispatchedError, SendRefusedError, type Store } from "svc/sdk";
import { deliveryOwner } from "svc/sdk/internal";
import { createTestGateway, eventually, type FakeClock, fakeClock, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { holdNext } from "../../../test/fixtures/held-read.ts";
import type { Carrier, Failure, QueueKit } from "./kit.ts";
import { laneOf, type Outgoing, toStored } from "./message.ts";
import { Queue } from "./queue.ts";

/** The queue on a real store, with a channel that does as it is told. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let gw: TestGateway;
let store: Store;
let clock: FakeClock;
let sends: string[];
let notes: string[];
let failures: Array<Failure & { uid: string }>;
/** Answers of the channel to the next messages, in order; it accepts all after them. */
let script: Array<() => Promise<{ messageId: string }>>;
let carrier: Carrier | undefined;
let boot: number;
/** Recipients whose account is stopped. */
let away: Set<string>;
const queues = new Set<Queue>();

beforeAll(async () => {
  gw = await createTestGateway({ plugins: ["store"] });
  store = gw.service("store@2");
});
afterAll(() => gw.close());
beforeEach(() => {
  clock = fakeClock();
  [sends, notes, failures, script, boot, away] = [[], [], [], [], 0, new Set()];
  carrier = channel(false);
  return async () => {
    await Promise.all([...queues].map((queue) => queue.stop()));
    queues.clear();
    const left = await store.deliveries.list({ states: ["accepted", "sending", "uncertain"], limit: 1_000 });
    for (const row of left)
      await store.commit([
        { op: "delivery.finish", uid: row.uid, from: [row.state], ...deliveryOwner(row), state: "failed", result: {}, at: clock.now() },
      ]);
  };
});

function channel(isIdempotent: boolean): Carrier {
  return {
    isIdempotent,
    readiness: () => "ready",
    send: async ({ uid }) => {
      sends.push(uid);
      const act = script.shift();
      return act ? act() : { messageId: `id of ${uid}` };
    },
  };
}

const fails = (error: Error) => () => Promise.reject(error);
const unsure = fails(new Error("socket hang up"));

/** A queue of another boot each time. */
function start(changes: Partial<QueueKit> = {}): Queue {
  boot += 1;
  const lease = `boot-${boot}`;
  const kit: QueueKit = {
    store: () => store,
    clock,
    timers: clock,
    logger: silent,
    lease,
    acquire: () => gw.service("leases@1").acquire("deliveries:out", { owner: lease }),
    carrierOf: async () => carrier,
    canSend: ({ to }) => !away.has(String(to)),
    leaveNote: async ({ uid }, { text }) => void notes.push(`${uid}: ${text}`),
    sent: () => undefined,
    failed: ({ uid }, failure) => void failures.push({ ...failure, uid }),
    hold: () => ({ dispose: () => undefined }),
    random: () => 0.5,
    ...changes,
  };
  const queue = new Queue(kit);
  queues.add(queue);
  return queue;
}

const nothing = () => undefined;
const silent: QueueKit["logger"] = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent };

async function add(
  uid: string,
  { to = uid, origin = "chat" as Outgoing["origin"], payload = undefined as object | undefined, at = clock.now() } = {},
): Promise<string> {
  const route = { channel: "fake", accountId: "default", to };
  const stored = toStored({ route, text: `text of ${uid}`, origin, sessionKey: "agent:main:main", agentId: "main" });
  await store.commit([
    {
      op: "delivery.accept",
      delivery: {
        uid,
        dir: "out",
        lane: laneOf(route, ""),
        payload: { ...(payload ?? stored) },
        expiresAt: at + (origin === "chat" ? 1 : 24) * HOUR_MS,
      },
      at,
    },
  ]);
  return uid;
}

const id = () => randomUUID();
const row = (uid: string) => store.deliveries.get(uid) as Promise<DeliveryRow>;
const becomes = (uid: string, state: DeliveryState) => eventually(async () => expect(await row(uid)).toMatchObject({ state }) ?? true);

async function opened(changes?: Partial<QueueKit>): Promise<Queue> {
  const queue = start(changes);
  await queue.recover();
  queue.open();
  return queue;
}

describe("a message", () => {
  test("is sent, and its text is dropped with the platform's id in its place", async () => {
    const uid = await add(id());
    await opened();

    await becomes(uid, "done");
    expect(await row(uid)).toMatchObject({ attempt: 1, result: { status: "sent", messageId: `id of ${uid}` } });
    expect((await row(uid)).payload).toBeUndefined();
    expect(sends).toEqual([uid]);
  });

  test("waits for the one before it to the same recipient, and for no other", async () => {
    script = [fails(new NotDispatchedError("no link"))];
    const [first, second, other] = [await add(id(), { to: "a" }), await add(id(), { to: "a" }), await add(id(), { to: "b" })];
    await opened();

    await becomes(other, "done");
    await eventually(async () => expect(await row(first)).toMatchObject({ state: "accepted", attempt: 1 }) ?? true);
    expect(await row(second)).toMatchObject({ state: "accepted", attempt: 0 });
    await clock.advance(600);
    await becomes(second, "done");
    expect(sends).toEqual([first, other, first, second]);
  });

  test("stays in its place while its account is stopped, hides nothing behind it, and goes when the account is back", async () => {
    const waiting = await Promise.all(Array.from({ length: 20 }, (_, n) => add(id(), { to: `away-${n}` })));
    away = new Set(waiting.map((_, n) => `away-${n}`));
    const other = await add(id(), { to: "here" });
    const queue = await opened();

    await becomes(other, "done");
    expect(sends).toEqual([other]);
    expect(await row(waiting[0] as string)).toMatchObject({ state: "accepted", attempt: 0 });
    away.clear();
    queue.nudge();
    for (const uid of waiting) await becomes(uid, "done");
  });

  test("is on its way with at most seven others", async () => {
    const gates: Array<() => void> = [];
    script = Array.from({ length: 12 }, () => () => new Promise((resolve) => gates.push(() => resolve({ messageId: "m" }))));
    const uids = await Promise.all(Array.from({ length: 12 }, () => add(id())));
    await opened();

    await eventually(() => expect(gates.length).toBe(8) ?? true);
    const states = async () => (await Promise.all(uids.map(row))).map(({ state }) => state);
    expect((await states()).filter((state) => state === "sending")).toHaveLength(8);
    while ((await states()).some((state) => state !== "done")) {
      for (const go of gates.splice(0)) go();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sends.toSorted()).toEqual(uids.toSorted());
  });
});

describe("a channel that", () => {
  test("refuses for ever ends the message, with a note", async () => {
    script = [fails(new SendRefusedError("blocked by the user", { isPermanent: true }))];
    const uid = await add(id());
    await opened();

    await becomes(uid, "failed");
    expect(await row(uid)).toMatchObject({ attempt: 1, result: { status: "failed", reason: "blocked by the user" } });
    // The agent reads it as its own: the platform's words stay in the row.
    expect(notes).toEqual([`${uid}: Message to fake (${uid}) not delivered: the channel refused it`]);
    // The hook runs after the failure is stored.
    await eventually(() => failures.length > 0);
    expect(failures).toEqual([{ uid, error: "blocked by the user", attempt: 1, permanent: true, outcome: "failed" }]);
  });

  test("is busy gets it again when it asked for it", async () => {
    script = [fails(new SendRefusedError("slow down", { isPermanent: false, retryAfterMs: 20_000 }))];
    const uid = await add(id());
    await opened();

    await eventually(async () => expect((await row(uid)).notBefore).toBe(clock.now() + 20_000) ?? true);
    expect(await row(uid)).toMatchObject({ state: "accepted", attempt: 1 });
    await clock.advance(19_000);
    expect(sends).toHaveLength(1);
    await clock.advance(1_250);
    await becomes(uid, "done");
    await eventually(() => failures.length > 0);
    expect(failures).toEqual([{ uid, error: "slow down", attempt: 1, permanent: false, outcome: "retry" }]);
  });

  test("never gets it gets twelve tries", async () => {
    script = Array.from({ length: 20 }, () => fails(new NotDispatchedError("no link")));
    const uid = await add(id(), { origin: "hook" });
    await opened();

    await eventually(async () => {
      await clock.advance(200_000);
      expect((await row(uid)).state).toBe("failed");
      return true;
    });
    expect(sends).toHaveLength(12);
    expect((await row(uid)).result).toMatchObject({ reason: "gave up after 12 tries: no link" });
  });

  test("does not say whether it has it is asked once more, and then the message ends with a note", async () => {
    script = [unsure, unsure];
    const uid = await add(id());
    await opened();

    await becomes(uid, "uncertain");
    await clock.advance(1_000);
    await becomes(uid, "failed");
    expect(sends).toHaveLength(2);
    expect(failures.map(({ outcome }) => outcome)).toEqual(["uncertain", "failed"]);
    expect(notes).toHaveLength(1);
  });

  test("knows a repeat is asked until it says yes", async () => {
    carrier = channel(true);
    script = Array.from({ length: 5 }, () => unsure);
    const uid = await add(id(), { origin: "hook" });
    await opened();

    await eventually(async () => {
      await clock.advance(60_000);
      expect((await row(uid)).state).toBe("done");
      return true;
    });
    expect(sends).toEqual(Array(6).fill(uid));
  });

  test("is not there any more ends its messages alone", async () => {
    carrier = undefined;
    const uid = await add(id());
    await opened();

    await becomes(uid, "failed");
    expect((await row(uid)).result).toMatchObject({ reason: 'there is no channel "fake"; its plugin is off or was removed' });
  });
});

describe("the queue", () => {
  test("sets a message aside that cannot be read, and goes on with the next of its lane", async () => {
    const poisoned = await add(id(), { to: "same", payload: { v: 7 } });
    const sound = await add(id(), { to: "same" });
    await opened();

    await becomes(sound, "done");
    expect(await row(poisoned)).toMatchObject({ state: "failed", result: { reason: "unreadable" } });
  });

  test("ends what waited too long, with a note, and never sends it", async () => {
    const chat = await add(id());
    const hook = await add(id(), { origin: "hook" });
    await clock.advance(HOUR_MS);
    await opened();

    await becomes(hook, "done");
    await becomes(chat, "expired");
    expect(sends).toEqual([hook]);
    expect(notes).toEqual([`${chat}: Message to fake (${chat}) not delivered: it waited too long: it had no turn`]);
  });

  test("does not believe a clock that went forward by more than a day in one step: what is late by it waits for a minute", async () => {
    const uid = await add(id());
    let offset = 0;
    const jumping = { ...clock, now: () => clock.now() + offset, monotonic: clock.monotonic };
    script = [fails(new SendRefusedError("slow down", { isPermanent: false, retryAfterMs: 1_800_000 }))];
    const queue = await opened({ clock: jumping });
    await eventually(async () => expect(await row(uid)).toMatchObject({ state: "accepted", attempt: 1 }) ?? true);

    offset = 2 * DAY_MS;
    const fresh = await add(id(), { at: jumping.now() });
    queue.nudge();
    await becomes(fresh, "done");
    expect(await row(uid)).toMatchObject({ state: "accepted", attempt: 1 });

    offset = 0;
    await clock.advance(1_800_000);
    await becomes(uid, "done");
  });

  test("doubts a clock at its start that is more than a day past the newest message, and believes it after a minute", async () => {
    const uid = await add(id());
    clock = fakeClock(clock.now() + 2 * DAY_MS);
    const queue = await opened();
    const fresh = await add(id());
    queue.nudge();
    await becomes(fresh, "done");
    expect(await row(uid)).toMatchObject({ state: "accepted", attempt: 0 });

    await clock.advance(60_000);
    queue.nudge();
    await becomes(uid, "expired");
    expect(sends).toEqual([fresh]);
  });

  test("takes over what another boot was sending: it is uncertain, and is sent once more", async () => {
    const uid = await add(id());
    await store.commit([{ op: "delivery.claim", uid, to: "sending", leaseBoot: "earlier", at: clock.now() }]);
    const queue = start();
    await queue.recover();
    expect(await row(uid)).toMatchObject({ state: "uncertain", result: { unknown: 1 } });

    queue.open();
    await becomes(uid, "done");
    expect(sends).toEqual([uid]);
  });

  test("does not send a third time what two boots have left in the middle, unless the platform knows a repeat", async () => {
    const uid = await add(id());
    for (const lease of ["one", "two"]) {
      await store.commit([{ op: "delivery.claim", uid, to: "sending", leaseBoot: lease, at: clock.now() }]);
      await start().recover();
    }
    (await opened()).nudge();
    await becomes(uid, "failed");
    expect(sends).toEqual([]);

    carrier = channel(true);
    const known = await add(id());
    for (const lease of ["one", "two"]) {
      await store.commit([{ op: "delivery.claim", uid: known, to: "sending", leaseBoot: lease, at: clock.now() }]);
      await start().recover();
    }
    (await opened()).nudge();
    await becomes(known, "done");
  });

  test("gives calls under way two seconds at a stop; what is cut off is uncertain, what waits stays", async () => {
    script = [() => new Promise(() => undefined)];
    const [stuck, waiting] = [await add(id(), { to: "x" }), await add(id(), { to: "x" })];
    const queue = await opened();
    await becomes(stuck, "sending");

    await queue.stop();

    expect(await row(stuck)).toMatchObject({ state: "uncertain", result: { reason: "the gateway stopped during the call", unknown: 1 } });
    expect(await row(waiting)).toMatchObject({ state: "accepted", attempt: 0 });
  });

  test("does not forget that a message was sent while the storage is away", async () => {
    let down = 0;
    const away: Store = {
      ...store,
      commit: (ops, options) =>
        down > 0 && ops[0]?.op === "delivery.finish" ? Promise.reject(full(() => down--)) : store.commit(ops, options),
    };
    down = 3;
    const uid = await add(id());
    await opened({ store: () => away });

    await eventually(async () => {
      await clock.advance(1_000);
      expect((await row(uid)).state).toBe("done");
      return true;
    });
    expect(sends).toEqual([uid]);
  });

  test("pauses when nothing can be claimed, and comes back by itself", async () => {
    let down = true;
    const away: Store = { ...store, commit: (ops, options) => (down ? Promise.reject(full(nothing)) : store.commit(ops, options)) };
    const uid = await add(id());
    const queue = await opened({ store: () => away });
    await eventually(() => expect(queue.problem()).toContain("the disk is full") ?? true);

    down = false;
    await clock.advance(5_250);
    await becomes(uid, "done");
    await eventually(() => queue.problem() === undefined);
  });
});

describe("while rows are read", () => {
  test("a stop lets nothing begin", async () => {
    const queue = await opened();
    await queue.settled();
    const due = holdNext(store, "deliveries.due");
    const uid = await add(id());
    queue.nudge();
    await due.asked;

    await queue.stop();
    due.release();

    await expect(queue.settled()).resolves.toBeUndefined();
    expect(await row(uid)).toMatchObject({ state: "accepted", attempt: 0 });
  });

  test("a stop is the last word, also when they cannot be read", async () => {
    let isAsked = false;
    let refuse: (error: Error) => void = nothing;
    const due: Store["deliveries"]["due"] = (query) => {
      if (!isAsked) return store.deliveries.due(query);
      return new Promise((_, reject) => {
        refuse = reject;
      });
    };
    const queue = await opened({ store: () => ({ ...store, deliveries: { ...store.deliveries, due } }) });
    await queue.settled();
    isAsked = true;
    queue.nudge();
    await eventually(() => refuse !== nothing);
    await queue.stop();
    const timers = clock.waiting.length;

    refuse(full(nothing));
    await queue.settled();

    expect([clock.waiting.length, queue.problem()]).toEqual([timers, undefined]);
  });

  test("a message that is accepted then is sent without another nudge, and each once", async () => {
    const queue = await opened();
    await queue.settled();
    const due = holdNext(store, "deliveries.due");
    const first = await add(id());
    queue.nudge();
    await due.asked;
    const second = await add(id());
    queue.nudge();
    queue.nudge();

    due.release();

    await becomes(first, "done");
    await becomes(second, "done");
    expect(sends.toSorted()).toEqual([first, second].toSorted());
  });

  test("a message that was tried by then is not tried before its time", async () => {
    const queue = await opened();
    await queue.settled();
    const again = await add(id());
    const due = holdNext(store, "deliveries.due");
    queue.nudge();
    await due.asked;
    // Another instance tries it, fails, and puts it back.
    await store.commit([{ op: "delivery.claim", uid: again, to: "sending", leaseBoot: "other", at: clock.now() }]);
    const owner = { leaseBoot: "other", attempt: 1 };
    await store.commit([
      { op: "delivery.requeue", uid: again, from: ["sending"], owner, notBefore: clock.now() + HOUR_MS, at: clock.now() },
    ]);

    const before = sends.length;
    due.release();
    await queue.settled();

    expect(sends).toHaveLength(before);
    expect(await row(again)).toMatchObject({ state: "accepted", attempt: 1 });
  });
});

test("an end that comes after another instance has taken the message over is not written", async () => {
  let answer: (receipt: { messageId: string }) => void = nothing;
  script = [() => new Promise((resolve) => (answer = resolve))];
  const uid = await add(id());
  const queue = await opened();
  await becomes(uid, "sending");
  const owner = { leaseBoot: (await row(uid)).leaseBoot ?? "", attempt: 1 };
  await store.commit([
    { op: "delivery.requeue", uid, from: ["sending"], owner, to: "uncertain", at: clock.now() },
    { op: "delivery.claim", uid, to: "sending", leaseBoot: "other", at: clock.now() },
  ]);

  answer({ messageId: "late" });
  await queue.settled();

  expect(await row(uid)).toMatchObject({ state: "sending", leaseBoot: "other", attempt: 2 });
});

function full(count: () => void): Error {
  count();
  return Object.assign(new Error("state store: the disk is full"), {
    name: "SvcError",
    code: "storage-unavailable",
    fields: { reason: "full" },
  });
}
