import type { JsonObject, WakeMode } from "svc/sdk";
import { createTestGateway, eventually, type FakeClock, fakeClock, fakeModel, type TestGatewayOptions } from "svc/sdk/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { spoken } from "../../../test/fixtures/spoken.ts";

const MINUTE = 60_000;
const main = "agent:main:main";
/** A checklist that asks for nothing: only events bring a heartbeat about. */
const workspace = { "HEARTBEAT.md": "" };

async function setup(script: Parameters<typeof fakeModel>[0], options: Omit<TestGatewayOptions, "models"> & { clock?: FakeClock } = {}) {
  const clock = options.clock ?? fakeClock();
  const model = fakeModel(script);
  const gateway = await createTestGateway({ plugins: ["store", "agents"], workspace, ...options, models: [model], clock });
  onTestFinished(() => gateway.close());
  const socket = await gateway.ws();
  const prompts = () =>
    model.requests.map(({ messages }) => {
      const last = spoken(messages).findLast((m) => m.role === "user");
      return last?.role === "user" ? last.content.map((c) => (c.type === "text" ? c.text : "")) : [];
    });
  const reports = () => socket.events.filter((e) => e.event === "heartbeat").map((e) => e.payload);
  const waiting = async (key = main) => {
    const events = await gateway.service("store@2").systemEvents.pending(key, 100);
    return events.map((event) => event.text);
  };
  const wake = (text: string, mode: WakeMode = "now", more: JsonObject = {}) => gateway.rpc("wake", { mode, text, ...more });
  const ask = async (message: string, runId: string, sessionKey = "main") => {
    const run = await gateway
      .service("agents@1")
      .run({ message, runId, sessionKey, trigger: "user", actor: { kind: "internal", scopes: [] } });
    return run.done;
  };
  return { clock, model, gateway, socket, prompts, reports, waiting, wake, ask };
}

describe("a system event", () => {
  test("waits for the next prompt of its session, stands before it as System: lines, and is read once", async () => {
    const { gateway, prompts, waiting, wake, ask } = await setup(["one", "two"]);
    expect(await wake("The parcel has come.\nIt is in the hall.", "next-heartbeat")).toMatchObject({ ok: true, eventOutcome: "queued" });
    await gateway.rpc("system-event", { text: "Elsewhere", sessionKey: "other" });
    expect(await waiting()).toEqual(["The parcel has come.\nIt is in the hall."]);

    await ask("What is new?", "a");
    await ask("And now?", "b");
    expect(prompts()).toEqual([["System: The parcel has come.\nSystem: It is in the hall.", "What is new?"], ["And now?"]]);
    expect([await waiting(), await waiting("agent:main:other")]).toEqual([[], ["Elsewhere"]]);
    const { messages } = await gateway.rpc<{ messages: Array<{ role: string; __svc: JsonObject }> }>("chat.history", {
      sessionKey: "main",
    });
    expect(messages.slice(0, 2).map((m) => m.__svc.kind)).toEqual(["system-event", undefined]);
  });

  test("is one of twenty in a prompt; the rest waits for the one after", async () => {
    const { gateway, prompts, waiting, ask } = await setup(["one", "two"]);
    const agents = gateway.service("agents@1");
    for (let i = 1; i <= 21; i++) await agents.systemEvent({ text: `event ${i}`, source: "cron" });
    await ask("first", "a");
    expect(prompts()[0]?.[0]?.split("\n")).toEqual(Array.from({ length: 20 }, (_, i) => `System: event ${i + 1}`));
    expect(await waiting()).toEqual(["event 21"]);
    await ask("second", "b");
    expect(prompts()[1]).toEqual(["System: event 21", "second"]);
  });

  test("that says the same as the newest one is not told twice", async () => {
    const { gateway, waiting, wake } = await setup([]);
    const agents = gateway.service("agents@1");
    await wake("door", "next-heartbeat");
    expect(await wake(" door ", "next-heartbeat")).toMatchObject({ eventOutcome: "coalesced" });
    expect(await agents.systemEvent({ text: "[frame] door", same: "door", source: "hook" })).toBe("coalesced");
    expect(await agents.systemEvent({ text: "window", source: "hook" })).toBe("queued");
    expect(await waiting()).toEqual(["door", "window"]);
  });

  test("outlives a restart, and the heartbeat that it asked for comes after it", async () => {
    const clock = fakeClock();
    const one = await createTestGateway({ plugins: ["store", "agents"], workspace, clock });
    onTestFinished(() => one.close());
    await one.rpc("wake", { mode: "now", text: "The cellar is wet." });
    await one.close({ keepState: true });

    const { prompts, reports } = await setup(["I have called the plumber."], { clock, stateDir: one.stateDir });
    await clock.advance(250);
    await eventually(() => reports().length === 1);
    expect(prompts()[0]?.[0]).toBe("System: The cellar is wet.");
  });

  test("is refused with what was expected, and nothing of it is kept", async () => {
    const { gateway, waiting } = await setup([]);
    for (const [method, params, message] of [
      ["wake", { mode: "now", text: "  \n" }, /^text required$/],
      ["system-event", { text: " " }, /^text required$/],
      ["wake", { mode: "next-heartbeat", text: "x", sessionKey: "other" }, /^sessionKey requires mode=now$/],
      ["system-event", { text: "x", sessionKey: "other", wake: "next-heartbeat" }, /^sessionKey requires mode=now$/],
      ["wake", { mode: "later", text: "x" }, /mode/],
      ["wake", { mode: "now", text: "x", agentId: "nobody" }, /nobody/],
      ["wake", { mode: "now", text: "x".repeat(32_769) }, /text/],
    ] as const) {
      const refused = { code: "INVALID_REQUEST", message: expect.stringMatching(message) };
      await expect(gateway.rpc(method, params)).rejects.toMatchObject(refused);
    }
    expect([await waiting(), await waiting("agent:main:other")]).toEqual([[], []]);
    expect(await gateway.rpc("wake", { mode: "next-heartbeat", text: "x".repeat(32_768) })).toMatchObject({ ok: true });
  });
});

