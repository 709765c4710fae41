import { createTestGateway, eventually } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { hintFor, retryDelayMs } from "../../kernel/loader/faults.ts";
import { pluginCodes } from "../../sdk/types/plugin-record.ts";
import { method, usePluginGateway } from "./_plugin-gateway.ts";
import { sharedWithPlugins } from "./_plugins.ts";

const own = usePluginGateway();

test.each([
  [1, 5_000],
  [2, 10_000],
  [3, 20_000],
  [7, 300_000],
  [8, 300_000],
  [1_000, 300_000],
])("try %i of a plugin that asks to be tried later comes after %i ms", (attempt, ms) => {
  expect(retryDelayMs(attempt)).toBe(ms);
});

test("every code of a state comes with advice that names the plugin where it names a command", () => {
  for (const code of pluginCodes) expect(hintFor(code, "irc"), code).toEqual(expect.not.stringContaining("<id>"));
});

describe("a plugin whose start asks to be tried later", () => {
  const top = `import { RetryLater } from "svc/sdk";`;

  test("is retrying with nothing registered, then active; whoever needs it starts by itself after it", async () => {
    const shared = sharedWithPlugins({ tries: 0, disposed: 0 });
    const setup = `ctx.onDispose(() => { shared.disposed++; }); ${method("shy.word", `"here"`)}
      return { start() { if (++shared.tries < 3) throw new RetryLater("the server sleeps"); } };`;
    const plugins = [
      await own.write("shy", { top, setup, manifest: { provides: ["shy@1"] } }),
      await own.write("needy", { manifest: { requires: ["shy@1"] }, setup: method("needy.word", `"too"`) }),
    ];
    await own.start({ plugins, retryMs: 1_000 });

    expect(own.record("shy")).toMatchObject({
      state: "retrying",
      code: "retry-later",
      reason: expect.stringContaining("the server sleeps; try "),
    });
    expect(own.record("needy")).toMatchObject({
      state: "failed",
      code: "dependency-failed",
      reason: expect.stringMatching(/^plugin "shy" is retrying: ./),
    });
    await expect(own.ask("shy.word")).rejects.toThrow(`shy.word: plugin "shy" is not running: retry-later: `);

    await eventually(() => own.record("needy").state === "active");
    expect(own.record("shy").state).toBe("active");
    expect([shared.tries, shared.disposed]).toEqual([3, 2]);
    expect(await own.ask("needy.word")).toBe("too");
  });

  test("is tried at once by a reload, and not any more after it was switched off", async () => {
    const shared = sharedWithPlugins({ tries: 0 });
    const setup = `return { start() { shared.tries++; throw new RetryLater("not yet"); } };`;
    await own.start({ plugins: [await own.write("shy", { top, setup })], retryMs: 3_600_000 });
    expect(shared.tries).toBe(1);

    await own.reload("shy");
    expect(shared.tries).toBe(2);
    expect(own.record("shy").reason).toContain("try 3 in");

    await own.gateway.reload({ plugins: { entries: { shy: { enabled: false } } } });
    expect(own.record("shy").state).toBe("disabled");
    expect(shared.tries).toBe(2);
  });
});

test("a failed provider that is mended brings up those that needed it", async () => {
  const plugins = [
    await own.write("base", { manifest: { provides: ["base@1"] }, setup: `throw new Error("not today");` }),
    await own.write("user", { manifest: { requires: ["base@1"] } }),
    await own.write("above", { manifest: { dependencies: { user: "^1.0.0" } } }),
  ];
  await own.start({ plugins });
  expect(["base", "user", "above"].map((id) => own.record(id).code)).toEqual(["setup-failed", "dependency-failed", "dependency-failed"]);

  await own.write("base", { manifest: { provides: ["base@1"] } });
  expect(await own.reload("base")).toMatchObject({ status: "enabled" });

  await eventually(() => own.record("above").state === "active");
  expect(own.record("user").state).toBe("active");
});

test("a plugin that takes over a second to load is named in the log", async () => {
  await own.start({ plugins: [await own.write("sluggish", { setup: "await new Promise((resolve) => setTimeout(resolve, 1_050));" })] });
  expect(own.gateway.logs.filter((l) => l.fields?.slow).map((l) => l.message)).toEqual([
    expect.stringMatching(/^plugin "sluggish" took 1\d{3} ms to load$/),
  ]);
});

test.each([
  ["start", "start-timeout", { startTimeoutMs: 100 }, "return { start: () => new Promise(() => undefined) };"],
  ["a top-level await", "import-timeout", { setupTimeoutMs: 100 }, ""],
])("%s that never ends is given up after its limit", async (_, code, limits, setup) => {
  const top = code === "import-timeout" ? "await new Promise(() => undefined);" : "";
  await own.start({ plugins: [await own.write("endless", { top, setup })], config: { plugins: { entries: { endless: { limits } } } } });

  expect(own.record("endless")).toMatchObject({ state: "failed", code, hint: expect.any(String) });
});

test("a stop that never ends is given up after its limit, and the gateway stops", async () => {
  const plugin = await own.write("clinging", { setup: "return { stop: () => new Promise(() => undefined) };" });
  const gateway = await createTestGateway({
    plugins: [plugin],
    config: { plugins: { entries: { clinging: { limits: { stopTimeoutMs: 100 } } } } },
  });

  await gateway.close();

  expect(gateway.logs.map((l) => l.message)).toContainEqual(expect.stringContaining("stop did not finish within 0.1 s"));
});

