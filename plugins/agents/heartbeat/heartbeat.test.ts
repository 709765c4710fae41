import { definePlugin, type JsonObject, type RunOutcome } from "svc/sdk";
import { createTestGateway, eventually, fakeClock, fakeModel, type TestGateway, type TestGatewayOptions } from "svc/sdk/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { spoken } from "../../../test/fixtures/spoken.ts";

const MINUTE = 60_000;
const CHECKLIST = { "HEARTBEAT.md": "# Checks\n\n- Is the garage door shut?\n" };
const main = "agent:main:main";

type Setup = Omit<TestGatewayOptions, "models" | "clock"> & { clock?: ReturnType<typeof fakeClock> };

async function setup(script: Parameters<typeof fakeModel>[0], options: Setup = {}) {
  const clock = options.clock ?? fakeClock();
  const model = fakeModel(script);
  const gateway = await createTestGateway({ plugins: ["store", "agents"], workspace: CHECKLIST, ...options, models: [model], clock });
  onTestFinished(() => gateway.close());
  const socket = await gateway.ws();
  const reports = () => socket.events.filter((e) => e.event === "heartbeat").map((e) => e.payload);
  const report = (status: string) => socket.event("heartbeat", (payload) => payload.status === status);
  return { clock, model, gateway, socket, reports, report };
}

const prompts = (model: ReturnType<typeof fakeModel>) =>
  model.requests.map((req) => {
    const last = spoken(req.messages).findLast((m) => m.role === "user");
    return last?.role === "user" ? last.content.map((c) => (c.type === "text" ? c.text : "")) : [];
  });

async function nextRunAt(gateway: TestGateway): Promise<unknown> {
  await gateway.rpc("health", { probe: true });
  const { heartbeat } = await gateway.rpc<{ heartbeat: { agents: JsonObject[] } }>("status");
  return heartbeat.agents[0]?.nextRunAt;
}

async function session(gateway: TestGateway, key = main): Promise<JsonObject | null> {
  return (await gateway.rpc<{ session: JsonObject | null }>("sessions.describe", { key })).session;
}