describe("a wake", () => {
  test("now brings a heartbeat after 250 ms, one for all that come meanwhile", async () => {
    const { clock, model, prompts, reports, wake } = await setup(["Seen.", "HEARTBEAT_OK"]);
    await wake("first");
    await clock.advance(200);
    await wake("second");
    expect(model.requests).toHaveLength(0);
    await clock.advance(50);
    await eventually(() => reports().length === 1);
    expect(prompts()).toEqual([["System: first\nSystem: second", expect.stringContaining("periodic check")]]);
    expect(reports()[0]).toMatchObject({ sessionKey: main, preview: "Seen." });
    await clock.advance(10_000);
    expect(model.requests).toHaveLength(1);
  });

  test("for the next heartbeat waits for the timer", async () => {
    const { clock, model, prompts, reports, wake } = await setup(["HEARTBEAT_OK"]);
    await wake("when you can", "next-heartbeat");
    await clock.advance(20 * MINUTE);
    expect(model.requests).toHaveLength(0);
    await clock.advance(14 * MINUTE);
    await eventually(() => reports().length === 1);
    expect(prompts()[0]?.[0]).toBe("System: when you can");
  });

  test("of a session at work comes as soon as that is free", async () => {
    const { clock, gateway, socket, model, prompts, reports, wake } = await setup([{ text: "busy", hang: true }, "HEARTBEAT_OK"]);
    await gateway.rpc("chat.send", { sessionKey: "main", message: "hello", idempotencyKey: "user-1" });
    await socket.event("agent", (payload) => payload.stream === "assistant");
    await wake("now");
    await clock.advance(5_000);
    expect(model.requests).toHaveLength(1);
    await gateway.rpc("chat.abort", { sessionKey: "main" });
    await eventually(() => reports().length === 1);
    expect(prompts()[1]?.[0]).toBe("System: now");
  });

  test("of a named session runs there", async () => {
    const { clock, reports, prompts, wake } = await setup(["HEARTBEAT_OK"]);
    await wake("over here", "now", { sessionKey: "garden" });
    await clock.advance(250);
    await eventually(() => reports().length === 1);
    expect(reports()[0]).toMatchObject({ sessionKey: "agent:main:garden", status: "ok-token" });
    expect(prompts()[0]?.[0]).toBe("System: over here");
  });

  test("from outside is heard where the timer is off, and at night, but not when heartbeats are switched off", async () => {
    const activeHours = { start: "12:00", end: "13:00", timezone: "UTC" };
    const { clock, gateway, reports, wake, waiting } = await setup(["HEARTBEAT_OK"], {
      config: { agents: { defaults: { heartbeat: { every: "0m", activeHours } } } },
    });
    await wake("wake up");
    await clock.advance(250);
    await eventually(() => reports()[0]?.status === "ok-token");
    await gateway.rpc("set-heartbeats", { enabled: false });
    await wake("again");
    await clock.advance(250);
    await eventually(() => reports()[1]?.reason === "disabled");
    expect(await waiting()).toEqual(["again"]);
  });

  test("of the gateway itself keeps 30 s apart, and to five in ten minutes", async () => {
    const { clock, gateway, model, reports } = await setup(Array.from({ length: 10 }, () => "HEARTBEAT_OK"));
    const agents = gateway.service("agents@1");
    const own = (n: number) => agents.systemEvent({ text: `result ${n}`, source: "cron", mode: "now", isOwn: true });
    await own(1);
    await clock.advance(250);
    await eventually(() => reports().length === 1);
    for (let n = 2; n <= 5; n++) {
      await own(n);
      await clock.advance(29_000);
      expect(reports()).toHaveLength(n - 1);
      await clock.advance(1_250);
      await eventually(() => reports().length === n);
    }
    await own(6);
    await clock.advance(MINUTE);
    expect(model.requests).toHaveLength(5);
    await gateway.rpc("wake", { mode: "now", text: "a person asks" });
    await clock.advance(250);
    await eventually(() => reports().length === 6);
    await own(7);
    await clock.advance(10 * MINUTE);
    await eventually(() => reports().length >= 7);
  });

  test("by the service takes an event that another commit has stored", async () => {
    const { clock, gateway, prompts, reports } = await setup(["HEARTBEAT_OK"]);
    const event = { sessionKey: main, text: "from a hook", source: "hook", ts: 1, wake: true };
    await gateway.service("store@2").commit([{ op: "systemEvent.add", event }]);
    gateway.service("agents@1").wake({ reason: "hook", mode: "next-heartbeat" });
    await clock.advance(1_000);
    expect(reports()).toEqual([]);
    gateway.service("agents@1").wake({ reason: "hook", mode: "now" });
    await clock.advance(250);
    await eventually(() => reports().length === 1);
    expect(prompts()[0]?.[0]).toBe("System: from a hook");
  });
});

test("status shows what waits for the main session, and health the plan of each agent", async () => {
  const { gateway, wake } = await setup([]);
  await wake("The parcel has come.", "next-heartbeat");
  await gateway.rpc("health", { probe: true });
  expect(await gateway.rpc("status")).toMatchObject({
    queuedSystemEvents: ["The parcel has come."],
    heartbeat: {
      defaultAgentId: "main",
      agents: [{ agentId: "main", enabled: true, every: "30m", everyMs: 1_800_000, target: "none", nextRunAt: expect.any(Number) }],
    },
    sessions: { count: 0, defaults: { modelProvider: "fake", model: "script" }, byAgent: [{ agentId: "main", count: 0 }] },
    channelSummary: [],
  });
  expect(await gateway.rpc("health")).toMatchObject({
    heartbeatSeconds: 1_800,
    agents: [{ agentId: "main", heartbeat: { enabled: true, every: "30m", everyMs: 1_800_000, target: "none" } }],
    queues: { lanes: 0, queued: 0, active: 0 },
  });
});