test("each change of a state is told to the hook plugin.state and to clients", async () => {
  const shared = sharedWithPlugins({ moves: [] as string[] });
  const plugins = [
    await own.write("aa-listener", { setup: `ctx.on("plugin.state", (e) => { shared.moves.push(e.id + " " + e.from + " " + e.to); });` }),
    await own.write("watched", { manifest: { after: ["aa-listener"] } }),
  ];
  await own.start({ plugins });
  const socket = await own.gateway.ws();

  await own.gateway.reload({ plugins: { entries: { watched: { enabled: false } } } });

  await eventually(() => shared.moves.includes("watched stopping disabled"));
  expect(shared.moves.filter((m) => m.startsWith("watched"))).toEqual([
    "watched ready loading",
    "watched loading active",
    "watched active stopping",
    "watched stopping disabled",
  ]);
  const event = await socket.event("plugins.changed", ({ state }) => state === "disabled");
  expect(event).toMatchObject({ generation: expect.any(Number), pluginId: "watched" });
});

test("a registration that is refused later degrades a running plugin", async () => {
  const setup = `${method("late.go", `(ctx.registerTool({ name: "nope", description: "", input: z.object({}), run: () => "" }), 1)`)}`;
  await own.start({ plugins: [await own.write("late", { manifest: { contributes: { rpc: ["late.go"] } }, setup })] });
  expect(own.record("late").state).toBe("active");

  await own.ask("late.go");

  expect(own.record("late")).toMatchObject({ state: "degraded", code: "undeclared-contribution" });
  expect(own.record("late").diagnostics).toHaveLength(1);
});

test("two plugins that take one name: the first in load order has it, however slow it is, and both are named", async () => {
  const setup = `ctx.registerTool({ name: "find", description: "", input: z.object({}), run: () => ctx.id });`;
  const slowly = "await new Promise((resolve) => setTimeout(resolve, 200));";
  await own.start({ plugins: [await own.write("aa-first", { setup: slowly + setup }), await own.write("bb-second", { setup })] });

  expect(own.record("aa-first").state).toBe("active");
  expect(own.record("bb-second")).toMatchObject({ state: "degraded", code: "contribution-conflict" });
  expect(own.record("bb-second").reason).toBe('tool "find" of plugin "bb-second" is taken by plugin "aa-first"; rename one of them');
});

test.each(["config.peek", "exec.run", "update.now", "secrets.read", "plugins.mine", "device.take", "gateway.stop"])(
  "a method %s is refused to plugins",
  async (name) => {
    const id = name.split(".")[0] as string;
    await own.start({ plugins: [await own.write(id, { setup: method(name, "1") })] });

    expect(own.record(id).diagnostics).toMatchObject([{ code: "reserved-name" }]);
    await expect(own.ask(name)).rejects.toThrow("unknown method");
  },
);

test.each([{ bundled: ["store", "devices"] }, { bundled: ["store"] }])(
  "methods and events of device pairing are refused to plugins from elsewhere, beside $bundled",
  async ({ bundled }) => {
    const setup = `${method("device.pair.list", "[]").replace('"read"', '"pairing"')}
    ctx.on("health.collect", () => ctx.emit("device.pair.requested", {}));`;
    const manifest = { contributes: { rpc: ["device.pair.list"], events: ["device.pair.requested"] } };
    await own.start({ plugins: [...bundled, await own.write("pairing", { setup, manifest })] });

    expect(own.record("pairing").diagnostics).toMatchObject([{ code: "reserved-name" }]);
    await own.gateway.rpc("health", { probe: true });
    await eventually(() => own.gateway.logs.some((line) => JSON.stringify(line).includes("device.pair.requested")));
  },
);

test("a method of the protocol cannot be had with a weaker scope than there", async () => {
  const weak = `ctx.registerRpc({ method: "agent", scope: "read", params: z.object({}), handler: () => ({}) });`;
  await own.start({ plugins: [await own.write("weak", { setup: weak })] });
  expect(own.record("weak").diagnostics).toMatchObject([
    { code: "reserved-name", message: expect.stringContaining("scope write or stronger") },
  ]);
});

test("two plugins that take one path: the second is refused and both are named", async () => {
  const setup = `ctx.registerHttpRoute({ method: "GET", path: "/page", match: "exact", auth: "gateway", handler: () => new Response(ctx.id) });`;
  const plugins = [
    await own.write("first", { setup }),
    await own.write("second", { setup, manifest: { contributes: { http: ["*"] }, after: ["first"] } }),
  ];
  await own.start({ plugins });

  expect(await (await own.gateway.fetch("/page")).text()).toBe("first");
  expect(own.record("second")).toMatchObject({ state: "degraded", code: "route-conflict" });
  expect(own.record("second").reason).toBe('plugin "second": route /page overlaps that of plugin "first"');
});

test("the signal of a plugin is aborted when its stop begins, before stop runs", async () => {
  const shared = sharedWithPlugins({ seen: [] as boolean[] });
  const setup = "return { start() { shared.seen.push(ctx.signal.aborted); }, stop() { shared.seen.push(ctx.signal.aborted); } };";
  await own.start({ plugins: [await own.write("heeding", { setup })] });

  await own.gateway.reload({ plugins: { entries: { heeding: { enabled: false } } } });

  await eventually(() => shared.seen.length === 2);
  expect(shared.seen).toEqual([false, true]);
});
