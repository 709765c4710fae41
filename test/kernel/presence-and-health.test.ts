import type { JsonObject } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connected } from "./_ws.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: ["store", "agents", "memory-core"] });
});
afterAll(() => gateway.close());

const reader = (own: object = {}) => gateway.ws({ scopes: ["operator.read"], ...own });
const page = { id: "gateway-client" as const, version: "1", platform: "linux", mode: "backend" as const };
const presence = () => gateway.rpc<JsonObject[]>("system-presence");

describe("system-event", () => {
  test("beginning with Node: is a presence beacon and nothing else, told with a new state version", async () => {
    const socket = await reader();
    const frames: Array<{ event: string; stateVersion?: { presence: number } }> = [];
    socket.client.on("*", (_payload, frame) => frames.push(frame));
    const text = "Node: Shed (192.0.2.9) · app 1.4 · last input 12s ago · mode kiosk · reason boot";
    expect(await gateway.rpc("system-event", { text, tags: ["garden"] })).toEqual({ ok: true });
    const event = await socket.event("presence");
    const shown = (event.presence as JsonObject[])[1];
    expect(shown).toMatchObject({ host: "Shed", ip: "192.0.2.9", mode: "kiosk", lastInputSeconds: 12, reason: "boot", tags: ["garden"] });
    expect((await presence()).slice(0, 2)).toEqual([expect.objectContaining({ reason: "self", mode: "gateway" }), shown]);
    const first = frames.find((frame) => frame.event === "presence")?.stateVersion?.presence ?? 0;
    await gateway.rpc("system-event", { text: "Node: Attic" });
    await eventually(() => frames.some((frame) => frame.event === "presence" && (frame.stateVersion?.presence ?? 0) === first + 1));
    expect(await gateway.service("store@2").systemEvents.pending("agent:main:main", 10)).toEqual([]);
  });

  test("with any other text is a beacon, and an event for the main session", async () => {
    await gateway.rpc("system-event", { text: "The kettle boils", deviceId: "kettle" });
    expect(await presence()).toContainEqual(expect.objectContaining({ deviceId: "kettle", text: "The kettle boils" }));
    const waiting = await gateway.service("store@2").systemEvents.pending("agent:main:main", 10);
    expect(waiting).toMatchObject([{ text: "The kettle boils", source: "rpc", wake: false }]);
  });

  test.each(["system-event", "set-heartbeats", "gateway.restart", "gateway.restart.request"])(
    "%s is for administrators",
    async (method) => {
      const socket = await gateway.ws({ scopes: ["operator.write"] });
      await expect(socket.request(method, {})).rejects.toMatchObject({ code: "FORBIDDEN" });
    },
  );
});

test("callers of one request leave no row, others come and go with theirs", async () => {
  const before = (await presence()).length;
  const quiet = await reader({ client: page });
  expect(await presence()).toHaveLength(before);
  await quiet.close();
});

describe("health and status", () => {
  test("name no path and no process to those who are not administrators", async () => {
    const socket = await reader();
    const answers = [await socket.request("health"), await socket.request("status"), socket.client.hello?.snapshot.health];
    expect(JSON.stringify(answers)).not.toContain(gateway.stateDir);
    expect(answers[1]).not.toHaveProperty("pid");
    const own = [await gateway.rpc("health"), await gateway.rpc("status")];
    for (const answer of own) expect(answer).toMatchObject({ sessions: { path: expect.stringContaining(gateway.stateDir) } });
    expect(own[1]).toMatchObject({ pid: process.pid, processMemory: { rssBytes: expect.any(Number) } });
  });

  test("have every part that this release has a source for", async () => {
    const health = await gateway.rpc<JsonObject>("health", { probe: true });
    expect(health).toMatchObject({
      ok: true,
      ts: expect.any(Number),
      durationMs: expect.any(Number),
      uptimeMs: expect.any(Number),
      version: expect.any(String),
      phase: "ready",
      plugins: { loaded: expect.arrayContaining(["store", "agents", "memory-core"]), errors: [], quarantined: [] },
      channels: {},
      channelOrder: [],
      channelLabels: {},
      heartbeatSeconds: 1_800,
      defaultAgentId: "main",
      agents: [
        {
          agentId: "main",
          isDefault: true,
          heartbeat: { enabled: true, every: "30m", everyMs: 1_800_000, target: "none" },
          sessions: { count: 0, recent: [] },
          memory: { provider: "none", files: expect.any(Number), chunks: expect.any(Number), dirty: expect.any(Boolean) },
        },
      ],
      sessions: { count: 0, recent: [] },
      configReload: { status: "active" },
      secrets: { stale: [], unavailable: [] },
      eventLoop: { degraded: expect.any(Boolean), delayP99Ms: expect.any(Number), utilization: expect.any(Number) },
      memory: { rssBytes: expect.any(Number), heapUsedBytes: expect.any(Number) },
      queues: { lanes: 0, queued: 0, active: 0 },
      jobs: expect.any(Object),
    });
  });

  test("are collected anew when the readiness changes, without anybody asking", async () => {
    const socket = await reader();
    const { setReadiness } = gateway.service("gateway@1");
    const readyz = async () => (await fetch(`${gateway.url}/readyz`)).status;
    for (const [problem, status] of [["the disk is full", 503] as const, [undefined, 200] as const]) {
      const told = socket.event("health");
      setReadiness("recorder", problem);
      expect(await readyz()).toBe(status);
      await told;
    }
  });

  test("say in hello-ok too whether the event loop is degraded", async () => {
    const socket = await connected(gateway);
    expect(socket.hello.snapshot.health.eventLoop).toMatchObject({ degraded: expect.any(Boolean) });
    await socket.close();
  });

  test("are told in the event as in the answer: with paths to administrators only", async () => {
    const [admin, plain] = [await gateway.ws(), await reader()];
    gateway.service("gateway@1").invalidateHealth();
    await gateway.service("agents@1").run({
      message: "hello",
      sessionKey: "fresh",
      trigger: "user",
      actor: { kind: "internal", scopes: [] },
    });
    await eventually(async () => (await gateway.rpc<{ sessions: { count: number } }>("health", { probe: true })).sessions.count === 1);
    const one = (payload: JsonObject) => (payload.sessions as { count: number }).count === 1;
    expect(await admin.event("health", one)).toMatchObject({ sessions: { path: expect.any(String) } });
    expect((await plain.event("health", one)).sessions).not.toHaveProperty("path");
  });
});