describe("the timer", () => {
  test("ticks one interval after the start, spread by a tenth, and every interval after that", async () => {
    const { clock, model, report, reports } = await setup(["HEARTBEAT_OK", "HEARTBEAT_OK"]);
    await clock.advance(26 * MINUTE);
    expect(model.requests).toHaveLength(0);
    await clock.advance(8 * MINUTE);
    await report("ok-token");
    await clock.advance(29 * MINUTE);
    expect(model.requests).toHaveLength(1);
    await clock.advance(5 * MINUTE);
    await eventually(() => reports().length === 2);
  });

  test("counts on over a restart: no heartbeat is brought forward, none is left out", async () => {
    const clock = fakeClock();
    const first = fakeModel(["HEARTBEAT_OK"]);
    const one = await createTestGateway({ plugins: ["store", "agents"], workspace: CHECKLIST, models: [first], clock });
    onTestFinished(() => one.close());
    const seen = await one.ws();
    await clock.advance(34 * MINUTE);
    const { ts } = await seen.event("heartbeat", (payload) => payload.status === "ok-token");
    await one.close({ keepState: true });

    await clock.advance(20 * MINUTE);
    const { report, gateway } = await setup(["HEARTBEAT_OK"], { clock, stateDir: one.stateDir });
    expect(await gateway.rpc("last-heartbeat")).toMatchObject({ status: "ok-token", ts });
    expect(await nextRunAt(gateway)).toBe(Number(ts) + 30 * MINUTE);
    await clock.advance(Number(ts) + 30 * MINUTE - clock.now());
    expect(await report("ok-token")).toMatchObject({ agentId: "main" });
  });

  test("makes up for what fell due while the gateway was down, once and soon after the start", async () => {
    const clock = fakeClock();
    const one = await createTestGateway({ plugins: ["store", "agents"], clock });
    onTestFinished(() => one.close());
    await one.close({ keepState: true });

    await clock.advance(600 * MINUTE);
    const { gateway, model, report } = await setup(["HEARTBEAT_OK"], { clock, stateDir: one.stateDir });
    expect(await nextRunAt(gateway)).toBe(clock.now() + 3 * MINUTE);
    await clock.advance(3 * MINUTE);
    await report("ok-token");
    await clock.advance(29 * MINUTE);
    expect(model.requests).toHaveLength(1);
  });

  test("runs for the agents that have a block as soon as one has, and with every 0 for nobody", async () => {
    const { gateway, clock, model } = await setup([], {
      config: {
        agents: {
          list: [{ id: "main" }, { id: "watch", heartbeat: { every: "1h", target: "last" } }, { id: "off", heartbeat: { every: "0m" } }],
        },
      },
    });
    const health = await gateway.rpc("health", { probe: true });
    expect(health).toMatchObject({
      heartbeatSeconds: 0,
      agents: [
        { agentId: "main", heartbeat: { enabled: false, every: "0m", everyMs: 0, target: "none" } },
        { agentId: "watch", heartbeat: { enabled: true, every: "1h", everyMs: 3_600_000, target: "last" } },
        { agentId: "off", heartbeat: { enabled: false, every: "0m", everyMs: 0 } },
      ],
    });
    await clock.advance(40 * MINUTE);
    expect(model.requests).toHaveLength(0);
  });

  test("makes up once for a suspend, in which the monotonic clock stood still", async () => {
    const fake = fakeClock();
    let sleptMs = 0;
    const clock = Object.create(fake, { now: { value: () => fake.now() + sleptMs } }) as typeof fake;
    const { gateway, model, report } = await setup(["HEARTBEAT_OK"], { clock });
    sleptMs = 480 * MINUTE;
    await gateway.gateway.hooks.run("gateway.resumed", { gapMs: sleptMs });
    await fake.advance(0);
    await report("ok-token");
    await fake.advance(29 * MINUTE);
    expect(model.requests).toHaveLength(1);
  });

  test("follows a change of its interval at once and leaves the other agents' timers alone", async () => {
    const config = (every: string) => ({
      agents: {
        list: [
          { id: "main", heartbeat: { every } },
          { id: "watch", heartbeat: { every: "1h" } },
        ],
      },
    });
    const { gateway } = await setup([], { config: config("30m") });
    const plans = async () => {
      const { heartbeat } = await gateway.rpc<{ heartbeat: { agents: JsonObject[] } }>("status");
      return heartbeat.agents;
    };
    const before = await plans();
    await gateway.reload(config("10m"));
    const after = await eventually(async () => {
      await gateway.rpc("health", { probe: true });
      const found = await plans();
      return found[0]?.everyMs === 600_000 && found;
    });
    expect(after[1]?.nextRunAt).toBe(before[1]?.nextRunAt);
    expect(Number(after[0]?.nextRunAt)).toBeLessThan(Number(before[0]?.nextRunAt));
  });
});

