import { definePlugin, type HookName, hooks, type PluginContext, z } from "svc/sdk";
import { createTestGateway, eventually, fakeClock, type TestGateway } from "svc/sdk/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { limits } from "../../sdk/protocol/frames.ts";
import { fixture } from "./_fixtures.ts";

let gateway: TestGateway;
afterEach(() => gateway?.close());

const plugin = (id: string, setup: (ctx: PluginContext) => void) =>
  definePlugin<unknown>({ id, version: "1.0.0", svc: { api: "^1.0.0" }, setup });
const never = () => new Promise(() => undefined);
const boom = () => {
  throw new Error("boom");
};

type Row = { id: string; state: string; runtime: { state: string; code?: string; reason?: string; hint?: string }; hooks?: unknown[] };
const rows = async () => (await gateway.rpc<{ plugins: Row[] }>("plugins.list")).plugins;
const row = async (id: string) => (await rows()).find((p) => p.id === id);
const restingTaps = async () => (await gateway.rpc<{ plugins: { quarantined: unknown[] } }>("health", { probe: true })).plugins.quarantined;

describe("a hostile tap", () => {
  test.each([
    ["throws", boom],
    ["rejects", async () => boom()],
    ["never resolves", never],
    ["answers with a number", () => 7],
    ["answers with text", () => "block"],
    ["answers with a function", () => boom],
  ])("of a gate that %s keeps the operation closed and everything else open", async (_, fn) => {
    gateway = await createTestGateway({
      plugins: [
        plugin(
          "hostile",
          (ctx) => void ctx.on("rpc.before", (({ method }: { method: string }) => (method === "status" ? fn() : undefined)) as never),
        ),
      ],
      config: { plugins: { entries: { hostile: { hooks: { timeouts: { "rpc.before": 20 } } } } } },
    });

    for (let i = 0; i < 5; i++) await expect(gateway.rpc("status")).rejects.toThrow(/"hostile"/);
    expect((await gateway.fetch("/healthz")).status).toBe(200);
    expect(gateway.gateway.plugins()[0]).toMatchObject({ id: "hostile", state: "active" });
  });

  test("of every observing and collecting hook of a gateway costs its own result and nothing else", async () => {
    const taps: HookName[] = [
      "gateway.ready",
      "plugin.state",
      "ws.connect",
      "ws.disconnect",
      "rpc.after",
      "health.collect",
      "config.validate",
    ];
    gateway = await createTestGateway({
      plugins: [
        plugin("hostile", (ctx) => {
          for (const hook of taps) if (hook !== "ws.connect") ctx.on(hook, boom);
          ctx.on("gateway.stopping", boom);
          ctx.on("hello.snapshot", boom);
          ctx.on("http.request", boom);
        }),
        plugin("honest", (ctx) => {
          ctx.on("health.collect", (_, meta) => meta.report({ part: "honest", ok: true, value: 1 }));
        }),
      ],
    });

    const health = await gateway.rpc("health");
    expect(health).toMatchObject({ ok: true, honest: 1, problems: { hostile: "boom" } });
  });

  test("that failed three times is shown as resting in health and in the list of plugins", async () => {
    gateway = await createTestGateway({ plugins: [plugin("noisy", (ctx) => void ctx.on("rpc.after", boom, { id: "counter" }))] });
    for (let i = 0; i < 3; i++) await gateway.rpc("status");

    const resting = await eventually(async () => {
      const taps = await restingTaps();
      return taps.length > 0 && taps;
    });
    expect(resting).toMatchObject([{ id: "noisy", hook: "rpc.after", tap: "counter", state: "open", failures: 3, lastError: "boom" }]);
    expect(await row("noisy")).toMatchObject({ hooks: [{ hook: "rpc.after", state: "open", until: expect.any(Number) }] });
  });

  test("of a gate that failed three times refuses until a trial succeeds", async () => {
    const clock = fakeClock();
    let fails = true;
    let calls = 0;
    gateway = await createTestGateway({
      clock,
      plugins: [
        plugin("moody", (ctx) => {
          ctx.on("rpc.before", ({ method }) => {
            if (method !== "status") return;
            calls += 1;
            if (fails) boom();
          });
        }),
      ],
    });
    const asked = () => gateway.rpc("status");

    for (let i = 0; i < 3; i++) await expect(asked()).rejects.toThrow('a check of plugin "moody" failed');
    const refusal = await asked().catch((error: Error) => error.message);
    expect(refusal).toContain('"moody" has failed too often and refuses until it recovers or the plugin is disabled');
    expect(refusal).not.toContain("boom");
    expect(calls).toBe(3);
    expect(gateway.gateway.hooks.records("moody")).toMatchObject([{ hook: "rpc.before", state: "open" }]);

    fails = false;
    await clock.advance(300_000);
    await expect(asked()).resolves.toMatchObject({ phase: "ready" });
    expect(await restingTaps()).toEqual([]);
    const told = gateway.logs.map((l) => l.message).filter((m) => m.includes("paused") || m.includes("recovered"));
    expect(told).toEqual([
      'hook rpc.before: plugin "moody" keeps failing and is paused for 5 minutes',
      'hook rpc.before: plugin "moody" has recovered and is called again',
    ]);
  });
});

