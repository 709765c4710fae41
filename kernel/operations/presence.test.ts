import { describe, expect, test } from "vitest";
import type { ConnectParams } from "../../sdk/protocol/frames.ts";
import type { ClientInfo } from "../../sdk/types/rpc.ts";
import { createPresence, type PresenceEntry } from "./presence.ts";
import { parseBeaconText } from "./presence-beacon.ts";

function setup() {
  const time = { now: 1_000 };
  const presence = createPresence({
    version: "1.2.3",
    bootId: "boot",
    now: () => time.now,
    monotonic: () => time.now,
    isLoopback: (address) => address.startsWith("127."),
  });
  const info = (connId: string, change: Partial<ClientInfo> = {}): ClientInfo => ({
    connId,
    clientId: "svc-control-ui",
    mode: "ui",
    role: "operator",
    scopes: ["operator.read"],
    caps: [],
    remote: "127.0.0.1",
    ...change,
  });
  const params = (client: Partial<ConnectParams["client"]> = {}): ConnectParams => ({
    minProtocol: 4,
    maxProtocol: 4,
    client: { id: "svc-control-ui", version: "0.3", platform: "linux", mode: "ui", ...client },
  });
  return { presence, time, info, params };
}

test("the gateway's own row is always there and always first", () => {
  const { presence, info, params, time } = setup();
  time.now = 2_000;
  presence.joined(info("a"), params());
  expect(presence.list()[0]).toMatchObject({ mode: "gateway", reason: "self", version: "1.2.3", instanceId: "boot", ts: 1_000 });
  expect(presence.list()[0]?.text).toMatch(/^Gateway: .* · app 1\.2\.3 · mode gateway · reason self$/);
});

test("a row says who connected, newest first, without the address of loopback peers", () => {
  const { presence, info, params, time } = setup();
  presence.joined(info("a"), params({ displayName: "desk", timeZone: "Europe/Berlin", instanceId: "i-1" }));
  time.now += 5;
  presence.joined(info("b", { remote: "192.0.2.7" }), params());
  expect(presence.list().slice(1)).toEqual([
    expect.objectContaining({ ip: "192.0.2.7", ts: 1_005 }),
    {
      host: "desk",
      version: "0.3",
      platform: "linux",
      timeZone: "Europe/Berlin",
      instanceId: "i-1",
      mode: "ui",
      clientId: "svc-control-ui",
      roles: ["operator"],
      scopes: ["operator.read"],
      reason: "connect",
      ts: 1_000,
    },
  ]);
});

test.each(["cli", "backend", "probe"])("callers of mode %s come and go without a row", (mode) => {
  const { presence, info, params } = setup();
  const before = presence.version();
  expect(presence.joined(info("a", { mode }), params())).toBe(false);
  expect(presence.left(info("a", { mode }))).toBe(false);
  expect([presence.list().length, presence.version()]).toEqual([1, before]);
});

test("the version counts each coming and going once", () => {
  const { presence, info, params } = setup();
  const before = presence.version();
  presence.joined(info("a"), params());
  expect(presence.left(info("a"))).toBe(true);
  expect(presence.left(info("a"))).toBe(false);
  expect([presence.list().length, presence.version()]).toEqual([1, before + 2]);
});

