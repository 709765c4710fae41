import { definePlugin, type HookPreset } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway, type TestGatewayOptions } from "svc/sdk/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { fixture } from "./_fixtures.ts";

vi.setConfig({ testTimeout: 60_000 });

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

async function start(
  entry: Record<string, unknown>,
  plugins: NonNullable<TestGatewayOptions["plugins"]> = ["store", "agents", "memory-core", "model-recall"],
): Promise<TestGateway> {
  gateway = await createTestGateway({
    plugins: [...plugins, fixture("isolated")],
    config: { plugins: { entries: { isolated: { enabled: true, ...entry } } } },
    stragglerMs: 60_000, // a guest starts slowly on a busy machine
  });
  return gateway;
}
const record = () => gateway?.gateway.plugins().find((p) => p.id === "isolated");
const said = () => gateway?.logs.filter((l) => l.subsystem.endsWith("plugin/isolated")).map((l) => l.message);
const tool = (name: string, args: Record<string, unknown> = {}) =>
  (gateway as TestGateway).service("agents@1").invokeTool(name, args, {
    agentId: "main",
    sessionKey: "agent:main:main",
    actor: { kind: "operator", scopes: ["operator.admin"] },
    signal: new AbortController().signal,
  } as never);
/** The limit of a call covers the start of its guest; on a busy machine that start may outlast it, and the next call finds the guest ready. */
const toolOfFreshGuest = (name: string) => eventually(() => tool(name), 30_000);

describe.each(["worker", "process"] as const)("a plugin with isolation %s", (isolation) => {
  test("is active, serves its tools with its config, and stops in its place", async () => {
    await start({ isolation, config: { prefix: "apart: " } });
    expect(record()).toMatchObject({ state: "active", isolation, diagnostics: [] });
    expect(JSON.stringify(await tool("iso_echo", { text: "hi" }))).toContain("apart: hi 0");
    await gateway?.close({ keepState: true });
    expect(said()).toEqual(["started inside", "stopped inside"]);
  });

  test("checks its tools' input itself: none of its patterns runs in the gateway", async () => {
    await start({ isolation });
    expect(await tool("iso_pattern", { text: "aaa" })).toMatchObject({ content: [{ text: "aaa" }] });
    await expect(tool("iso_pattern", { text: "b" })).rejects.toMatchObject({
      code: "sandbox-invalid-input",
      message: expect.stringContaining("tool iso_pattern: its input does not fit: at text:"),
    });
  });

  test("is started again in the place of a guest that ended, and one that ended is not started for its stop", async () => {
    await start({ isolation });
    await expect(tool("iso_exit")).rejects.toThrow("exited during the call");
    await toolOfFreshGuest("iso_echo");
    expect(said()).toEqual(["started inside", "started inside"]);
    await expect(tool("iso_exit")).rejects.toThrow("exited during the call");
    await gateway?.close({ keepState: true });
    expect(said()).toEqual(["started inside", "started inside"]);
  });

  test("hears what it observes", async () => {
    await start({ isolation });
    await gateway?.service("agents@1").run({
      message: "hi",
      sessionKey: "agent:main:apart",
      trigger: "user",
      actor: { kind: "operator", scopes: ["operator.admin"] },
    } as never);
    await eventually(() => said()?.includes("saw agent:main:apart"));
  });

  test("may register nothing else, and is degraded with every reason", async () => {
    await start({ isolation, config: { forbidden: true } });
    expect(record()).toMatchObject({ state: "degraded", code: "isolation-unsupported" });
    expect(record()?.diagnostics.map((d) => [d.code, d.message])).toEqual([
      ["isolation-unsupported", expect.stringContaining(`registerRpc is not possible with isolation "${isolation}"`)],
      ["isolation-unsupported", expect.stringContaining("a tap of the gate hook rpc.before is not possible")],
    ]);
    await expect(gateway?.rpc("isolated.ping")).rejects.toThrow("unknown method");
  });

  test.each([
    ["loops for ever", "iso_loop", "did not finish within 5000 ms"],
    ["eats all memory", "iso_hog", "exited during the call"],
  ])("%s without hurting the gateway, and serves again afterwards", async (_what, name, reason) => {
    const running = await start({ isolation });
    let alive = true;
    const call = tool(name)
      .then(JSON.stringify, (error: Error) => error.message)
      .finally(() => {
        alive = false;
      });
    for (let i = 0; i < 20 && alive; i++) expect((await running.fetch("/healthz")).status).toBe(200);
    expect(await call).toContain(reason);
    expect(JSON.stringify(await toolOfFreshGuest("iso_echo"))).toContain("inside: nothing 0");
    expect(record()).toMatchObject({ state: "active" });
  });

  test("offers its preset with transforms that run inside", async () => {
    let preset: HookPreset | undefined;
    const reader = definePlugin({
      id: "preset-reader",
      version: "1.0.0",
      svc: { api: "^1.0.0" },
      setup: (ctx) => ({
        start() {
          preset = ctx.contributions<HookPreset>("hookPreset").get("iso")?.value;
        },
      }),
    });
    await start({ isolation }, [reader]);
    await gateway?.rpc("plugins.reload", { plugins: [{ pluginId: "preset-reader" }] });
    expect(preset?.mappings).toEqual([{ match: { path: "iso" } }]);
    expect(await preset?.transforms?.upper?.({ payload: "quiet" })).toBe("QUIET");
  });
});

test("only the process keeps files from it", async () => {
  await start({ isolation: "process" });
  expect(JSON.stringify(await tool("iso_passwd").catch((error: Error) => error.message))).toMatch(
    /Access to this API has been restricted|ERR_ACCESS_DENIED/,
  );
});