describe("a tick is skipped", () => {
  const tick = async (clock: ReturnType<typeof fakeClock>) => clock.advance(34 * MINUTE);

  test("while HEARTBEAT.md asks for nothing and no event waits", async () => {
    const { clock, model, report } = await setup([], { workspace: { "HEARTBEAT.md": "# Nothing\n\n<!-- a\nb -->\n- \n" } });
    await tick(clock);
    expect(await report("skipped")).toMatchObject({ reason: "empty-checklist", agentId: "main" });
    expect(model.requests).toHaveLength(0);
  });

  test("not when there is no such file", async () => {
    const { clock, report } = await setup(["HEARTBEAT_OK"], { workspace: {}, config: { agents: { defaults: { skipBootstrap: true } } } });
    await tick(clock);
    await report("ok-token");
  });

  test("outside the active hours", async () => {
    const { clock, report, model } = await setup([], {
      config: { agents: { defaults: { heartbeat: { activeHours: { start: "08:00", end: "24:00", timezone: "UTC" } } } } },
    });
    await tick(clock);
    expect(await report("skipped")).toMatchObject({ reason: "quiet-hours" });
    expect(model.requests).toHaveLength(0);
  });

  test("while its session is at work, asked again every 30 s, told of once", async () => {
    const { clock, gateway, socket, reports, report } = await setup([{ text: "thinking", hang: true }, "HEARTBEAT_OK"], {
      config: { agents: { defaults: { timeoutSeconds: 86_400 } } },
    });
    await gateway.rpc("chat.send", { sessionKey: "main", message: "hello", idempotencyKey: "user-1" });
    await socket.event("agent", (payload) => payload.stream === "assistant");
    await tick(clock);
    expect(await report("skipped")).toMatchObject({ reason: "lane-busy" });
    await clock.advance(MINUTE);
    await gateway.rpc("chat.abort", { sessionKey: "main" });
    await socket.event("chat", (payload) => payload.state === "aborted");
    await clock.advance(30_000);
    await report("ok-token");
    expect(reports().map((r) => r.status)).toEqual(["skipped", "ok-token"]);
  });

  test("while the one before still runs", async () => {
    const { clock, gateway, report, model } = await setup([{ text: "long", hang: true }], {
      config: { agents: { defaults: { timeoutSeconds: 86_400 } } },
    });
    const anchor = async () => ((await gateway.service("store@2").kv.get("plugin/agents", "heartbeat/main")) as { anchor: number }).anchor;
    const before = await anchor();
    await tick(clock);
    await eventually(() => model.requests.length === 1);
    // A crash from now on must not bring the same heartbeat again.
    expect(await anchor()).toBeGreaterThan(before + 20 * MINUTE);
    await clock.advance(30 * MINUTE);
    expect(await report("skipped")).toMatchObject({ reason: "still-running" });
    await gateway.rpc("chat.abort", { sessionKey: "main" });
    expect(await report("failed")).toMatchObject({ reason: expect.stringMatching(/^ABORTED: /), indicatorType: "error" });
  });

  test("when a plugin blocks it at heartbeat.before", async () => {
    const seen: unknown[] = [];
    const guard = definePlugin<unknown>({
      id: "guard",
      version: "1.0.0",
      svc: { api: "*" },
      setup(ctx) {
        ctx.on("heartbeat.before", (event) => {
          seen.push(event);
          return { block: true, reason: "not now" };
        });
      },
    });
    const { clock, model, report } = await setup([], { plugins: ["store", "agents", guard] });
    await tick(clock);
    expect(await report("skipped")).toMatchObject({ reason: "blocked: not now", sessionKey: main });
    expect(seen).toEqual([{ agentId: "main", sessionKey: main, reason: "interval" }]);
    expect(model.requests).toHaveLength(0);
  });

  test("while nothing but the embedded model could answer", async () => {
    const clock = fakeClock();
    const gateway = await createTestGateway({ plugins: ["store", "agents", "memory-core", "model-recall"], workspace: CHECKLIST, clock });
    onTestFinished(() => gateway.close());
    const socket = await gateway.ws();
    await tick(clock);
    expect(await socket.event("heartbeat")).toMatchObject({ status: "skipped", reason: "no-language-model" });
  });

  test("by set-heartbeats, until they are switched on again", async () => {
    const { clock, gateway, model, report } = await setup(["HEARTBEAT_OK"]);
    expect(await gateway.rpc("set-heartbeats", { enabled: false })).toEqual({ ok: true, enabled: false });
    expect(await gateway.rpc("health", { probe: true })).toMatchObject({
      heartbeatSeconds: 0,
      agents: [{ heartbeat: { enabled: false } }],
    });
    await clock.advance(90 * MINUTE);
    expect(model.requests).toHaveLength(0);
    await gateway.rpc("set-heartbeats", { enabled: true });
    await clock.advance(3 * MINUTE);
    await report("ok-token");
  });
});