test("the operator's time-outs of plugins.entries.<id>.hooks beat the author's, and a change of them applies at once", async () => {
  const limited = (timeoutMs: number) => ({
    plugins: { entries: { slow: { hooks: { timeoutMs: 60_000, timeouts: { "rpc.before": timeoutMs } } } } },
  });
  let let_go: () => void = () => undefined;
  const slow = plugin("slow", (ctx) => {
    ctx.on("rpc.before", ({ method }) => (method === "system-presence" ? new Promise<void>((resolve) => (let_go = resolve)) : undefined), {
      timeoutMs: 600_000,
    });
  });
  gateway = await createTestGateway({ plugins: [slow], config: limited(10) });
  await expect(gateway.rpc("system-presence")).rejects.toThrow('a check of plugin "slow" failed');

  await gateway.reload(limited(60_000));
  const asked = gateway.rpc("system-presence");
  await new Promise((resolve) => setTimeout(resolve, 30));
  let_go();

  await expect(asked).resolves.toEqual([expect.objectContaining({ mode: "gateway" })]);
});

test("twenty errors of a plugin within ten minutes degrade it: taps, timers and what it left behind count alike", async () => {
  gateway = await createTestGateway({
    plugins: [
      plugin("sloppy", (ctx) => {
        ctx.registerRpc({
          method: "sloppy.slip",
          scope: "read",
          params: z.strictObject({}),
          handler: () => {
            ctx.timers.setTimeout(boom, 0);
            return {};
          },
        });
      }),
    ],
  });
  for (let i = 0; i < 19; i++) await gateway.rpc("sloppy.slip");
  await eventually(() => gateway.logs.filter((l) => l.message === 'plugin "sloppy": a timer failed').length === 19);
  expect(await row("sloppy")).toMatchObject({ runtime: { state: "active" } });

  gateway.gateway.faults.failed("sloppy");

  expect(await row("sloppy")).toMatchObject({ runtime: { state: "degraded", code: "too-many-errors" } });
  await expect(gateway.rpc("sloppy.slip")).resolves.toEqual({});
});

test("a plugin that blocks the event loop three times within a minute is named each time and then degraded", async () => {
  gateway = await createTestGateway({ plugins: [plugin("greedy", () => undefined)] });
  const stall = { ms: 250, owner: { plugin: "greedy", what: "rpc.after" }, stack: ["spin index.ts:7"] };

  gateway.gateway.faults.blocked(stall);
  gateway.gateway.faults.blocked(stall);
  gateway.gateway.faults.blocked({ ...stall, owner: { plugin: "greedy", what: "import" } });
  expect(await row("greedy")).toMatchObject({ runtime: { state: "active" } });
  gateway.gateway.faults.blocked(stall);

  expect(await row("greedy")).toMatchObject({ runtime: { state: "degraded", code: "blocks-event-loop" } });
  const warnings = gateway.logs.filter((l) => l.message === 'the event loop was blocked for 250 ms by plugin "greedy" (rpc.after)');
  expect(warnings).toHaveLength(3);
});

test("after the event loop stood still for ten seconds health is not ok, for five minutes", async () => {
  const clock = fakeClock();
  gateway = await createTestGateway({ clock, plugins: [] });

  gateway.gateway.faults.blocked({ ms: 9_999, stack: [] });
  expect(await gateway.rpc("health", { probe: true })).toMatchObject({ ok: true });
  gateway.gateway.faults.blocked({ ms: 10_000, stack: [] });
  const sick = await gateway.rpc("health", { probe: true });
  await clock.advance(300_000);

  expect(sick).toMatchObject({ ok: false, problems: { eventLoopStall: expect.stringContaining("10000 ms") } });
  expect(await gateway.rpc("health", { probe: true })).toMatchObject({ ok: true });
});

