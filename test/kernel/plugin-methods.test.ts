import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { method, usePluginGateway } from "./_plugin-gateway.ts";

const own = usePluginGateway();
type Row = { id: string; runtime: { state: string; lastReload?: object }; [key: string]: unknown };
const row = async (id: string) => {
  const { plugins } = await own.gateway.rpc<{ plugins: Row[] }>("plugins.list");
  return plugins.find((p) => p.id === id);
};
const manifest = { name: "Lamp", version: "1.0.0", contributes: { rpc: ["lamp.on"], tools: ["light"] }, permissions: ["net"] };
const setup = `${method("lamp.on", "true")} ctx.registerTool({ name: "light", description: "", input: z.object({}), run: () => "" });
  ctx.on("gateway.ready", () => undefined, { id: "greet" });`;

describe("plugins.list", () => {
  test("tells of each plugin what it is, how it runs and what its hooks do", async () => {
    await own.start({ plugins: [await own.write("lamp", { manifest, setup })] });
    const list = await own.gateway.rpc("plugins.list");
    expect(list).toMatchObject({ mutationAllowed: true, generation: expect.any(Number), diagnostics: [] });
    expect(await row("lamp")).toMatchObject({
      ...{ id: "lamp", name: "Lamp", version: "1.0.0", kind: ["tool"], origin: "config", installed: true, enabled: true, state: "enabled" },
      runtime: { state: "active", instance: 1, ms: expect.any(Number) },
      hooks: [{ hook: "gateway.ready", tap: "greet", state: "closed", failures: 0 }],
    });
    expect(await row("store")).toMatchObject({ origin: "bundled", enabled: false, state: "disabled" });
  });
});

describe("plugins.inspect", () => {
  test("tells where a plugin comes from and what it declares", async () => {
    const folder = await own.write("lamp", { manifest, setup });
    await own.start({ plugins: [folder] });
    expect(await own.gateway.rpc("plugins.inspect", { pluginId: "lamp" })).toMatchObject({
      ok: true,
      plugin: { id: "lamp", state: "enabled" },
      source: { origin: "config", installed: false },
      declared: { tools: ["light"], methods: ["lamp.on"], hooks: ["gateway.ready"], channels: [], providers: [] },
      permissions: ["net"],
    });
  });

  test("of an id that nobody has says so", async () => {
    await own.start({ plugins: [] });
    for (const [name, params] of Object.entries({ "plugins.inspect": {}, "plugins.setEnabled": { enabled: true } })) {
      await expect(own.gateway.rpc(name, { pluginId: "nobody", ...params })).rejects.toThrow("plugin not installed: nobody");
    }
  });
});

describe("plugins.setEnabled", () => {
  test("writes the config, switches the plugin in the running gateway, and tells everybody", async () => {
    await own.start({ plugins: [await own.write("lamp", { manifest, setup })] });
    const socket = await own.gateway.ws();

    expect(await own.gateway.rpc("plugins.setEnabled", { pluginId: "lamp", enabled: false })).toMatchObject({
      ok: true,
      plugin: { id: "lamp", enabled: false, state: "disabled" },
      restartRequired: false,
      warnings: [],
    });
    await expect(own.ask("lamp.on")).rejects.toThrow("unknown method");
    const { generation } = await socket.event("plugins.changed", ({ state }) => state === "disabled");
    expect(generation).toBeGreaterThan(0);
    expect(await own.gateway.rpc("config.get")).toMatchObject({ config: { plugins: { entries: { lamp: { enabled: false } } } } });

    await own.gateway.rpc("plugins.setEnabled", { pluginId: "lamp", enabled: true });
    expect(await own.ask("lamp.on")).toBe(true);
  });

  test("with a key does its work once: a repeat gets the first answer", async () => {
    await own.start({ plugins: [await own.write("lamp", { manifest, setup })] });
    const key = { pluginId: "lamp", idempotencyKey: "switch-1" };
    const first = await own.gateway.rpc("plugins.setEnabled", { ...key, enabled: false });
    await own.gateway.rpc("plugins.setEnabled", { pluginId: "lamp", enabled: true });
    expect(await own.gateway.rpc("plugins.setEnabled", { ...key, enabled: false })).toEqual(first);
    expect(await own.ask("lamp.on")).toBe(true);
  });

  test("is not allowed where the config may not be written, and the list says so", async () => {
    await own.start({ plugins: [await own.write("lamp", { manifest, setup })], env: { SVC_CONFIG_READONLY: "1" } });
    expect(await own.gateway.rpc("plugins.list")).toMatchObject({ mutationAllowed: false });
    await expect(own.gateway.rpc("plugins.setEnabled", { pluginId: "lamp", enabled: false })).rejects.toThrow(
      "SVC_CONFIG_READONLY=1 forbids every config write",
    );
  });

  test("warns when the plugin does not come up", async () => {
    const folder = await own.write("lamp", { setup: `throw new Error("no bulb");` });
    await own.start({ plugins: [folder], config: { plugins: { entries: { lamp: { enabled: false } } } } });

    const answer = await own.gateway.rpc("plugins.setEnabled", { pluginId: "lamp", enabled: true });

    expect(answer).toMatchObject({
      plugin: { state: "error", error: expect.stringContaining("no bulb") },
      warnings: [expect.stringContaining("no bulb")],
    });
  });
});