describe("the run of a heartbeat", () => {
  const beat = async (script: Parameters<typeof fakeModel>[0], options: Setup = {}) => {
    const all = await setup(script, options);
    await all.clock.advance(34 * MINUTE);
    return { ...all, report: await all.socket.event("heartbeat") };
  };

  test("asks in the main session, with the checklist and marked as a heartbeat, and is no sign of a person", async () => {
    const { model, gateway, socket } = await beat(["HEARTBEAT_OK"]);
    expect(model.requests[0]?.system).toContain("Is the garage door shut?");
    expect(prompts(model)[0]?.join()).toContain("HEARTBEAT_OK");
    const row = await session(gateway);
    expect(row).not.toHaveProperty("lastInteractionAt");
    expect(row).not.toHaveProperty("derivedTitle");
    expect(row).not.toHaveProperty("lastMessagePreview");
    const events = socket.events.filter((e) => e.event === "agent");
    expect(events.length).toBeGreaterThan(1);
    expect(events.every((e) => e.payload.isHeartbeat === true)).toBe(true);
  });

  test("is reported by what it answers, and last-heartbeat repeats the report", async () => {
    const answers = [
      ["HEARTBEAT_OK", { status: "ok-token", indicatorType: "ok" }],
      ["**HEARTBEAT_OK** The door is shut.", { status: "ok-token", preview: "The door is shut." }],
      ["NO_REPLY", { status: "ok-empty", silent: true, indicatorType: "ok" }],
      ["", { status: "ok-empty", indicatorType: "ok" }],
      ["The door stands open.", { status: "skipped", reason: "no-target", preview: "The door stands open.", indicatorType: "alert" }],
      [`HEARTBEAT_OK ${"x".repeat(301)}`, { status: "skipped", preview: `${"x".repeat(199)}…`, indicatorType: "alert" }],
      [{ fault: "invalid_request" }, { status: "failed", reason: expect.stringMatching(/^INVALID_REQUEST: /), indicatorType: "error" }],
    ] as const;
    const { clock, gateway, reports } = await setup(answers.map(([answer]) => answer));
    expect(await gateway.rpc("last-heartbeat")).toBeNull();
    const ids = { agentId: "main", sessionKey: main, ts: expect.any(Number), durationMs: expect.any(Number) };
    for (const [i, [, expected]] of answers.entries()) {
      await clock.advance(i === 0 ? 34 * MINUTE : 30 * MINUTE);
      const report = await eventually(() => reports()[i]);
      expect(report).toMatchObject({ ...ids, ...expected });
      expect(await gateway.rpc("last-heartbeat")).toEqual(report);
    }
  });

  test.each([
    ["last", {}, { reason: "no-route" }],
    ["irc", { to: "#ops", accountId: "work" }, { reason: "channel-unavailable", channel: "irc", to: "#ops", accountId: "work" }],
  ])("with target %s says honestly that nothing was sent", async (target, more, expected) => {
    const { report } = await beat(["Look at this."], { config: { agents: { defaults: { heartbeat: { target, ...more } } } } });
    expect(report).toMatchObject({ status: "skipped", preview: "Look at this.", ...expected });
  });

  test.each([
    ["webchat", { status: "sent", channel: "webchat", indicatorType: "alert" }],
    ["last", { status: "skipped", reason: "no-route" }],
    ["irc", { status: "skipped", reason: "channel-unavailable", channel: "irc" }],
  ])("with target %s, where messages are carried, says what became of the news", async (target, expected) => {
    const config = { agents: { defaults: { heartbeat: { target } } } };
    const { report } = await beat(["Look at this."], { plugins: ["store", "agents", "messaging"], config });
    expect(report).toMatchObject({ preview: "Look at this.", ...expected });
  });

  test("shows nobody a token, neither while it is written nor in the end", async () => {
    const long = `The garage door stands open. ${"It has been open for a while. ".repeat(20)}`;
    const answers = [
      ["All is well. HEARTBEAT_OK", ""],
      [`HEARTBEAT_OK ${long}`, long.trim()],
      [`${long}\n\n**HEARTBEAT_OK**`, long.trim()],
    ] as const;
    const { clock, socket, reports } = await setup(answers.map(([answer]) => answer));
    for (const [i, [, shown]] of answers.entries()) {
      await clock.advance(i === 0 ? 34 * MINUTE : 30 * MINUTE);
      await eventually(() => reports().length === i + 1);
      const chats = socket.events.filter((e) => e.event === "chat").map((e) => e.payload);
      const final = chats.at(-1);
      const deltas = chats.filter((payload) => payload.runId === final?.runId && payload.state === "delta");
      expect(deltas.map((payload) => payload.deltaText).join("")).toBe(shown);
      expect(final?.message).toEqual(shown === "" ? undefined : expect.objectContaining({ content: [{ type: "text", text: shown }] }));
    }
    expect(JSON.stringify(socket.events.filter((e) => e.event === "chat" || e.event === "agent"))).not.toContain("HEARTBEAT");
  });

  test("ends with an error when it wants more than ten tool calls", async () => {
    const ran: unknown[] = [];
    const tools = definePlugin<unknown>({
      id: "tools",
      version: "1.0.0",
      svc: { api: "*" },
      setup(ctx) {
        ctx.registerTool({
          name: "look",
          description: "Looks",
          input: { type: "object", properties: { at: { type: "integer" } } } as never,
          run: (args) => {
            ran.push(args);
            return "nothing";
          },
        });
      },
    });
    const call = (n: number) => ({ toolCalls: Array.from({ length: n }, (_, at) => ({ name: "look", args: { at } })) });
    const { model } = await beat([call(4), call(7), "HEARTBEAT_OK"], { plugins: ["store", "agents", tools] });
    expect(ran).toHaveLength(10);
    expect(model.requests.map((req) => req.toolChoice)).toEqual([undefined, undefined, "none"]);
    const refused = model.requests[2]?.messages.filter(({ role }) => role === "tool").at(-1);
    expect(refused).toMatchObject({ role: "tool", isError: true, text: expect.stringMatching(/all its tool calls/) });

    const { report } = await beat([call(10), call(1)], { plugins: ["store", "agents", tools] });
    expect(report).toMatchObject({ status: "failed", reason: expect.stringMatching(/^TURN_LIMIT: /) });
  });

  test("may have its own model, prompt, time limit, session and context", async () => {
    const { model, report } = await beat(["seen"], {
      config: {
        agents: {
          defaults: {
            models: { "fake/other": {} },
            heartbeat: {
              model: "fake/script",
              prompt: "Anything new?",
              session: "ops",
              lightContext: true,
              timeoutSeconds: 5,
              ackMaxChars: 0,
            },
          },
        },
      },
    });
    expect(report).toMatchObject({ sessionKey: "agent:main:ops", status: "skipped", preview: "seen" });
    expect(prompts(model)[0]).toEqual(["Anything new?"]);
  });

  test("in a session of its own has a fresh transcript each time", async () => {
    const { clock, model, socket, gateway } = await beat(["news one", "news two"], {
      config: { agents: { defaults: { heartbeat: { isolatedSession: true } } } },
    });
    await clock.advance(34 * MINUTE);
    await socket.event("heartbeat", (payload) => payload.preview === "news two");
    expect(model.requests[1]?.messages.filter((m) => m.role === "assistant")).toEqual([]);
    expect(await session(gateway)).toBeNull();
    expect(await session(gateway, `${main}:heartbeat`)).not.toBeNull();
  });

  test("with light context leaves the transcript out of the prompt", async () => {
    const { gateway, socket, model, clock, report } = await setup(["hello yourself", "HEARTBEAT_OK"], {
      config: { agents: { defaults: { heartbeat: { lightContext: true } } } },
    });
    await gateway.rpc("agent", { message: "hello", idempotencyKey: "u1" });
    await socket.event("agent", (payload) => (payload.data as JsonObject).phase === "end");
    await clock.advance(34 * MINUTE);
    await report("ok-token");
    expect(model.requests[1]?.messages).toHaveLength(1);
  });
});

test("outside of heartbeats a bare token is dropped, streamed and final; beside words it is a word", async () => {
  const { gateway, socket } = await setup(["NO_REPLY", "`HEARTBEAT_OK`", "Say HEARTBEAT_OK when done."]);
  const ask = async (key: string) => {
    const handle = await gateway.service("agents@1").run({
      message: "hi",
      runId: key,
      trigger: "user",
      actor: { kind: "internal", scopes: [] },
    });
    const outcome: RunOutcome = await handle.done;
    const final = await socket.event("chat", (payload) => payload.runId === key && payload.state === "final");
    const deltas = socket.events.filter((e) => e.event === "chat" && e.payload.runId === key && e.payload.state === "delta");
    return { text: outcome.text, status: outcome.status, message: final.message, deltas: deltas.length };
  };
  expect(await ask("one")).toEqual({ text: "", status: "ok", message: undefined, deltas: 0 });
  expect(await ask("two")).toEqual({ text: "", status: "ok", message: undefined, deltas: 0 });
  expect(await ask("three")).toMatchObject({ text: "Say HEARTBEAT_OK when done." });
});
