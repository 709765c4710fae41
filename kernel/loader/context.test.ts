import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { rootSchema, type SvcConfigInput } from "../../sdk/config/root.ts";
import { createLogger, type LogRecord } from "../../sdk/host/logger.ts";
import type { Manifest, PluginOrigin } from "../../sdk/types/manifest.ts";
import { createContributions } from "../contributions.ts";
import { createHookBus } from "../hooks/bus.ts";
import { createMethodRegistry } from "../port/methods.ts";
import { createRouteTable } from "../port/routes.ts";
import { createInstance } from "./context.ts";

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
  const hooks = createHookBus(logger);
  const emitted: string[] = [];
  const parsed = rootSchema.parse(config);
  return {
    logs,
    emitted,
    hooks,
    contributions: createContributions(),
    methods: createMethodRegistry({ hooks, logger }),
    routes: createRouteTable(),
    emit: (event: string) => void emitted.push(event),
    config: () => parsed,
    logger,
    clock: { now: Date.now, monotonic: () => performance.now() },
    stateDir,
  };
}

function setup({ manifest = {}, origin = "config", config = {}, id = "demo" }: Options = {}, host = createHost(config)) {
  const whole: Manifest = { id, version: "1.0.0", svc: { api: "^1.0.0" }, ...manifest };
  const instance = createInstance({ id, version: "1.0.0", instance: 1, origin, root: "/x", order: 0, manifest: whole, config: {} }, host);
  return { ...instance, host, codes: () => instance.diagnostics.map((d) => d.code) };
}
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
    ["a service by the back door", {}, (ctx) => ctx.contribute("service", "store@1", {}), 'services "store@1"'],
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
    expect([host.methods.names(), host.routes.match("/b"), host.contributions.ownedBy("demo")]).toEqual([[], [], []]);
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
  const manifest = { permissions: ["hooks.prompt" as const, "http.public" as const], contributes: { http: ["/open"] } };
  const use = ({ ctx }: ReturnType<typeof setup>) => {
    ctx.on("prompt.build", () => undefined);
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
      { manifest, config: { plugins: { entries: { demo: { grants: ["hooks.prompt", "http.public"] } } } } },
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
        config: { plugins: { entries: { demo: { grants: ["hooks.prompt", "http.public"] } } } },
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
  setup({ manifest, id: "first" }, host).ctx.contribute("tool", "search", 1);
  const second = setup({ manifest, id: "second" }, host);
  second.ctx.contribute("tool", "search", 2);
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

test("a service that nobody provides is unavailable, and comes and goes with its owner", async () => {
  const host = createHost();
  const user = setup({ id: "user" }, host);
  const use = () => user.ctx.service("memory@1");
  expect(use).toThrow(expect.objectContaining({ code: "service-unavailable" }));
  const provider = setup({ id: "provider", manifest: { contributes: { services: ["memory@1"] } } }, host);
  const memory = { search: () => undefined } as never;
  provider.ctx.registerService("memory@1", memory);
  expect(use()).toBe(memory);
  await provider.dispose();
  expect(use).toThrow(expect.objectContaining({ code: "service-unavailable" }));
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
    ctx.contribute("tool", "t", 1);
    ctx.timers.setInterval(() => undefined, 10);
    ctx.timers.setTimeout(() => undefined, 10_000);
    expect(codes()).toEqual([]);

    expect(await dispose()).toEqual([]);

    expect(host.hooks.isUsed("ws.connect")).toBe(false);
    expect([host.methods.names(), host.routes.match("/a"), host.contributions.ownedBy("demo")]).toEqual([[], [], []]);
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
    const cleared = vi.spyOn(globalThis, "clearTimeout");
    const disposed = dispose();
    await vi.runAllTimersAsync();
    await disposed;
    expect(cleared.mock.calls.length).toBeLessThan(10);
    cleared.mockRestore();
  });
});