describe("plugins.reload", () => {
  test("replaces the named ones and says how each went", async () => {
    const plugins = [await own.write("lamp", { manifest, setup }), await own.write("bulb", {})];
    await own.start({ plugins });
    await own.write("bulb", { setup: `throw new Error("burnt");` });

    const answer = await own.gateway.rpc("plugins.reload", { plugins: [{ pluginId: "lamp" }, { pluginId: "bulb" }] });

    expect(answer).toMatchObject({
      pluginIds: ["lamp"],
      restartRequired: false,
      results: [
        { id: "lamp", status: "reloaded", ms: expect.any(Number) },
        { id: "bulb", status: "failed", error: expect.stringContaining("burnt") },
      ],
    });
    expect((await row("bulb"))?.runtime).toMatchObject({
      state: "active",
      code: "reload-failed",
      lastReload: { status: "failed", error: expect.stringContaining("burnt") },
    });
  });

  test.each([0, 65])("takes 1 to 64 plugins, not %i", async (count) => {
    await own.start({ plugins: [] });
    const plugins = Array.from({ length: count }, () => ({ pluginId: "lamp" }));
    await expect(own.gateway.rpc("plugins.reload", { plugins })).rejects.toThrow("invalid plugins.reload params");
  });

  test("finds a plugin that was not there at the start", async () => {
    await own.start({ plugins: [], config: { plugins: { entries: { newcomer: { enabled: true } } } } });
    await mkdir(join(own.gateway.stateDir, "plugins"), { mode: 0o700 });
    const folder = join(own.gateway.stateDir, "plugins", "newcomer");
    await mkdir(folder, { mode: 0o700 });
    await writeFile(join(folder, "svc.plugin.json"), `{ "id": "newcomer", "version": "1.0.0", "svc": { "api": "^1.0.0" } }`);
    await writeFile(
      join(folder, "index.ts"),
      `import { definePlugin } from "svc/sdk"; export default definePlugin({ id: "newcomer", version: "1.0.0", svc: { api: "^1.0.0" }, setup() {} });`,
    );

    expect(await own.reload("newcomer")).toMatchObject({ status: "enabled" });
    expect(own.record("newcomer")).toMatchObject({ state: "active", origin: "global" });

    await rm(folder, { recursive: true });
    expect(await own.reload("newcomer")).toMatchObject({ status: "disabled" });
    expect(await row("newcomer")).toBeUndefined();
    expect(await own.reload("nobody")).toMatchObject({ status: "failed", error: expect.stringContaining("no plugin of this id") });
  });
});

describe("plugins.dev", () => {
  test("loads a folder for this run, reloads it from then on, and refuses what is no plugin", async () => {
    await own.start({ plugins: [] });
    const folder = await own.write("lamp", { manifest, setup });

    expect(await own.gateway.rpc("plugins.dev", { path: folder })).toMatchObject({ ok: true, plugin: { id: "lamp", origin: "config" } });
    expect(await own.ask("lamp.on")).toBe(true);

    await own.write("lamp", { manifest, setup: setup.replace("true", "false") });
    expect((await own.reload("lamp")).status).toBe("reloaded");
    expect(await own.ask("lamp.on")).toBe(false);

    await expect(own.gateway.rpc("plugins.dev", { path: own.root })).rejects.toThrow("no plugin to load at");
    await expect(own.gateway.rpc("plugins.dev", { path: "lamp" })).rejects.toThrow("expected an absolute path");
  });
});

test("changing plugins takes an administrator; looking at them does not", async () => {
  await own.start({ plugins: [await own.write("lamp", { manifest, setup })] });
  const reader = await own.gateway.ws({ scopes: ["operator.read"] });

  expect(await reader.request("plugins.inspect", { pluginId: "lamp" })).toMatchObject({ ok: true });
  const changes = {
    "plugins.setEnabled": { pluginId: "lamp", enabled: false },
    "plugins.reload": { plugins: [{ pluginId: "lamp" }] },
    "plugins.dev": { path: "/somewhere" },
  };
  for (const [name, params] of Object.entries(changes)) await expect(reader.request(name, params)).rejects.toThrow("missing scope");
});

