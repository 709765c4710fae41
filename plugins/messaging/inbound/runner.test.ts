import { randomUUID } from "node:crypto";
import type { Agents, RunRequest, Store } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { createTestGateway, eventually, type FakeClock, fakeClock, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { InboundDeps } from "./inbound-deps.ts";
import { InboundRunner, laneOf } from "./runner.ts";
import { encodeInbound } from "./stored.ts";

/** The runner on a real store, with agents that take messages and do not end, or end at once without a word. */

let gw: TestGateway;
let store: Store;
let clock: FakeClock;
let asked: string[];
/** Sessions that were asked in the name of an owner. */
let ofOwners: string[];
let errors: string[];
let done: () => Promise<unknown>;
let runner: InboundRunner;

beforeAll(async () => {
  gw = await createTestGateway({ plugins: ["store"] });
  store = gw.service("store@2");
});
afterAll(() => gw.close());
beforeEach(() => {
  clock = fakeClock();
  [asked, ofOwners, errors] = [[], [], []];
  done = async () => ({ status: "error", code: "ABORTED" });
  return async () => {
    await runner.stop();
    for (const { uid, state } of await store.deliveries.list({ dirs: ["in"], states: ["accepted", "running"], limit: 1_000 }))
      await store.commit([{ op: "delivery.finish", uid, from: [state], state: "failed", result: {}, at: clock.now() }]);
  };
});

const config = parseSharedConfig({});
const nothing = () => undefined;
const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: note, child: () => logger };

function note(message: string): void {
  errors.push(message);
}

function start(changes: Partial<InboundDeps> = {}): InboundRunner {
  const lease = `boot/${randomUUID()}`;
  const agents = {
    async run({ sessionKey, isOwner }: RunRequest & { sessionKey: string }) {
      asked.push(sessionKey);
      if (isOwner) ofOwners.push(sessionKey);
      return { done: done() };
    },
  } as unknown as Agents;
  runner = new InboundRunner({
    ctx: { clock, timers: clock, logger, snapshot: () => config } as unknown as InboundDeps["ctx"],
    lease,
    acquire: () => gw.service("leases@1").acquire("deliveries:in", { owner: lease }),
    store: () => store,
    agents: () => agents,
    media: { read: async () => undefined, remove: async () => undefined, takeOver: async () => undefined, expire: nothing },
    isOwner: () => false,
    deliver: async () => ({ uid: "", route: { channel: "talk" } }),
    display: () => ({ ran: async () => undefined, settle: async () => undefined, close: async () => undefined }),
    ...changes,
  });
  return runner;
}

async function add(sessionKey: string, more: { room?: { id: string } } = {}): Promise<string> {
  const uid = randomUUID();
  const route = { channel: "talk", to: "@ada", accountId: "default" };
  const place = { channel: "talk", accountId: "default", label: "Talk", agentId: "main", sessionKey, setsRoute: false };
  const payload = encodeInbound({ ...place, route, sender: { id: "@ada" }, text: "hi", attachments: [], files: [], history: [], ...more });
  const at = clock.now();
  const delivery = { uid, dir: "in" as const, lane: laneOf(sessionKey, uid), payload, expiresAt: at + 3_600_000 };
  await store.commit([{ op: "delivery.accept", delivery, at }]);
  return uid;
}

test("a begin that failed for good may be made again, and then messages are answered", async () => {
  let isBroken = true;
  await add("agent:main:begin");
  const lease = `boot/${randomUUID()}`;
  start({
    lease,
    acquire: async () => {
      if (isBroken) throw new Error("broken");
      return gw.service("leases@1").acquire("deliveries:in", { owner: lease });
    },
  });
  await expect(runner.begin()).rejects.toThrow("broken");
  expect(asked).toEqual([]);
  isBroken = false;
  await runner.begin();
  await eventually(() => asked.length === 1);
});

test("a message that cannot be claimed is logged and tried again a second later, not at once", async () => {
  let claims = 0;
  const commit: Store["commit"] = async (ops) => {
    if (!ops.some(({ op }) => op === "delivery.claim")) return store.commit(ops);
    claims += 1;
    throw new Error("no claim today");
  };
  await add("agent:main:claim");
  await start({ store: () => ({ ...store, commit }) }).begin();
  await eventually(() => errors.length > 0);
  // Rounds of reading that would follow at once have had their time.
  for (let n = 0; n < 20; n++) await store.deliveries.list({ dirs: ["in"], limit: 1 });
  expect([claims, errors.length]).toEqual([1, 1]);
  await eventually(async () => {
    await clock.advance(1_000);
    return claims > 1;
  });
});

test("a message that cannot be claimed keeps only its own session waiting", async () => {
  const commit: Store["commit"] = async (ops) => {
    if (ops.some((op) => op.op === "delivery.claim" && op.uid === stuck)) throw new Error("not this one");
    return store.commit(ops);
  };
  const stuck = await add("agent:main:stuck");
  await start({ store: () => ({ ...store, commit }) }).begin();
  await eventually(() => errors.length > 0);
  await add("agent:main:free");
  await add("agent:main:stuck");
  runner.nudge();
  await eventually(() => asked.length > 0);
  expect(asked).toEqual(["agent:main:free"]);
});

test("sessions with many messages leave a place to one with a single message", async () => {
  done = () => new Promise(nothing);
  for (const name of ["a", "b", "c"]) for (let n = 0; n < 24; n++) await add(`agent:main:${name}`);
  await add("agent:main:d");
  await start().begin();
  await eventually(() => asked.includes("agent:main:d"));
});

test("the message of an owner is one in a direct conversation only", async () => {
  await add("agent:main:talk:direct:@ada");
  await add("agent:main:talk:group:team", { room: { id: "team" } });
  await start({ isOwner: ({ channel, id }) => channel === "talk" && id === "@ada" }).begin();
  await eventually(() => asked.length === 2);
  expect(ofOwners).toEqual(["agent:main:talk:direct:@ada"]);
});
