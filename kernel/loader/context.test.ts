import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { SvcConfigInput } from "../../sdk/config/root.ts";
import type { Manifest, PluginOrigin } from "../../sdk/types/manifest.ts";
import { rootSchema } from "../config/root-schema.ts";
import { createHookBus } from "../hooks/bus.ts";
import { operatorLimitMs } from "../hooks/operator-limit.ts";
import { createMetricRegistry } from "../operations/metrics/registry.ts";
import { createTracer } from "../operations/tracer.ts";
import { createMethodRegistry } from "../port/methods/registry.ts";
import { createRouteTable } from "../port/routes.ts";
import { createLogger, type LogRecord } from "../process/logger.ts";
import { createActivation } from "./activation.ts";
import { createInstance } from "./context.ts";
import { createContributions } from "./contributions.ts";
import { maskConfig } from "./secret-paths.ts";

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-context-"));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(stateDir, { recursive: true, force: true });
});

interface Options {
  manifest?: Partial<Manifest>;
  origin?: PluginOrigin;
  config?: SvcConfigInput;
  id?: string;
}

function createHost(config: SvcConfigInput = {}) {
  const logs: LogRecord[] = [];
  const logger = createLogger([(record) => logs.push(record)]);
  const parsed = rootSchema.parse(config);
  const hooks = createHookBus(logger, { timeoutMs: (plugin, hook) => operatorLimitMs(parsed, plugin, hook) });
  const emitted: string[] = [];
  return {
    logs,
    emitted,
    hooks,
    contributions: createContributions(),
    methods: createMethodRegistry({ hooks, logger }),
    routes: createRouteTable(),
    reservedBy: (): string | undefined => undefined,
    emit: (event: string) => void emitted.push(event),
    isProtocolEvent: (event: string) => event === "agent",
    activation: createActivation(),
    metrics: createMetricRegistry(() => undefined),
    tracer: createTracer(),
    config: () => parsed,
    snapshot: () => maskConfig(parsed, []),
    secret: (path: string) => (path === "models.providers.acme.apiKey" ? "key-of-acme" : undefined),
    logger,
    clock: { now: Date.now, monotonic: () => performance.now() },
    stateDir,
    gatewayEnv: () => ({ env: {}, unresolved: [] }),
  };
}