test("gateway.resumed tells that the process stood still for more than 30 seconds", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
  try {
    const gaps: number[] = [];
    gateway = await createTestGateway({
      plugins: [plugin("waker", (ctx) => void ctx.on("gateway.resumed", ({ gapMs }) => void gaps.push(gapMs)))],
    });

    vi.advanceTimersByTime(limits.tickIntervalMs);
    expect(gaps).toEqual([]);
    vi.setSystemTime(Date.now() + 8 * 3_600_000);
    vi.advanceTimersByTime(limits.tickIntervalMs);
    await eventually(() => gaps.length === 1);

    expect(gaps[0]).toBeGreaterThanOrEqual(8 * 3_600_000 - limits.tickIntervalMs);
    expect(gateway.logs.some((l) => l.message.startsWith("the process stood still for "))).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test("doctor.collect gives gateway.doctor its findings, the worst first; a check that fails is one itself", async () => {
  gateway = await createTestGateway({
    plugins: [
      plugin("checker", (ctx) => {
        ctx.on("doctor.collect", ({ deep }, meta) => {
          meta.report({ id: "checker/depth", severity: "info", message: `deep: ${deep}` });
          meta.report({ id: "checker/disk", severity: "warning", message: "little space", fix: "remove something", fixable: true });
          meta.report({ severity: "error" });
        });
      }),
      plugin("broken", (ctx) => void ctx.on("doctor.collect", boom)),
    ],
  });

  expect(await gateway.rpc("gateway.doctor", { deep: true })).toEqual({
    findings: [
      { id: "plugin/broken", severity: "error", message: "boom" },
      { id: "checker/disk", severity: "warning", message: "little space", fix: "remove something", fixable: true },
      { id: "checker/depth", severity: "info", message: "deep: true" },
    ],
  });
});

test("a hook that needs permissions is refused to a plugin without them, and reported by name", async () => {
  const guarded = (Object.keys(hooks) as HookName[]).filter((name) => hooks[name].permissions.length > 0);
  const definition = plugin("curious", (ctx) => {
    for (const name of guarded) ctx.on(name, () => undefined);
  });
  const granted = guarded.flatMap((name) => hooks[name].permissions);
  const manifest = { id: "curious", version: "1.0.0", svc: { api: "^1.0.0" } };
  gateway = await createTestGateway({ plugins: [{ definition, manifest }] });
  const bus = gateway.gateway.hooks;

  expect(guarded).toContain("agent.before");
  expect(hooks["agent.before"].permissions).toEqual(["hooks.conversation", "hooks.gate"]);
  expect(guarded.filter((name) => bus.isUsed(name))).toEqual([]);
  const { diagnostics } = gateway.gateway.plugins().find((p) => p.id === "curious") ?? { diagnostics: [] };
  expect(diagnostics.map((d) => d.code)).toEqual(guarded.map(() => "permission-missing"));
  expect(new Set(granted)).toEqual(new Set(["auth.provider", "hooks.conversation", "hooks.prompt", "hooks.gate"]));
});

test("a tap of a hook that does not exist is refused by its name", async () => {
  gateway = await createTestGateway({ plugins: [plugin("hopeful", (ctx) => void ctx.on("no.such.hook" as HookName, () => undefined))] });
  expect(await row("hopeful")).toMatchObject({
    runtime: { state: "degraded", code: "unknown-hook", reason: expect.stringContaining('"no.such.hook"') },
  });
});

test("a filter that can never fit refuses the registration and is reported", async () => {
  gateway = await createTestGateway({
    plugins: [plugin("careless", (ctx) => void ctx.on("rpc.before", () => ({ block: true, reason: "no" }), { filter: { tool: "exec" } }))],
  });
  expect(await row("careless")).toMatchObject({ runtime: { state: "degraded", code: "hook-filter" } });
});

describe("no plugin takes the others down, and none is passed over in silence", () => {
  test("one with bad config, one that throws at load and one that hangs leave the gateway ready", async () => {
    gateway = await createTestGateway({
      plugins: [fixture("throws-at-load"), fixture("hangs-in-setup"), fixture("leaky")],
      stragglerMs: 50,
      config: { plugins: { entries: { leaky: { config: { greeting: 7 } } } } },
    });

    expect((await gateway.fetch("/readyz")).status).toBe(200);
    expect(await gateway.rpc("health")).toMatchObject({ ok: true, phase: "ready" });
    expect(await row("leaky")).toMatchObject({ runtime: { state: "failed", code: "config-invalid" } });
    expect(await row("throws-at-load")).toMatchObject({ runtime: { state: "failed", code: "import-failed" } });
    expect(await row("hangs-in-setup")).toMatchObject({ runtime: { state: "loading" } });
  });

  test("each that is enabled and does not run says why and what to do, in the list and in the log", async () => {
    const broken = ["throws-at-load", "throws-in-setup", "needs-missing", "cycle-a", "cycle-b"];
    gateway = await createTestGateway({ plugins: [...broken.map(fixture), fixture("undeclared")] });

    for (const id of broken) {
      const { runtime } = (await row(id)) as Row;
      expect(runtime, id).toMatchObject({
        state: "failed",
        code: expect.any(String),
        reason: expect.any(String),
        hint: expect.any(String),
      });
      expect(
        gateway.logs.some((l) => l.level === "error" && l.message.includes(`"${id}"`)),
        id,
      ).toBe(true);
    }
    expect((await row("undeclared"))?.runtime).toMatchObject({ state: "degraded", code: "undeclared-contribution" });
    expect(gateway.gateway.summary()).toMatch(/^plugins: .*5 failed \(.*cycle-a: cycle.*\)/);
  });
});
