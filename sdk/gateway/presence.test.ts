import { describe, expect, test } from "vitest";
import type { ConnectParams } from "../protocol/frames.ts";
import type { ClientInfo } from "../types/rpc.ts";
import { createPresence } from "./presence.ts";

function setup() {
  const time = { now: 1_000 };
  const presence = createPresence({
    version: "1.2.3",
    bootId: "boot",
    now: () => time.now,
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
  test("of living connections are renewed", () => {
    const { presence, info, params, time } = setup();
    presence.joined(info("a"), params());
    time.now += 250_000;
    presence.tick();
    expect(presence.list()[1]?.ts).toBe(251_000);
  });

  test("are at most 200: the oldest goes", () => {
    const { presence, info, params } = setup();
    for (let i = 0; i <= 200; i++) presence.joined(info(`c${i}`), params({ instanceId: `i${i}` }));
    const rows = presence.list().slice(1);
    expect(rows).toHaveLength(200);
    expect(rows.some((r) => r.instanceId === "i0")).toBe(false);
    expect(rows.some((r) => r.instanceId === "i200")).toBe(true);
  });
});