describe("rows", () => {
  test("of living connections are renewed, which is no change", () => {
    const { presence, info, params, time } = setup();
    presence.joined(info("a"), params());
    const before = presence.version();
    for (let i = 0; i < 20; i++) {
      time.now += 30_000;
      presence.tick();
    }
    expect(presence.list()[1]?.ts).toBe(601_000);
    expect(presence.version()).toBe(before);
  });

  test("of others go after five minutes without renewal, and that is told", () => {
    const { presence, time } = setup();
    let told = 0;
    presence.watch(() => (told += 1));
    presence.beacon({ text: "Node: shed" });
    time.now += 300_000;
    presence.tick();
    expect([presence.list().length, told]).toEqual([2, 1]);
    time.now += 1;
    presence.tick();
    expect([presence.list().length, told]).toEqual([1, 2]);
  });

  test("of nodes are one however often they come, stay for a while after the last has gone, and gather scopes", () => {
    const { presence, info, params, time } = setup();
    const node = (connId: string, scopes: ClientInfo["scopes"]) => info(connId, { role: "node", mode: "node", deviceId: "ABC", scopes });
    presence.joined(node("a", ["operator.read"]), params({ mode: "node" }));
    presence.joined(node("b", ["operator.write"]), params({ mode: "node", id: "node-host" }));
    const row = () => presence.list()[1];
    expect(presence.list()).toHaveLength(2);
    expect(row()).toMatchObject({ deviceId: "ABC", roles: ["node"], scopes: ["operator.read", "operator.write"], reason: "connect" });
    presence.left(node("a", []));
    expect(row()).toMatchObject({ reason: "connect" });
    time.now += 1_000;
    presence.left(node("b", []));
    expect(row()).toMatchObject({ reason: "disconnect", ts: 2_000 });
    time.now += 300_001;
    presence.tick();
    expect(presence.list()).toHaveLength(1);
  });

  test("of nodes without a device go by instance, then by connection", () => {
    const { presence, info, params } = setup();
    const node = (connId: string, more: Partial<ClientInfo>) => info(connId, { role: "node", mode: "node", ...more });
    presence.joined(node("a", { instanceId: "I-1" }), params());
    presence.joined(node("b", { instanceId: "i-1" }), params());
    presence.joined(node("c", {}), params());
    presence.joined(node("d", {}), params());
    expect(presence.list()).toHaveLength(4);
  });

  test("say what a client calls itself in one short line", () => {
    const { presence, info, params } = setup();
    const long = `desk\u001b[2J\n${"x".repeat(60_000)}`;
    presence.joined(info("a"), params({ displayName: long, platform: long, version: long, deviceFamily: long, modelIdentifier: long }));
    const { host, ...row } = presence.list()[1] as PresenceEntry;
    expect(host).toMatch(/^desk \[2J x+$/);
    expect(JSON.stringify(row).length).toBeLessThan(2_000);
  });

  test("do not grow with each beacon", () => {
    const { presence } = setup();
    for (let i = 0; i < 100; i++)
      presence.beacon({ text: `Node: ${"x".repeat(30_000)}`, deviceId: "d", roles: [`role-${i}`], scopes: [`s-${i}`] });
    const row = presence.list()[1];
    expect(row?.roles).toEqual(Array.from({ length: 32 }, (_, i) => `role-${i + 68}`));
    expect(JSON.stringify(row).length).toBeLessThan(4_000);
  });

  test("are at most 200: the oldest goes", () => {
    const { presence, info, params } = setup();
    for (let i = 0; i <= 200; i++) presence.joined(info(`c${i}`), params({ instanceId: `i${i}` }));
    const rows = presence.list().slice(1);
    expect(rows).toHaveLength(200);
    expect(rows.some((r) => r.instanceId === "i0")).toBe(false);
    expect(rows.some((r) => r.instanceId === "i200")).toBe(true);
  });

  test("are at most 200: what is connected outlives what is not", () => {
    const { presence, info, params, time } = setup();
    presence.joined(info("a"), params({ instanceId: "connected" }));
    time.now += 1;
    for (let i = 0; i < 199; i++) presence.beacon({ text: `beacon ${i}` });
    time.now += 1;
    presence.tick();
    presence.beacon({ text: "one more" });
    const rows = presence.list().slice(1);
    expect(rows).toHaveLength(200);
    expect(rows.some((r) => r.instanceId === "connected")).toBe(true);
    expect(rows.some((r) => r.text === "beacon 0")).toBe(false);
  });
});

describe("a beacon", () => {
  const text = "Node: Shed (192.0.2.9) · app 1.4 · last input 12s ago · mode kiosk · reason boot";

  test("is read from its text; fields that are named beside it win", () => {
    const { presence } = setup();
    presence.beacon({ text, mode: "wall", platform: "linux", tags: ["garden"] });
    expect(presence.list()[1]).toEqual({
      text,
      host: "Shed",
      ip: "192.0.2.9",
      version: "1.4",
      lastInputSeconds: 12,
      mode: "wall",
      reason: "boot",
      platform: "linux",
      tags: ["garden"],
      ts: 1_000,
    });
  });

  test("renews the row of its device, instance, host or address, whatever the case; else of its text", () => {
    const { presence } = setup();
    const rows = () => presence.list().length - 1;
    presence.beacon({ text: "a", deviceId: "D1", roles: ["screen"] });
    presence.beacon({ text: "b", deviceId: "d1", roles: ["speaker"], scopes: ["x"] });
    expect(presence.list()[1]).toMatchObject({ text: "b", roles: ["screen", "speaker"], scopes: ["x"] });
    presence.beacon({ text: "c", instanceId: "I1" });
    presence.beacon({ text: "d", instanceId: "i1" });
    presence.beacon({ text });
    presence.beacon({ text: "Node: SHED" });
    presence.beacon({ text: "Node: (192.0.2.1)" });
    presence.beacon({ text: "x", ip: "192.0.2.1" });
    presence.beacon({ text: "The kettle boils" });
    presence.beacon({ text: "the KETTLE boils" });
    expect(rows()).toBe(5);
  });

  test("leaves out an address of loopback and cuts a long text", () => {
    const { presence } = setup();
    presence.beacon({ text: `Node: here (127.0.0.1) · ${"x".repeat(2_000)}` });
    const row = presence.list()[1];
    expect(row).not.toHaveProperty("ip");
    expect(String(row?.text)).toHaveLength(512);
  });

  test.each([
    ["Node:", {}],
    ["Node: shed", { host: "shed" }],
    ["Node: shed · app 2", { host: "shed", version: "2" }],
    ["Node: a b (::1) · last input 1.5s ago", { host: "a b", ip: "::1", lastInputSeconds: 1.5 }],
    ["Node: shed · last input long ago · what", { host: "shed" }],
    ["node: shed", {}],
    ["The shed", {}],
  ])("of the form %j says %j", (given, fields) => {
    expect(parseBeaconText(given)).toEqual(fields);
  });
});
