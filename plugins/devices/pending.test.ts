import { describe, expect, test } from "vitest";
import { createPendingDevices, MAX_PENDING_DEVICES, PENDING_TTL_MS } from "./pending.ts";
import type { PendingDevice } from "./record.ts";

function setup() {
  const time = { now: 0 };
  const events: string[] = [];
  let ids = 0;
  const pending = createPendingDevices({
    monotonic: () => time.now,
    randomId: () => `r${++ids}`,
    requested: ({ deviceId, requestId }) => events.push(`requested ${deviceId} ${requestId}`),
    resolved: ({ deviceId, requestId }, decision) => events.push(`${decision} ${deviceId} ${requestId}`),
  });
  return { pending, time, events };
}

const request = (deviceId: string, change: Partial<PendingDevice> = {}): Omit<PendingDevice, "requestId"> => ({
  ...{ deviceId, publicKey: `key of ${deviceId}`, clientId: "cli", clientMode: "cli", role: "operator", roles: ["operator"] },
  ...{ scopes: ["operator.read"], silent: false, isRepair: false, ts: 1 },
  ...change,
});

describe("a request", () => {
  test("waits 300 s and then expires", () => {
    const { pending, time, events } = setup();
    pending.ask(request("a"));
    time.now = PENDING_TTL_MS - 1;
    expect(pending.list()).toHaveLength(1);
    time.now += 1;
    expect(pending.list()).toEqual([]);
    expect(events).toEqual(["requested a r1", "expired a r1"]);
    expect(() => pending.get("r1")).toThrow(expect.objectContaining({ code: "unknown-request", message: "unknown requestId" }));
  });

  test("is renewed by the same device asking for the same, under the same id", () => {
    const { pending, time, events } = setup();
    pending.ask(request("a"));
    time.now = 200_000;
    pending.ask(request("a", { ts: 2 }));
    time.now = 400_000;
    expect(pending.list()).toEqual([expect.objectContaining({ requestId: "r1", ts: 2 })]);
    expect(events).toEqual(["requested a r1", "requested a r1"]);
  });

  test.each<[string, Partial<PendingDevice>]>([
    ["more scopes", { scopes: ["operator.admin"] }],
    ["another role", { role: "node", roles: ["node"] }],
    ["another platform", { platform: "windows" }],
    ["another family", { deviceFamily: "phone" }],
  ])("of the same device for %s takes its place under a new id, so that nobody approves what was not shown", (_, change) => {
    const { pending, events } = setup();
    pending.ask(request("a"));
    expect(pending.ask(request("a", change)).requestId).toBe("r2");
    expect(pending.list()).toHaveLength(1);
    expect(() => pending.take("r1")).toThrow(expect.objectContaining({ code: "unknown-request" }));
    expect(events).toEqual(["requested a r1", "expired a r1", "requested a r2"]);
  });

  test("that is being decided about is nobody else's; put back it waits on", () => {
    const { pending, events } = setup();
    pending.ask(request("a"));
    const taken = pending.take("r1");
    expect(() => pending.take("r1")).toThrow(expect.objectContaining({ code: "unknown-request" }));
    taken.restore();
    pending.take("r1").settle("rejected");
    expect(pending.list()).toEqual([]);
    expect(events).toEqual(["requested a r1", "rejected a r1"]);
  });
});

test("a request that is put back after its device has asked for something else has expired", () => {
  const { pending, events } = setup();
  pending.ask(request("a"));
  const taken = pending.take("r1");
  pending.ask(request("a", { scopes: ["operator.admin"] }));
  taken.restore();
  expect(pending.list()).toEqual([expect.objectContaining({ requestId: "r2" })]);
  expect(events).toEqual(["requested a r1", "requested a r2", "expired a r1"]);
});

test("of more than 256 the one that waits longest goes", () => {
  const { pending, events } = setup();
  for (let i = 0; i <= MAX_PENDING_DEVICES; i++) pending.ask(request(`d${i}`));
  expect(pending.list()).toHaveLength(256);
  expect(events.filter((e) => e.startsWith("expired"))).toEqual(["expired d0 r1"]);
});

test("what a device waits for can be dropped", () => {
  const { pending, events } = setup();
  pending.ask(request("a"));
  pending.forget("a");
  pending.forget("b");
  expect(events).toEqual(["requested a r1", "rejected a r1"]);
});

test("what nobody can answer any more has expired", () => {
  const { pending, events } = setup();
  pending.ask(request("a"));
  pending.ask(request("b"));
  pending.clear();
  expect(pending.list()).toEqual([]);
  expect(events.slice(2)).toEqual(["expired a r1", "expired b r2"]);
});
