import { definePlugin, type HookPreset, type ModelRequest, type Tool } from "svc/sdk";
import {
  createTestGateway,
  eventually,
  type FakeModel,
  type FakeTurn,
  fakeModel,
  type TestGateway,
  type TestGatewayOptions,
} from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { fixture } from "./_fixtures.ts";

vi.setConfig({ testTimeout: 60_000 });

const open: TestGateway[] = [];
const closeAll = async () => {
  for (const gateway of open.splice(0)) await gateway.close();
};

async function start(
  entry: Record<string, unknown>,
  plugins: NonNullable<TestGatewayOptions["plugins"]> = [],
  model?: FakeModel,
): Promise<Isolated> {
  const gateway = await createTestGateway({
    plugins: ["store", "agents", ...plugins, fixture("isolated")],
    config: { plugins: { entries: { isolated: { enabled: true, ...entry } } } },
    ...(model ? { models: [model] } : {}),
    stragglerMs: 60_000, // a guest starts slowly on a busy machine
  });
  open.push(gateway);
  return new Isolated(gateway);
}

/** A gateway with the isolated plugin. */
class Isolated {
  readonly gateway: TestGateway;

  constructor(gateway: TestGateway) {
    this.gateway = gateway;
  }

  record() {
    return this.gateway.gateway.plugins().find((p) => p.id === "isolated");
  }

  said(): string[] {
    return this.gateway.logs.filter((l) => l.subsystem.endsWith("plugin/isolated")).map((l) => l.message);
  }

  tool(name: string, args: Record<string, unknown> = {}): Promise<unknown> {
    return this.gateway.service("agents@1").invokeTool(name, args, {
      agentId: "main",
      sessionKey: "agent:main:main",
      actor: { kind: "operator", scopes: ["operator.admin"] },
      signal: new AbortController().signal,
    } as never);
  }

  /** The limit of a call covers the start of its guest; on a busy machine that start may outlast it, and the next call finds the guest ready. */
  toolOfFreshGuest(name: string): Promise<unknown> {
    return eventually(() => this.tool(name));
  }
}