function setup({ manifest = {}, origin = "config", config = {}, id = "demo" }: Options = {}, host = createHost(config)) {
  const whole: Manifest = { id, version: "1.0.0", svc: { api: "^1.0.0" }, ...manifest };
  const instance = createInstance(
    { id, version: "1.0.0", instance: 1, origin, root: "/x", order: 0, manifest: whole, config: {}, env: {} },
    host,
  );
  instance.open();
  return { ...instance, host, codes: () => instance.diagnostics.map((d) => d.code) };
}
test("everything a plugin has under way may listen to its end, and Node warns of no leak", async () => {
  const warned = vi.fn();
  process.on("warning", warned);
  const { signal } = setup().ctx;
  for (let i = 0; i < 11; i++) signal.addEventListener("abort", () => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", warned);
  expect(warned).not.toHaveBeenCalled();
});

const method = (name: string) => ({ method: name, scope: "read" as const, params: z.strictObject({}), handler: () => ({}) });
const route = (path: string, auth: "gateway" | "plugin" = "gateway") =>
  ({ method: "GET", path, match: "exact", auth, handler: () => new Response() }) as const;

describe("what the manifest does not list is refused and reported", () => {
  const tool = { name: "t", description: "", input: z.object({}), run: () => "" };

  test.each<[string, Partial<Manifest>, (ctx: ReturnType<typeof setup>["ctx"]) => unknown, string]>([
    ["a method", { contributes: { rpc: ["demo.a"] } }, (ctx) => ctx.registerRpc(method("demo.b")), 'rpc "demo.b"'],
    ["a route", { contributes: { http: ["/a"] } }, (ctx) => ctx.registerHttpRoute(route("/b")), 'http "/b"'],
    ["a tool", { contributes: { tools: ["other"] } }, (ctx) => ctx.registerTool(tool), 'tools "t"'],
    ["a tool by the back door", {}, (ctx) => ctx.contribute("tool", "t", tool), 'tools "t"'],
    ["a service by the back door", {}, (ctx) => ctx.contribute("service", "store@2", {}), 'services "store@2"'],
    ["a model provider by the back door", {}, (ctx) => ctx.contribute("modelProvider", "m", {}), 'modelProviders "m"'],
    ["a channel", {}, (ctx) => ctx.contribute("channel", "irc", {}), 'channels "irc"'],
  ])("%s", (_, manifest, register, what) => {
    const { ctx, diagnostics, host } = setup({ manifest });
    register(ctx);
    expect(diagnostics).toEqual([
      {
        code: "undeclared-contribution",
        message: expect.stringMatching(new RegExp(`^plugin "demo": ${what} is not listed in contributes`)),
      },
    ]);
    expect([host.methods.names(), host.routes.groups(), host.contributions.ownedBy("demo")]).toEqual([[], [], []]);
  });

  test("but points of a plugin's own making are free", () => {
    const { ctx, codes, host } = setup();
    ctx.contribute("thing", "one", 1);
    expect([codes(), host.contributions.ownedBy("demo")]).toEqual([[], ["thing/one"]]);
  });

  test("an event of the protocol is emitted by its owners only, others carry the plugin's name", () => {
    const owner = setup({ manifest: { contributes: { events: ["agent"] } } });
    owner.ctx.emit("agent", {});
    owner.ctx.emit("said", {});
    owner.ctx.emit("toString", {});
    expect(owner.host.emitted).toEqual(["agent", "plugin.demo.said", "plugin.demo.toString"]);
    expect(() => setup().ctx.emit("agent", {})).toThrow('events "agent" is not listed');
  });
});

describe("what needs a permission", () => {
  const manifest = { permissions: ["auth.provider" as const, "http.public" as const], contributes: { http: ["/open"] } };
  const use = ({ ctx }: ReturnType<typeof setup>) => {
    ctx.on("auth.identify", () => undefined);
    ctx.registerHttpRoute(route("/open", "plugin"));
  };

  test.each<[string, Options, string[]]>([
    ["is granted to bundled plugins that list it", { manifest, origin: "bundled" }, []],
    [
      "is not granted to bundled plugins that do not",
      { manifest: { ...manifest, permissions: [] }, origin: "bundled" },
      ["permission-missing", "permission-missing"],
    ],
    ["is not granted to others by listing it", { manifest }, ["permission-missing", "permission-missing"]],
    [
      "is granted to others by the operator",
      { manifest, config: { plugins: { entries: { demo: { grants: ["auth.provider", "http.public"] } } } } },
      [],
    ],
    [
      "is granted one by one",
      { manifest, config: { plugins: { entries: { demo: { grants: ["http.public"] } } } } },
      ["permission-missing"],
    ],
    [
      "is not granted by the operator alone",
      {
        manifest: { ...manifest, permissions: [] },
        config: { plugins: { entries: { demo: { grants: ["auth.provider", "http.public"] } } } },
      },
      ["permission-missing", "permission-missing"],
    ],
  ])("%s", (_, options, codes) => {
    const made = setup(options);
    use(made);
    expect(made.codes()).toEqual(codes);
  });
});

test("the second plugin to take a name is told who has it", () => {
  const host = createHost();
  const manifest = { contributes: { tools: ["search"] } };
  const tool = { name: "search", description: "", input: {}, run: () => "" };
  setup({ manifest, id: "first" }, host).ctx.contribute("tool", "search", tool);
  const second = setup({ manifest, id: "second" }, host);
  second.ctx.contribute("tool", "search", tool);
  expect(second.diagnostics).toEqual([
    { code: "contribution-conflict", message: 'tool "search" of plugin "second" is taken by plugin "first"; rename one of them' },
  ]);
});

test("the operator's hook limit beats the author's, and that of one hook the general one", async () => {
  const hang = () => new Promise<undefined>(() => undefined);
  const config = { plugins: { entries: { demo: { hooks: { timeoutMs: 7, timeouts: { "ws.connect": 5 } } } } } };
  const { ctx, host } = setup({ config });
  ctx.on("ws.connect", hang, { timeoutMs: 600_000 });
  ctx.on("rpc.before", hang, { timeoutMs: 600_000 });
  await host.hooks.run("ws.connect", {} as never);
  await host.hooks.run("rpc.before", {} as never);
  expect(host.logs.map((l) => l.message)).toEqual([
    expect.stringContaining("did not finish within 5 ms"),
    expect.stringContaining("did not finish within 7 ms"),
  ]);
});

describe("a service", () => {
  const provide = (host: ReturnType<typeof createHost>, value: unknown) => {
    const provider = setup({ id: "provider", manifest: { contributes: { services: ["memory@1"] } } }, host);
    provider.ctx.registerService("memory@1", value as never);
    return provider;
  };

  test("that nobody provides is unavailable, and comes and goes with its owner", async () => {
    const host = createHost();
    const user = setup({ id: "user" }, host);
    const use = () => user.ctx.service("memory@1");
    expect(use).toThrow(expect.objectContaining({ code: "service-unavailable" }));
    const provider = provide(host, { close: () => "closed" });
    const kept = use() as unknown as { close(): string };
    expect(kept.close()).toBe("closed");
    await provider.dispose();
    expect(use).toThrow(expect.objectContaining({ code: "service-unavailable" }));
    expect(() => kept.close()).toThrow(expect.objectContaining({ code: "service-unavailable" }));
  });

  test("kept by a plugin is one object that may be awaited and printed at any time", async () => {
    const host = createHost();
    const user = setup({ id: "user" }, host);
    const provider = provide(host, { parts: { say: () => 1 }, size: 3 });
    const handle = user.ctx.service("memory@1") as unknown as { parts: { say(): number }; size: number };
    expect(user.ctx.service("memory@1")).toBe(handle);
    expect([handle.parts.say(), handle.size, Object.keys(handle)]).toEqual([1, 3, ["parts", "size"]]);
    await provider.dispose();
    expect(await handle).toBe(handle);
  });

  test("counts calls under way against its provider, however deep", async () => {
    const host = createHost();
    let finish: (value: string) => void = () => undefined;
    const provider = provide(host, { deep: { slow: () => new Promise((resolve) => (finish = resolve)), now: () => 1 } });
    const { deep } = setup({ id: "user" }, host).ctx.service("memory@1") as never as { deep: { slow(): Promise<string>; now(): number } };
    const call = deep.slow();
    deep.now();
    expect(provider.leases.count()).toBe(1);
    finish("done");
    expect([await call, provider.leases.count()]).toEqual(["done", 0]);
  });
});

describe("secrets", () => {
  const config = { models: { providers: { acme: { baseUrl: "http://localhost", apiKey: "key-of-acme" } } } };

  test("are masked in the snapshot, which is frozen no less than the config", () => {
    const { ctx } = setup({ config });
    expect(ctx.snapshot().models.providers.acme).toMatchObject({ baseUrl: "http://localhost", apiKey: "__SVC_REDACTED__" });
  });

  test("are given for the paths the manifest lists, and for no others", () => {
    const { ctx } = setup({ config, manifest: { secrets: [{ path: "models.providers.*.apiKey" }] } });
    expect(ctx.secret("models.providers.acme.apiKey")).toBe("key-of-acme");
    expect(ctx.secret("models.providers.other.apiKey")).toBeUndefined();
    expect(() => ctx.secret("gateway.auth.token")).toThrow('secrets "gateway.auth.token" is not listed');
  });
});

describe("rows of its own", () => {
  const rows = () => {
    const kept = new Map<string, unknown>();
    const host = createHost();
    const value = {
      get: (plugin: string, key: string) => kept.get(`${plugin} ${key}`),
      set: async (plugin: string, key: string, v: unknown) => void kept.set(`${plugin} ${key}`, v),
      delete: async (plugin: string, key: string) => void kept.delete(`${plugin} ${key}`),
      list: (plugin: string) => [...kept].filter(([k]) => k.startsWith(`${plugin} `)).map(([key, v]) => ({ key, value: v })),
    };
    return { host, provide: () => host.contributions.add("kv", { id: "store", owner: "store", order: 0, value }), kept };
  };

  test("are the plugin's alone, and unavailable while nobody keeps them", async () => {
    const { host, provide, kept } = rows();
    const { ctx } = setup({}, host);
    await expect(ctx.kv.get("a")).rejects.toMatchObject({ code: "service-unavailable" });
    provide();
    await ctx.kv.set("a", { n: 1 });
    expect([await ctx.kv.get("a"), await setup({ id: "other" }, host).ctx.kv.get("a")]).toEqual([{ n: 1 }, undefined]);
    await ctx.kv.delete("a");
    expect(kept.size).toBe(0);
  });

  test.each([
    ["a key of 256 characters", "k".repeat(256), 1, true],
    ["a key of 257 characters", "k".repeat(257), 1, false],
    ["no key", "", 1, false],
    ["a key with half a character", "k\ud800", 1, false],
    ["64 KiB of JSON", "k", "x".repeat(64 * 1024 - 2), true],
    ["a byte more", "k", "x".repeat(64 * 1024 - 1), false],
    ["what is not JSON", "k", undefined, false],
  ])("take or refuse %s", async (_, key, value, isTaken) => {
    const { host, provide } = rows();
    provide();
    const set = setup({}, host).ctx.kv.set(key, value);
    await (isTaken ? set : expect(set).rejects.toMatchObject({ code: "kv-limit" }));
  });
});

describe("fetch", () => {
  test("names the plugin and ends with it", async () => {
    const seen: Array<{ agent: string | null; signal: AbortSignal }> = [];
    const host = createHost();
    const fetching = async (_: unknown, init: RequestInit = {}) => {
      seen.push({ agent: new Headers(init.headers).get("user-agent"), signal: init.signal as AbortSignal });
      return new Response("ok");
    };
    const { ctx, dispose } = setup({}, { ...host, fetch: fetching } as typeof host);
    await ctx.fetch("http://localhost/a");
    await ctx.fetch("http://localhost/b", { headers: { "User-Agent": "mine" }, signal: new AbortController().signal });
    expect(seen.map((s) => s.agent)).toEqual(["svc-plugin/demo", "mine"]);
    await dispose();
    expect(seen.map((s) => s.signal.aborted)).toEqual([true, true]);
    expect(() => ctx.fetch("http://localhost/c")).toThrow("used after it stopped");
  });
});

describe("request", () => {
  test("names the plugin, reads the proxies of its environment and ends with it", async () => {
    const server = createServer((req, res) => void (req.url === "/agent" && res.end(req.headers["user-agent"])));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const host = { ...createHost(), gatewayEnv: () => ({ env: { HTTPS_PROXY: `http://127.0.0.1:${port}` }, unresolved: [] }) };
    const { ctx, dispose } = setup({}, host);
    expect(await text((await ctx.request(`http://127.0.0.1:${port}/agent`)).body)).toBe("svc-plugin/demo");
    await expect(ctx.request("https://vendor.example/")).rejects.toMatchObject({ code: "proxy-failed" });
    const silent = expect(ctx.request(`http://127.0.0.1:${port}/silent`)).rejects.toMatchObject({ code: "plugin-disposed" });
    await once(server, "request");
    await dispose();
    await silent;
    await expect(ctx.request(`http://127.0.0.1:${port}/agent`)).rejects.toThrow("used after it stopped");
    server.closeAllConnections();
    server.close();
  });
});

describe("checks", () => {
  test("of health and of the doctor are reported under the plugin's name", async () => {
    const { ctx, host } = setup();
    ctx.registerHealthCheck({ id: "disk", run: () => ({ ok: false, level: "warning", message: "nearly full", fix: "empty it" }) });
    ctx.registerDoctorCheck({ id: "key", run: async () => ({ ok: true, level: "error", message: "fine" }) });
    expect(await host.hooks.run("health.collect", { deep: true })).toMatchObject([
      { part: "plugin/demo/disk", ok: false, message: "nearly full" },
    ]);
    expect(await host.hooks.run("doctor.collect", { deep: true })).toEqual([{ id: "plugin/demo/key", severity: "info", message: "fine" }]);
  });

  test("that answer nonsense are a finding themselves, not silence", async () => {
    const { ctx, host } = setup();
    const odd = { id: "oil", run: () => ({ ok: false, level: "warn", message: "low" }) as never };
    ctx.registerDoctorCheck(odd);
    ctx.registerHealthCheck(odd);
    const message = expect.stringContaining('check "oil" answered without {ok, level: "info" | "warning" | "error", message}');
    expect(await host.hooks.run("doctor.collect", { deep: true })).toMatchObject([{ id: "plugin/demo", severity: "error", message }]);
    expect(await host.hooks.run("health.collect", { deep: true })).toMatchObject([{ part: "demo", ok: false, message }]);
  });
});

describe("a refusal", () => {
  test("names its plugin once in the log", () => {
    const { ctx, host } = setup();
    ctx.registerRpc(method("demo.a"));
    expect(host.logs.map((line) => line.message)).toEqual([expect.stringMatching(/^plugin "demo": rpc "demo\.a" is not listed/)]);
  });
});

describe("a panel", () => {
  test("of data is loaded by a method named after it, and goes with the plugin", async () => {
    const { ctx, host, dispose } = setup();
    ctx.registerUiPanel({ id: "stats", label: "Stats", surface: "tab", kind: "data", load: async () => ({ title: "T", blocks: [] }) });
    ctx.registerUiPanel({ id: "frame", label: "Frame", surface: "widget", kind: "frame", methods: ["health"] });
    expect(host.methods.names()).toEqual(["demo.ui.stats"]);
    expect([...host.contributions.view("uiPanel")].map((c) => c.id)).toEqual(["demo/stats", "demo/frame"]);
    await dispose();
    expect([host.methods.names(), host.contributions.ownedBy("demo")]).toEqual([[], []]);
  });
});

test("its own folder is made when it is asked for, for its owner only", async () => {
  const { ctx } = setup();
  expect(ctx.stateDir).toBe(join(stateDir, "plugin-data", "demo"));
  expect((await stat(ctx.stateDir)).mode & 0o777).toBe(0o700);
});

describe("when a plugin ends", () => {
  test("everything is undone in reverse, once, and a failure stops nothing", async () => {
    const { ctx, dispose } = setup();
    const undone: string[] = [];
    ctx.onDispose(() => void undone.push("first"));
    ctx.onDispose(() => {
      throw new Error("cannot undo");
    });
    const early = ctx.onDispose(() => void undone.push("early"));
    ctx.onDispose(async () => void undone.push("last"));
    await early.dispose();
    await early.dispose();
    expect(ctx.signal.aborted).toBe(false);

    expect(await dispose()).toEqual(["cannot undo"]);
    expect(await dispose()).toEqual([]);

    expect(undone).toEqual(["early", "last", "first"]);
    expect(ctx.signal.aborted).toBe(true);
  });

  test("hooks, methods, routes, contributions and timers are gone", async () => {
    vi.useFakeTimers();
    const { ctx, dispose, host, codes } = setup({ manifest: { contributes: { rpc: ["demo.a"], http: ["/a"], tools: ["t"] } } });
    ctx.on("ws.connect", () => ({ block: true as const, reason: "x" }));
    ctx.registerRpc(method("demo.a"));
    ctx.registerHttpRoute(route("/a"));
    ctx.registerTool({ name: "t", description: "", input: {}, run: () => "" });
    ctx.timers.setInterval(() => undefined, 10);
    ctx.timers.setTimeout(() => undefined, 10_000);
    expect(codes()).toEqual([]);

    expect(await dispose()).toEqual([]);

    expect(host.hooks.isUsed("ws.connect")).toBe(false);
    expect([host.methods.names(), host.routes.groups(), host.contributions.ownedBy("demo")]).toEqual([[], [], []]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("it can register nothing any more, and what it registers meanwhile is undone too", async () => {
    const { ctx, dispose } = setup();
    const undone: string[] = [];
    ctx.onDispose(() => {
      ctx.onDispose(() => void undone.push("registered while ending"));
    });
    await dispose();
    expect(undone).toEqual(["registered while ending"]);
    const uses = [() => ctx.onDispose(() => undefined), () => ctx.on("ws.connect", () => undefined), () => ctx.emit("x", {})];
    for (const use of uses) expect(use).toThrow('plugin "demo": its context was used after it stopped');
  });

  test("a disposer that hangs is left behind after 5 s", async () => {
    const { ctx, dispose } = setup();
    const undone: string[] = [];
    ctx.onDispose(() => void undone.push("first"));
    ctx.onDispose(() => new Promise(() => undefined));
    vi.useFakeTimers();
    const disposed = dispose();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await disposed).toEqual(["a disposer did not finish within 5 s"]);
    expect(undone).toEqual(["first"]);
  });
});

describe("timers", () => {
  test("run, repeat, and end when told", () => {
    vi.useFakeTimers();
    const { ctx } = setup();
    const ran: string[] = [];
    ctx.timers.setTimeout(() => ran.push("once"), 10);
    const repeated = ctx.timers.setInterval(() => ran.push("again"), 20);
    vi.advanceTimersByTime(45);
    repeated.dispose();
    vi.advanceTimersByTime(100);
    expect(ran).toEqual(["once", "again", "again"]);
  });

  test("by the calendar run at their times and end with the plugin", async () => {
    vi.useFakeTimers({ now: new Date("2026-03-01T10:00:30") });
    const { ctx, dispose } = setup();
    const run = vi.fn();
    ctx.timers.cron("*/5 * * * *", run);
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(run).toHaveBeenCalledTimes(2);
    await dispose();
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect(run).toHaveBeenCalledTimes(2);
    expect(() => setup().ctx.timers.cron("every now and then", () => undefined)).toThrow();
  });

  test("that throw are logged and go on", () => {
    vi.useFakeTimers();
    const { ctx, host } = setup();
    ctx.timers.setInterval(() => {
      throw new Error("bad tick");
    }, 10);
    vi.advanceTimersByTime(20);
    expect(host.logs.map((l) => [l.level, l.message])).toEqual(Array(2).fill(["error", 'plugin "demo": a timer failed']));
  });

  test("that have run are forgotten, however many there were", async () => {
    vi.useFakeTimers();
    const { ctx, dispose } = setup();
    for (let i = 0; i < 1_000; i++) ctx.timers.setTimeout(() => undefined, 1);
    vi.advanceTimersByTime(1);
    let cleared = 0;
    // No spy: it would put the fake function back once more after the file, when the clock is real again.
    const { clearTimeout: fake } = globalThis;
    const counting = (id: NodeJS.Timeout) => [fake(id), cleared++];
    Object.assign(globalThis, { clearTimeout: counting });
    const disposed = dispose();
    await vi.runAllTimersAsync();
    await disposed;
    globalThis.clearTimeout = fake;
    expect(cleared).toBeLessThan(10);
  });
});