test("panels of plugins are listed with the method that loads them", async () => {
  const panel = `ctx.registerUiPanel({ id: "stats", label: "Stats", surface: "tab", kind: "data",
    load: async () => ({ title: "Lamp", blocks: [{ kind: "status", label: "bulb", value: "on", level: "ok" }] }) });
    ctx.registerUiPanel({ id: "draw", label: "Draw", surface: "widget", kind: "frame", methods: ["lamp.on"] });`;
  await own.start({ plugins: [await own.write("lamp", { manifest, setup: `${setup} ${panel}` })] });

  expect(await own.gateway.rpc("plugins.uiDescriptors")).toEqual({
    ok: true,
    descriptors: [
      { id: "stats", pluginId: "lamp", surface: "tab", label: "Stats", kind: "data", method: "lamp.ui.stats" },
      { id: "draw", pluginId: "lamp", surface: "widget", label: "Draw", kind: "frame", src: "index.html", methods: ["lamp.on"] },
    ],
  });
  expect(await own.gateway.rpc("lamp.ui.stats")).toMatchObject({ title: "Lamp", blocks: [{ value: "on" }] });
});

test("a data panel hears what it is about, calls no method of others, and goes with its plugin; clients are told", async () => {
  const panels = `const panel = (id, load) => ctx.registerUiPanel({ id, label: id, surface: "run", kind: "data", load });
    panel("echo", async ({ subject }) => ({ title: subject.runId ?? "none", blocks: [{ kind: "command", label: "x", method: "lamp.on" }] }));
    panel("thief", async () => ({ title: "x", blocks: [{ kind: "command", label: "x", method: "plugins.reload" }] }));
    panel("broken", async () => { throw new Error("no bulb"); });
    ctx.onReload({ prefixes: ["logging"], prepare: () => ({ apply() { panel("late", async () => ({ title: "x", blocks: [] })); }, discard() {} }) });`;
  await own.start({ plugins: [await own.write("lamp", { manifest, setup: `${setup} ${panels}` })] });
  const reader = await own.gateway.ws({ scopes: ["operator.read"] });
  const listed = async () =>
    (await reader.request<{ descriptors: Array<{ id: string }> }>("plugins.uiDescriptors")).descriptors.map((d) => d.id);

  expect(await reader.request("lamp.ui.echo", { runId: "r1" })).toMatchObject({ title: "r1", blocks: [{ method: "lamp.on" }] });
  await expect(reader.request("lamp.ui.echo", { run: "r1" })).rejects.toThrow("invalid lamp.ui.echo params");
  await expect(reader.request("lamp.ui.thief")).rejects.toThrow('at blocks.0.method: "plugins.reload" is no method of this plugin');
  await expect(reader.request("lamp.ui.broken")).rejects.toThrow('panel "broken" of plugin "lamp" failed: no bulb');
  const told = reader.event("plugins.changed", ({ pluginId }) => pluginId === undefined);
  await own.gateway.reload({ logging: { level: "debug" } });
  await told;
  expect(await listed()).toEqual(["echo", "thief", "broken", "late"]);
  await own.gateway.rpc("plugins.setEnabled", { pluginId: "lamp", enabled: false });
  expect(await listed()).toEqual([]);
  await expect(reader.request("lamp.ui.echo")).rejects.toThrow("missing scope");
});

test("a panel may be taken back and given again; one of the same id, or one too many, is refused and reported", async () => {
  const panels = `const panel = (id) => ctx.registerUiPanel({ id, label: "P", surface: "tab", kind: "frame" });
    const first = panel("p0"); panel("p0"); first.dispose(); for (let i = 0; i < 33; i++) panel("p" + i);`;
  await own.start({ plugins: [await own.write("lamp", { setup: panels })] });

  const { descriptors } = await own.gateway.rpc<{ descriptors: Array<{ id: string }> }>("plugins.uiDescriptors");
  expect(new Set(descriptors.map(({ id }) => id))).toEqual(new Set(Array.from({ length: 32 }, (_, i) => `p${i}`)));
  expect(own.record("lamp").diagnostics).toEqual([
    { code: "contribution-conflict", message: 'uiPanel "p0" of plugin "lamp" is taken by plugin "lamp"; rename one of them' },
    { code: "too-many-panels", message: 'plugin "lamp": panel "p32" is one more than the 32 a plugin may have' },
  ]);
});

test("a health check of a plugin is a part of health, under its name", async () => {
  const check = `ctx.registerHealthCheck({ id: "bulb", run: () => ({ ok: false, level: "warning", message: "flickers" }) });`;
  await own.start({ plugins: [await own.write("lamp", { setup: check })] });
  const health = await own.gateway.rpc("health", { probe: true });
  expect(health).toMatchObject({ ok: true, "plugin/lamp/bulb": { ok: false, message: "flickers" } });
});

test("plugins.reload.watch reloads a plugin when one of its files changes", async () => {
  const code = (word: string) => ({ setup: method("lamp.word", `"${word}"`) });
  await own.start({ plugins: [await own.write("lamp", code("old"))], config: { plugins: { reload: { watch: true } } } });

  await own.write("lamp", code("new"));

  await eventually(async () => (await own.ask("lamp.word")) === "new");
});
