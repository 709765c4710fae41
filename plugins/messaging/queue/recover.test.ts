import { randomUUID } from "node:crypto";
import { type DeliveryRow, type Lease, SendRefusedError, type Store, type StoreOp, SvcError } from "svc/sdk";
import { deliveryOwner } from "svc/sdk/internal";
import { createTestGateway, eventually, type FakeClock, fakeClock, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { holdNext } from "../../../test/fixtures/held-read.ts";
import type { QueueKit } from "./kit.ts";
import { laneOf, toStored } from "./message.ts";
import { Queue } from "./queue.ts";

/** Messages that somebody else changes meanwhile, and those that are claimed while the storage, the role or the writer of the queue goes away. */

let gw: TestGateway;
let store: Store;
let clock: FakeClock;
let sends: string[];
let warnings: string[];
/** Notes and events by which somebody hears that a message failed. */
let heard: string[];
/** Answers of the channel to what it is sent. */
let answer: () => Promise<{ messageId: string }>;

beforeAll(async () => {
  gw = await createTestGateway({ plugins: ["store"] });
  store = gw.service("store@2");
});
afterAll(() => gw.close());
beforeEach(() => {
  clock = fakeClock();
  [sends, warnings, heard] = [[], [], []];
  answer = async () => ({ messageId: "m" });
});

const acquire = (owner: string): Promise<Lease> => gw.service("leases@1").acquire("deliveries:out", { owner });
const row = (uid: string) => store.deliveries.get(uid);
const becomes = (uid: string, state: string) => eventually(async () => expect(await row(uid)).toMatchObject({ state }) ?? true);

/** A queue on the real store, with some of its functions in the way of a fault. */
function queueOn({
  commit = store.commit,
  deliveries = {},
}: {
  commit?: Store["commit"];
  deliveries?: Partial<Store["deliveries"]>;
}): Queue {
  const faulty: Store = { ...store, commit, deliveries: { ...store.deliveries, ...deliveries } };
  const nothing = () => undefined;
  const warn = (message: string) => void warnings.push(message);
  const logger: QueueKit["logger"] = { trace: nothing, debug: nothing, info: nothing, warn, error: nothing, child: () => logger };
  const kit: QueueKit = {
    store: () => faulty,
    clock,
    timers: clock,
    logger,
    lease: "own",
    acquire: () => acquire("own"),
    canSend: () => true,
    carrierOf: async () => ({
      isIdempotent: false,
      readiness: () => "ready",
      send: ({ uid }) => {
        sends.push(uid);
        return answer();
      },
    }),
    leaveNote: async (_, { text }) => void heard.push(text),
    sent: nothing,
    failed: (_, { error }) => void heard.push(error),
    hold: () => ({ dispose: nothing }),
    random: () => 0.5,
  };
  const queue = new Queue(kit);
  onTestFinished(async () => {
    await queue.stop();
    for (const left of await store.deliveries.list({ states: ["accepted", "sending", "uncertain"], limit: 1_000 }))
      await store.commit([
        { op: "delivery.finish", uid: left.uid, from: [left.state], ...deliveryOwner(left), state: "failed", result: {}, at: clock.now() },
      ]);
  });
  return queue;
}

/** A message that waits. */
async function added(): Promise<string> {
  const uid = randomUUID();
  const route = { channel: "fake", accountId: "default", to: uid };
  const payload = { ...toStored({ route, text: "Hello.", origin: "chat", sessionKey: "agent:main:main", agentId: "main" }) };
  const delivery = { uid, dir: "out" as const, lane: laneOf(route, ""), payload, expiresAt: clock.now() + 3_600_000 };
  await store.commit([{ op: "delivery.accept", delivery, at: clock.now() }]);
  return uid;
}

/** A message that an earlier process was sending when it ended. */
async function leftBehind(): Promise<string> {
  const uid = await added();
  await store.commit([{ op: "delivery.claim", uid, to: "sending", leaseBoot: "earlier", at: clock.now() }]);
  return uid;
}

function refusal(code: string, reason: string): SvcError {
  return new SvcError(code, { message: "refused: {reason}", http: 503, rpc: "UNAVAILABLE" }, { reason });
}

test("a queue that lost its role while the storage was away takes it again, and does not take its own message for one left behind", async () => {
  let isAway = true;
  const abandoned: Store["deliveries"]["abandoned"] = (query) =>
    isAway ? Promise.reject(refusal("storage-unavailable", "io")) : store.deliveries.abandoned(query);
  let arrive: (receipt: { messageId: string }) => void = () => undefined;
  answer = () => new Promise((resolve) => (arrive = resolve));
  const queue = queueOn({ deliveries: { abandoned } });
  const uid = await added();
  let isRecovered = false;
  const recovering = queue.recover().then(() => {
    isRecovered = true;
  });
  await eventually(() => warnings.length > 0);
  queue.open();
  await becomes(uid, "sending");
  await (await acquire("nobody")).release();

  isAway = false;
  await eventually(async () => {
    await clock.advance(1_000);
    return isRecovered;
  });
  await recovering;

  expect(await row(uid)).toMatchObject({ state: "sending", attempt: 1 });
  arrive({ messageId: "m" });
  await becomes(uid, "done");
  expect(sends).toEqual([uid]);
});

test("a storage that is away at the start is reported once, however often it is tried again", async () => {
  let rounds = 0;
  const abandoned: Store["deliveries"]["abandoned"] = (query) => {
    rounds += 1;
    return rounds > 3 ? store.deliveries.abandoned(query) : Promise.reject(refusal("storage-busy", "full"));
  };
  const uid = await leftBehind();
  const recovering = queueOn({ deliveries: { abandoned } }).recover();
  await eventually(async () => {
    await clock.advance(1_000);
    return rounds > 3;
  });
  await recovering;

  expect(await row(uid)).toMatchObject({ state: "uncertain" });
  expect(warnings).toEqual([
    "messages of an earlier process cannot be taken over yet; trying again",
    "1 messages were being sent when the gateway stopped; whether they arrived is unknown",
  ]);
});

test("a queue that is stopped while it reads what was left behind writes nothing", async () => {
  const uid = await leftBehind();
  const held = holdNext(store, "deliveries.abandoned");
  const queue = queueOn({});
  const recovering = queue.recover();
  const ended = expect(recovering).rejects.toThrow("the gateway stops");
  await held.asked;
  await queue.stop();
  held.release();

  await ended;
  expect(await row(uid)).toMatchObject({ state: "sending", leaseBoot: "earlier" });
});

test("a queue that is stopped while the storage is away does not ask it again", async () => {
  let rounds = 0;
  const abandoned: Store["deliveries"]["abandoned"] = () => {
    rounds += 1;
    return Promise.reject(refusal("storage-busy", "full"));
  };
  const queue = queueOn({ deliveries: { abandoned } });
  const ended = expect(queue.recover()).rejects.toThrow("the gateway stops");
  await eventually(() => warnings.length > 0);
  await queue.stop();

  await clock.advance(1_000);
  await ended;
  expect(rounds).toBe(1);
});

test("a message that cannot be taken over is tried once, and the others are taken over", async () => {
  const [stuck, other] = [await leftBehind(), await leftBehind()];
  const refused: string[] = [];
  const commit: Store["commit"] = (ops, options) => {
    const [op] = ops as [StoreOp];
    if (!("uid" in op) || op.uid !== stuck) return store.commit(ops, options);
    refused.push(op.op);
    return Promise.reject(refusal("fenced", "damaged"));
  };
  await queueOn({ commit }).recover();

  expect(refused).toEqual(["delivery.requeue", "delivery.finish"]);
  expect([(await row(stuck))?.state, (await row(other))?.state]).toEqual(["sending", "uncertain"]);
});

test("a message whose claim was stored although the writer died before its answer is sent", async () => {
  let isDead = true;
  const commit: Store["commit"] = async (ops, options) => {
    const results = await store.commit(ops, options);
    if (!isDead || ops[0]?.op !== "delivery.claim") return results;
    isDead = false;
    throw refusal("storage-unavailable", "down");
  };
  const queue = queueOn({ commit });
  const uid = await added();
  await queue.recover();
  queue.open();

  await becomes(uid, "done");
  expect([sends, (await row(uid))?.attempt]).toEqual([[uid], 1]);
});

test("a message that another queue has put back during its call is neither ended nor said to have failed", async () => {
  const uid = await added();
  const notBefore = clock.now() + 60_000;
  answer = async () => {
    const owner = deliveryOwner((await row(uid)) as DeliveryRow);
    await store.commit([{ op: "delivery.requeue", uid, from: ["sending"], ...owner, notBefore, at: clock.now() }]);
    throw new SendRefusedError("blocked by the user", { isPermanent: true });
  };
  const queue = queueOn({});
  await queue.recover();
  queue.open();
  await eventually(() => sends.length > 0);
  await queue.settled();

  expect(await row(uid)).toMatchObject({ state: "accepted", attempt: 1, notBefore });
  expect(heard).toEqual([]);
});

test("a message that an operator gave more time while it was found to be late is sent", async () => {
  const uid = await added();
  await clock.advance(3_600_000);
  const late = holdNext(store, "deliveries.overdue");
  const queue = queueOn({});
  await queue.recover();
  queue.open();
  await late.asked;
  const [at, more] = [clock.now(), { to: "accepted", attempt: 0, expiresAt: clock.now() + 3_600_000 } as const];
  await store.commit([{ op: "delivery.requeue", uid, from: ["accepted"], ...more, at }]);
  late.release();

  await becomes(uid, "done");
  expect([sends, heard]).toEqual([[uid], []]);
});