describe.each(["worker", "process"] as const)("a plugin with isolation %s", (isolation) => {
  let isolated: Isolated;
  let preset: HookPreset | undefined;
  let tools: Tool[] = [];
  const model = fakeModel(Array.from({ length: 20 }, () => (req: ModelRequest) => respond(req)));
  let respond: (req: ModelRequest) => FakeTurn = () => "done";
  const reader = definePlugin({
    id: "preset-reader",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup: (ctx) => ({
      start() {
        preset = ctx.contributions<HookPreset>("hookPreset").get("iso")?.value;
        tools = [...ctx.contributions<Tool>("tool")].map(({ value }) => value);
      },
    }),
  });
  beforeAll(async () => {
    isolated = await start({ isolation, config: { prefix: "apart: " } }, ["memory-core", "model-recall", reader], model);
  });
  afterAll(closeAll);

  test("is active and serves its tools with its config", async () => {
    expect(isolated.record()).toMatchObject({ state: "active", isolation, diagnostics: [] });
    expect(JSON.stringify(await isolated.tool("iso_echo", { text: "hi" }))).toContain("apart: hi 0");
    expect(isolated.said()).toEqual(["started inside"]);
  });

  test("checks its tools' input itself: none of its patterns runs in the gateway", async () => {
    expect(await isolated.tool("iso_pattern", { text: "aaa" })).toMatchObject({ content: [{ text: "aaa" }] });
    await expect(isolated.tool("iso_pattern", { text: "b" })).rejects.toMatchObject({
      code: "sandbox-invalid-input",
      message: expect.stringContaining("tool iso_pattern: its input does not fit: at text:"),
    });
  });

  test("hears what it observes", async () => {
    await isolated.gateway.service("agents@1").run({
      message: "hi",
      sessionKey: "agent:main:apart",
      trigger: "user",
      actor: { kind: "operator", scopes: ["operator.admin"] },
    } as never);
    await eventually(() => isolated.said().includes("saw agent:main:apart"));
  });

  test("its tools have their limit and say that they only read, and their call is that of the run", async () => {
    await isolated.gateway.rpc("plugins.reload", { plugins: [{ pluginId: "preset-reader" }] });
    const traits = Object.fromEntries(tools.map(({ name, readOnly, timeoutMs }) => [name, [readOnly, timeoutMs]]));
    expect(traits).toMatchObject({ iso_call: [true, undefined], iso_wait: [undefined, 6_000], iso_echo: [undefined, undefined] });

    respond = ({ messages }) => (messages.at(-1)?.role === "tool" ? "done" : { toolCalls: [{ name: "iso_call", args: {} }] });
    const run = await isolated.gateway.service("agents@1").run({
      message: "hi",
      sessionKey: "agent:main:call",
      trigger: "user",
      model: "fake/script",
      origin: "person",
      tools: { allow: ["iso_call"] },
      actor: { kind: "internal", scopes: [] },
    });
    expect(await run.done).toMatchObject({ status: "ok" });
    const result = model.requests.at(-1)?.messages.at(-1);
    expect(JSON.parse(result?.role === "tool" ? result.text : "")).toEqual({
      agentId: "main",
      sessionKey: "agent:main:call",
      runId: run.runId,
      toolCallId: expect.any(String),
      origin: "person",
      tools: { allow: ["iso_call"] },
    });
  });

  test("lines of progress of its tools are events of the run, and a tool with a limit of its own has that instead of 5 s", async () => {
    respond = ({ messages }) => (messages.at(-1)?.role === "tool" ? "done" : { toolCalls: [{ name: "iso_wait", args: {} }] });
    const run = await isolated.gateway.service("agents@1").run({
      message: "hi",
      sessionKey: "agent:main:wait",
      trigger: "user",
      model: "fake/script",
      actor: { kind: "internal", scopes: [] },
    });
    const updates: unknown[] = [];
    for await (const { stream, data } of run.events())
      if (stream === "tool" && data.phase === "update") updates.push((data.partialResult as { content: unknown }).content);
    expect(updates).toEqual([[{ type: "text", text: "one" }], [{ type: "text", text: "three" }]]);
    const result = model.requests.at(-1)?.messages.at(-1);
    expect(result?.role === "tool" && result.text).toContain("iso_wait");
    expect(result?.role === "tool" && result.text).toContain("6 s");
    expect(JSON.stringify(await isolated.tool("iso_echo"))).toContain("apart: nothing 0");
  });

  test("offers its preset with transforms that run inside", async () => {
    await isolated.gateway.rpc("plugins.reload", { plugins: [{ pluginId: "preset-reader" }] });
    expect(preset?.mappings).toEqual([{ match: { path: "iso" } }]);
    expect(await preset?.transforms?.upper?.({ payload: "quiet" })).toBe("QUIET");
  });

  test(`${isolation === "worker" ? "sees" : "is kept from"} files`, async () => {
    const answer = await isolated.tool("iso_passwd").then(JSON.stringify, (error: Error) => error.message);
    const refused = /Access to this API has been restricted|ERR_ACCESS_DENIED/;
    if (isolation === "worker") expect(answer).not.toMatch(refused);
    else expect(answer).toMatch(refused);
  });

  // Code that computes for ever is the sandbox's own test; to the gateway both are a guest that does not come back.
  test.each([
    ["blocks for ever", "iso_block", "did not finish within 5000 ms"],
    ["eats all memory", "iso_hog", "exited during the call"],
  ])("%s without hurting the gateway, and serves again afterwards", async (_what, name, reason) => {
    let alive = true;
    const call = isolated
      .tool(name)
      .then(JSON.stringify, (error: Error) => error.message)
      .finally(() => {
        alive = false;
      });
    for (let i = 0; i < 20 && alive; i++) expect((await isolated.gateway.fetch("/healthz")).status).toBe(200);
    expect(await call).toContain(reason);
    expect(JSON.stringify(await isolated.toolOfFreshGuest("iso_echo"))).toContain("apart: nothing 0");
    expect(isolated.record()).toMatchObject({ state: "active" });
  });

  test("stops in its place", async () => {
    const before = isolated.said();
    await isolated.gateway.close({ keepState: true });
    expect(isolated.said()).toEqual([...before, "stopped inside"]);
  });
});

describe.each(["worker", "process"] as const)("a plugin of its own gateway, with isolation %s,", (isolation) => {
  afterEach(closeAll);

  test("is started again in the place of a guest that ended, and one that ended is not started for its stop", async () => {
    const isolated = await start({ isolation });
    await expect(isolated.tool("iso_exit")).rejects.toThrow("exited during the call");
    await isolated.toolOfFreshGuest("iso_echo");
    expect(isolated.said()).toEqual(["started inside", "started inside"]);
    await expect(isolated.tool("iso_exit")).rejects.toThrow("exited during the call");
    await isolated.gateway.close({ keepState: true });
    expect(isolated.said()).toEqual(["started inside", "started inside"]);
  });

  test("may register nothing else, and is degraded with every reason", async () => {
    const isolated = await start({ isolation, config: { forbidden: true } });
    expect(isolated.record()).toMatchObject({ state: "degraded", code: "isolation-unsupported" });
    expect(isolated.record()?.diagnostics.map((d) => [d.code, d.message])).toEqual([
      ["isolation-unsupported", expect.stringContaining(`registerRpc is not possible with isolation "${isolation}"`)],
      ["isolation-unsupported", expect.stringContaining("a tap of the gate hook rpc.before is not possible")],
    ]);
    await expect(isolated.gateway.rpc("isolated.ping")).rejects.toThrow("unknown method");
  });
});
