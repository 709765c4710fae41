import { eventually } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { method, usePluginGateway } from "./_plugin-gateway.ts";
import { sharedWithPlugins } from "./_plugins.ts";

const own = usePluginGateway();
const entries = (value: Record<string, object>) => ({ plugins: { entries: value } });
const sees = (id: string) => method(`${id}.env`, `Object.fromEntries(["PLACE", "KEY"].map((name) => [name, ctx.env[name] ?? null]))`);

describe("ctx.env", () => {
  test("is the gateway's environment under the variables of the plugin's own entry, which no other plugin sees", async () => {
    await own.start({
      plugins: [await own.write("lamp", { setup: sees("lamp") }), await own.write("other", { setup: sees("other") })],
      env: { PLACE: "hall", KEY: "of-the-gateway" },
      config: entries({ lamp: { env: { KEY: "of-the-lamp" } } }),
    });
    expect(await own.ask("lamp.env")).toEqual({ PLACE: "hall", KEY: "of-the-lamp" });
    expect(await own.ask("other.env")).toEqual({ PLACE: "hall", KEY: "of-the-gateway" });
  });

  test("holds the variables of the config too, and cannot be written", async () => {
    const setup = `${sees("lamp")} ${method("lamp.write", `Reflect.set(ctx.env, "KEY", "other")`)}`;
    await own.start({ plugins: [await own.write("lamp", { setup })], config: { env: { vars: { PLACE: "config" } } } });
    expect(await own.ask("lamp.write")).toBe(false);
    expect(await own.ask("lamp.env")).toEqual({ PLACE: "config", KEY: null });
  });

  test("is new with a changed entry: the plugin is replaced, others are left alone", async () => {
    await own.start({
      plugins: [await own.write("lamp", { setup: sees("lamp") }), await own.write("other", {})],
      config: entries({ lamp: { env: { KEY: "first" } } }),
    });
    const other = own.record("other").instance;
    await own.gateway.reload(entries({ lamp: { env: { KEY: "second" } } }));
    expect(await own.ask("lamp.env")).toMatchObject({ KEY: "second" });
    expect(own.record("other").instance).toBe(other);
  });

  test("leaves a variable unset whose reference has no value: the gateway's of that name is another secret", async () => {
    await own.start({
      plugins: [await own.write("lamp", { setup: sees("lamp") })],
      env: { KEY: "of-the-gateway" },
      config: entries({ lamp: { env: { KEY: { source: "env", provider: "default", id: "NOWHERE" } } } }),
    });
    expect(await own.ask("lamp.env")).toMatchObject({ KEY: null });
  });

  test("is never logged, shown in the snapshot or told to clients", async () => {
    const canary = "canary-5d2f80aa41";
    const setup = `ctx.logger.info("my key is " + ctx.env.KEY); ${method("lamp.snapshot", "JSON.stringify(ctx.snapshot())")}`;
    await own.start({ plugins: [await own.write("lamp", { setup })], config: entries({ lamp: { env: { KEY: canary } } }) });

    expect(own.gateway.logs.map((line) => line.message)).toContain("my key is [redacted]");
    expect(JSON.stringify([own.gateway.logs, await own.ask("lamp.snapshot")])).not.toContain(canary);
    expect(JSON.stringify([await own.gateway.rpc("config.get"), await own.gateway.rpc("plugins.list")])).not.toContain(canary);
  });

  test.each(["worker", "process"] as const)("of a plugin that runs apart (%s) holds its own variables only", async (isolation) => {
    const shared = sharedWithPlugins({ answer: "" });
    const tool = `ctx.registerTool({ name: "look", description: "", input: z.object({}), run: () => JSON.stringify(ctx.env) });`;
    const caller = `return { async start() { const tool = ctx.contributions("tool").get("look"); shared.answer = await tool.value.run({}, { signal: ctx.signal }); } };`;
    await own.start({
      plugins: [
        await own.write("apart", { setup: tool, manifest: { contributes: { tools: ["look"] } } }),
        await own.write("caller", { setup: caller, manifest: { after: ["apart"] } }),
      ],
      env: { PLACE: "hall" },
      config: entries({ apart: { isolation, env: { KEY: "own" } } }),
    });
    await eventually(() => shared.answer !== "");
    expect(JSON.parse(shared.answer)).toEqual({ KEY: "own" });
  });
});
