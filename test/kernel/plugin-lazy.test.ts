import { fakeModel } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { method, usePluginGateway } from "./_plugin-gateway.ts";
import { sharedWithPlugins } from "./_plugins.ts";

const own = usePluginGateway();
const lazy = (activation: string[], more: object = {}) => ({
  contributes: { rpc: ["lazy.word"], http: ["/lazy"], tools: ["lazy_tool"], services: ["lazy@1"] },
  provides: ["lazy@1"],
  activation,
  ...more,
});
const setup = `shared.loads++; ${method("lazy.word", `"awake"`)}
  ctx.registerHttpRoute({ method: "GET", path: "/lazy", match: "prefix", auth: "gateway", handler: () => new Response("awake") });
  ctx.registerTool({ name: "lazy_tool", description: "", input: z.object({}), run: () => "awake" });
  ctx.registerService("lazy@1", { say: async () => "awake" });`;

describe("a plugin that is loaded on first use", () => {
  test("is ready until one of its methods is called, which is listed meanwhile; first uses share one load", async () => {
    const shared = sharedWithPlugins({ loads: 0 });
    await own.start({ plugins: [await own.write("lazy", { manifest: lazy(["rpc:lazy.*"]), setup })] });
    const client = await own.gateway.client();
    expect(own.record("lazy").state).toBe("ready");
    expect(client.hello?.features.methods).toContain("lazy.word");

    expect(await Promise.all([own.ask("lazy.word"), own.ask("lazy.word")])).toEqual(["awake", "awake"]);

    expect(shared.loads).toBe(1);
    expect(own.record("lazy").state).toBe("active");
  });

  test.each([
    ["a request below its path", ["http:/lazy"], async () => (await own.gateway.fetch("/lazy/deep")).text()],
    ["a call of its service by a plugin that only looked it up", ["service:lazy@1"], () => own.ask("user.say")],
    ["a look at its contribution point", ["tool:lazy_tool"], () => own.ask("user.tool")],
  ])("is loaded by %s", async (_, activation, use) => {
    const shared = sharedWithPlugins({ loads: 0 });
    const user = `${method("user.say", `await ctx.service("lazy@1").say()`)}
      ${method("user.tool", `(await ctx.contributions("tool").ready("lazy_tool"), ctx.contributions("tool").get("lazy_tool")?.value.run({}))`)}`;
    await own.start({
      plugins: [await own.write("lazy", { manifest: lazy(activation), setup }), await own.write("user", { setup: user })],
    });
    expect(shared.loads).toBe(0);

    expect(await use()).toBe("awake");
    expect(await use()).toBe("awake");

    expect(shared.loads).toBe(1);
  });

  test("is not loaded by uses its manifest does not name", async () => {
    const shared = sharedWithPlugins({ loads: 0 });
    await own.start({ plugins: [await own.write("lazy", { manifest: lazy(["tool:lazy_tool"]), setup })] });

    await expect(own.ask("lazy.word")).rejects.toThrow("unknown method");
    expect((await own.gateway.fetch("/lazy")).status).toBe(404);
    expect(shared.loads).toBe(0);
  });

  test("starts with the gateway when somebody who does cannot do without it", async () => {
    const shared = sharedWithPlugins({ loads: 0 });
    const plugins = [
      await own.write("lazy", { manifest: lazy(["rpc:lazy.*"]), setup }),
      await own.write("needy", { manifest: { requires: ["lazy@1"] } }),
    ];
    await own.start({ plugins });

    expect(shared.loads).toBe(1);
    expect(own.record("needy").state).toBe("active");
  });

  test("brings what it needs itself, which may be lazy too", async () => {
    sharedWithPlugins({ loads: 0 });
    const plugins = [
      await own.write("lazy", { manifest: lazy(["rpc:lazy.*"], { provides: [], requires: ["deeper@1"] }), setup }),
      await own.write("deeper", {
        manifest: { provides: ["deeper@1"], contributes: { services: ["deeper@1"] }, activation: ["service:deeper@1"] },
        setup: `ctx.registerService("deeper@1", {});`,
      }),
    ];
    await own.start({ plugins });
    expect(own.record("deeper").state).toBe("ready");

    expect(await own.ask("lazy.word")).toBe("awake");
    expect(own.record("deeper").state).toBe("active");
  });

  test("that fails at its first use is failed like any other, and its methods are gone", async () => {
    await own.start({ plugins: [await own.write("lazy", { manifest: lazy(["rpc:*"]), setup: `throw new Error("never");` })] });

    await expect(own.ask("lazy.word")).rejects.toThrow(`lazy.word: plugin "lazy" is not running: `);

    expect(own.record("lazy")).toMatchObject({ state: "failed", code: "setup-failed", reason: expect.stringContaining("never") });
    expect((await own.gateway.client()).hello?.features.methods).not.toContain("lazy.word");
  });

  test("can be switched off before it was ever used, and waits again when it is switched on", async () => {
    const shared = sharedWithPlugins({ loads: 0 });
    await own.start({ plugins: [await own.write("lazy", { manifest: lazy(["rpc:lazy.*"]), setup })] });

    await own.gateway.reload({ plugins: { entries: { lazy: { enabled: false } } } });
    await expect(own.ask("lazy.word")).rejects.toThrow("unknown method");
    await own.gateway.reload({ plugins: { entries: { lazy: { enabled: true } } } });
    expect(own.record("lazy").state).toBe("ready");

    expect(await own.ask("lazy.word")).toBe("awake");
    expect(shared.loads).toBe(1);
  });
});

test("a tool that is loaded on first use is offered to the model of a run", async () => {
  const shared = sharedWithPlugins({ loads: 0 });
  const model = fakeModel([{ toolCalls: [{ name: "lazy_tool", args: {} }] }, { text: "done" }]);
  await own.start({
    plugins: ["store", "agents", await own.write("lazy", { manifest: lazy(["tool:lazy_tool"]), setup })],
    models: [model],
  });
  expect(shared.loads).toBe(0);

  const handle = await own.gateway.service("agents@1").run({ message: "hi", trigger: "user", actor: { kind: "internal", scopes: [] } });

  expect(await handle.done).toMatchObject({ status: "ok", text: "done" });
  expect(shared.loads).toBe(1);
});
