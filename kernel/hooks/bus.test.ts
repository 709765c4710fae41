import { describe, expect, test } from "vitest";
import type { HookOptions } from "../../sdk/hook-taps.ts";
import type { HookName } from "../../sdk/hooks.ts";
import { createLogger, type LogRecord } from "../process/logger.ts";
import { createHookBus, type HookBusOptions, type TapFunction } from "./bus.ts";
import { running } from "./running.ts";

function setup(options: HookBusOptions = {}) {
  const logs: LogRecord[] = [];
  const bus = createHookBus(createLogger([(record) => logs.push(record)]), options);
  const tap = (
    hook: HookName,
    fn: (event: never, meta: never) => unknown,
    options: HookOptions & { plugin?: string; order?: number } = {},
  ) => bus.tap(hook, { plugin: options.plugin ?? "p", order: options.order ?? 0, fn: fn as TapFunction, options });
  return { bus, tap, logs };
}
const never = () => new Promise(() => undefined);
const boom = () => {
  throw new Error("boom");
};
const client = { connId: "c", clientId: "t", mode: "test", role: "operator", scopes: [], caps: [], remote: "" } as const;
const gateEvent = Object.freeze({ client, scopes: [] }) as never;
const query = (limit: number) => ({ agentId: "main", query: "router", limit });
const taken = (status: number) => ({ handled: true, response: new Response(null, { status }) });

describe("taps run", () => {
  test("by priority, then load order of their plugins, then order of registration", async () => {
    const { bus, tap } = setup();
    const ran: string[] = [];
    const note = (name: string) => () => void ran.push(name);
    tap("ws.connect", note("late plugin"), { order: 2 });
    tap("ws.connect", note("early plugin"), { order: 1 });
    tap("ws.connect", note("early plugin again"), { order: 1 });
    tap("ws.connect", note("urgent"), { order: 9, priority: 5 });
    tap("ws.connect", note("unimportant"), { order: 0, priority: -1 });

    await bus.run("ws.connect", gateEvent);

    expect(ran).toEqual(["urgent", "early plugin", "early plugin again", "late plugin", "unimportant"]);
    expect(bus.owners("ws.connect")).toHaveLength(5);
  });

  test("until they are disposed of; a call under way keeps the set it began with", async () => {
    const { bus, tap } = setup();
    let open: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      open = resolve;
    });
    const ran: string[] = [];
    tap("ws.connect", () => held);
    const second = tap("ws.connect", () => void ran.push("second"));

    const underWay = bus.run("ws.connect", gateEvent);
    second.dispose();
    second.dispose();
    tap("ws.connect", () => void ran.push("third"));
    open();
    await underWay;
    expect(ran).toEqual(["second"]);

    await bus.run("ws.connect", gateEvent);
    expect(ran).toEqual(["second", "third"]);
  });

  test("under the name of their plugin, so that late failures have an owner", async () => {
    const { bus, tap } = setup();
    let owner: unknown;
    tap("gateway.ready", async () => {
      await new Promise((resolve) => setImmediate(resolve));
      owner = running.getStore();
    });
    await bus.run("gateway.ready", { uptimeMs: 1 });
    expect(owner).toEqual({ plugin: "p", what: "gateway.ready" });
  });
});

test("a hook nobody taps is unused and answers neutrally", async () => {
  const { bus, tap } = setup();
  expect(bus.isUsed("ws.connect")).toBe(false);
  expect(await bus.run("ws.connect", gateEvent)).toEqual({ block: false });
  expect(await bus.run("http.request", {} as never)).toBeUndefined();
  expect(await bus.run("tool.before", { tool: "x", args: { a: 1 } } as never)).toEqual({ block: false, args: { a: 1 } });
  expect(await bus.run("memory.query", query(1))).toEqual(query(1));
  expect(await bus.run("health.collect", { deep: false })).toEqual([]);
  expect(await bus.run("gateway.ready", { uptimeMs: 1 })).toBeUndefined();

  const only = tap("ws.connect", () => undefined);
  expect(bus.isUsed("ws.connect")).toBe(true);
  only.dispose();
  expect(bus.isUsed("ws.connect")).toBe(false);
});

describe("a gate", () => {
  test("opens when nobody objects; null, undefined and an answer without a refusal are no objection", async () => {
    const { bus, tap } = setup();
    for (const value of [undefined, null, {}, { block: false }, { other: 1 }]) tap("ws.connect", () => value);
    expect(await bus.run("ws.connect", gateEvent)).toEqual({ block: false });
  });

  test("may revise what its table row allows, and the next check sees it", async () => {
    const { bus, tap } = setup();
    const seen: unknown[] = [];
    tap("tool.before", () => ({ args: { n: 2 }, tool: "other" }));
    tap("tool.before", ({ args, tool }: { args: unknown; tool: string }) => void seen.push(args, tool));

    const verdict = await bus.run("tool.before", { runId: "r", agentId: "a", sessionKey: "s", tool: "t", args: { n: 1 } });

    expect(verdict).toEqual({ block: false, args: { n: 2 } });
    expect(seen).toEqual([{ n: 2 }, "t"]);
  });

  test("closes at the first objection, names the plugin, and asks no further", async () => {
    const { bus, tap } = setup();
    let asked = false;
    tap("ws.connect", () => ({ block: true, reason: "not you" }), { plugin: "bouncer" });
    tap("ws.connect", () => {
      asked = true;
    });
    expect(await bus.run("ws.connect", gateEvent)).toEqual({ block: true, reason: "not you", plugin: "bouncer" });
    expect(asked).toBe(false);
  });

  test.each([
    ["throws", boom],
    ["rejects", async () => boom()],
    ["hangs", never],
    ["answers with text", () => "no"],
    ["answers with a number", () => 0],
    ["answers with a list", () => [{ block: false }]],
    ["refuses in a way nobody knows", () => ({ block: "yes" })],
  ])("stays closed, each time anew, when a check %s", async (_, fn) => {
    const { bus, tap, logs } = setup();
    tap("ws.connect", fn, { plugin: "weak", timeoutMs: 5 });
    for (let i = 0; i < 2; i++) {
      expect(await bus.run("ws.connect", gateEvent)).toEqual({ block: true, reason: 'a check of plugin "weak" failed', plugin: "weak" });
    }
    expect(logs).toHaveLength(2);
    expect(logs[0]).toMatchObject({ level: "warn", fields: { hook: "ws.connect", plugin: "weak" } });
  });
});

describe("a claim", () => {
  test("goes to the first who takes it; failures and refusals are passed over", async () => {
    const { bus, tap, logs } = setup();
    tap("http.request", boom);
    tap("http.request", never, { timeoutMs: 5 });
    tap("http.request", () => null);
    tap("http.request", () => ({ handled: false }));
    tap("http.request", () => ({ handled: true, response: "text" }));
    tap("http.request", () => ({ handled: "yes" }));
    tap("http.request", () => true);
    tap("http.request", () => taken(201), { plugin: "taker" });
    tap("http.request", () => taken(202));
    expect(await bus.run("http.request", {} as never)).toMatchObject({ handled: true, response: { status: 201 }, plugin: "taker" });
    expect(logs).toHaveLength(5);
  });
});

describe("a modify hook", () => {
  type Query = ReturnType<typeof query>;

  test("hands each tap what the one before returned; null and undefined keep the value", async () => {
    const { bus, tap } = setup();
    tap("memory.query", (e: Query) => ({ ...e, limit: e.limit + 1 }));
    tap("memory.query", () => null);
    tap("memory.query", () => undefined);
    tap("memory.query", async (e: Query) => ({ ...e, limit: e.limit * 10 }));
    expect(await bus.run("memory.query", query(1))).toEqual(query(20));
  });

  test.each([
    ["throws", boom],
    ["hangs", never],
    ["returns text", () => "text"],
    ["returns a list", () => []],
    ["loses a field", () => ({ query: "x" })],
    ["changes the type of a field", (e: Query) => ({ ...e, limit: "7" })],
  ])("keeps the value when a tap %s, and goes on", async (_, fn) => {
    const { bus, tap, logs } = setup();
    tap("memory.query", fn, { timeoutMs: 5 });
    tap("memory.query", (e: Query) => ({ ...e, limit: e.limit + 1 }));
    expect(await bus.run("memory.query", query(1))).toEqual(query(2));
    expect(logs).toHaveLength(1);
  });

  test("does not let a tap change what it was given, nor its lists", async () => {
    const { bus, tap } = setup();
    tap("memory.query", (e: { limit: unknown }) => {
      e.limit = "mine";
    });
    expect(await bus.run("memory.query", query(1))).toEqual(query(1));

    tap("memory.results", (e: { hits: unknown[] }) => void e.hits.push("mine"));
    expect(await bus.run("memory.results", { agentId: "main", query: "q", hits: [] })).toMatchObject({ hits: [] });
  });
});

describe("a sync hook", () => {
  const plan = { paths: ["a"], actions: [{ path: "a", reload: "hot" as const }] };
  type Plan = typeof plan;

  test("hands the value on like a modify hook, without waiting for anything", async () => {
    const { bus, tap } = setup();
    const order: string[] = [];
    tap("reload.plan", (e: Plan) => {
      order.push("tap");
      return { ...e, actions: [{ path: "a", reload: "restart" }] };
    });
    tap("reload.plan", boom);
    const outcome = bus.run("reload.plan", plan);
    order.push("caller");
    expect(await outcome).toEqual({ paths: ["a"], actions: [{ path: "a", reload: "restart" }] });
    expect(order).toEqual(["tap", "caller"]);
  });

  test("passes over a tap that wants to be waited for", async () => {
    const { bus, tap, logs } = setup();
    tap("reload.plan", async () => boom());
    expect(await bus.run("reload.plan", plan)).toEqual(plan);
    expect(logs[0]?.message).toContain("returned a promise");
  });

  test("names in the log who held everything up for over 50 ms", async () => {
    let now = 0;
    const { bus, tap, logs } = setup({ monotonic: () => now });
    const taking = (ms: number) => () => {
      now += ms;
    };
    tap("reload.plan", taking(50), { plugin: "quick" });
    tap("reload.plan", taking(51), { plugin: "slow" });
    await bus.run("reload.plan", plan);
    expect(logs.map((l) => l.message)).toEqual(['hook reload.plan: plugin "slow" took 51 ms; nothing else could run meanwhile']);
  });
});

describe("an observe hook", () => {
  test("is heard by all at the same time, and waits for all of them", async () => {
    const { bus, tap, logs } = setup();
    const heard: string[] = [];
    let open: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      open = resolve;
    });
    tap("gateway.ready", async () => {
      await held;
      heard.push("slow");
    });
    tap("gateway.ready", boom);
    tap("gateway.ready", () => {
      heard.push("fast");
      open();
    });
    await bus.run("gateway.ready", { uptimeMs: 1 });
    expect(heard).toEqual(["fast", "slow"]);
    expect(logs).toHaveLength(1);
  });
});

test("gateway.stopping is heard one after the other, by the last loaded first", async () => {
  const { bus, tap } = setup();
  const heard: string[] = [];
  const slowly = (name: string) => async () => {
    await new Promise((resolve) => setImmediate(resolve));
    heard.push(name);
  };
  tap("gateway.stopping", slowly("store"), { order: 0 });
  tap("gateway.stopping", boom, { order: 1 });
  tap("gateway.stopping", slowly("agents"), { order: 2 });
  await bus.run("gateway.stopping", { reason: "", deadlineMs: 1 });
  expect(heard).toEqual(["agents", "store"]);
});

describe("a collect hook", () => {
  test("gives every reported item, and an item that is not ok for each failure", async () => {
    const { bus, tap } = setup();
    tap("health.collect", (_, meta: { report(item: unknown): void }) => {
      meta.report({ part: "a", ok: true });
      meta.report({ part: "b", ok: true });
    });
    tap("health.collect", boom, { plugin: "broken" });
    tap("health.collect", never, { plugin: "stuck", timeoutMs: 5 });
    expect(await bus.run("health.collect", { deep: true })).toEqual([
      { part: "a", ok: true },
      { part: "b", ok: true },
      { part: "broken", ok: false, message: "boom" },
      { part: "stuck", ok: false, message: 'hook health.collect: plugin "stuck" did not finish within 5 ms' },
    ]);
  });
});

describe("the limit of a tap", () => {
  test("aborts the signal it was given, and what it does afterwards is nobody's failure", async () => {
    const { bus, tap } = setup();
    const late: unknown[] = [];
    const onRejection = (error: unknown) => late.push(error);
    process.on("unhandledRejection", onRejection);
    const aborted = new Promise<unknown>((resolve) => {
      tap(
        "gateway.ready",
        (_, meta: { signal: AbortSignal }) =>
          new Promise((_resolve, reject) => {
            meta.signal.addEventListener("abort", () => {
              resolve(meta.signal.reason);
              setImmediate(() => reject(new Error("too late")));
            });
          }),
        { timeoutMs: 5 },
      );
    });
    await bus.run("gateway.ready", { uptimeMs: 1 });
    expect(await aborted).toMatchObject({ code: "hook-failed" });
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", onRejection);
    expect(late).toEqual([]);
  });

  test.each([0, -5])("is at least a millisecond, not %s", async (timeoutMs) => {
    const { bus, tap } = setup();
    tap("ws.connect", () => undefined, { timeoutMs });
    expect(await bus.run("ws.connect", gateEvent)).toEqual({ block: false });
  });

  test("is at most ten minutes, not what overflows a timer into none at all", async () => {
    const { bus, tap } = setup();
    tap("ws.connect", () => new Promise((resolve) => setTimeout(resolve, 20)), { timeoutMs: 2 ** 40 });
    expect(await bus.run("ws.connect", gateEvent)).toEqual({ block: false });
  });

  test("ends with the emitter's own signal too", async () => {
    const { bus, tap } = setup();
    const own = new AbortController();
    let seen: AbortSignal | undefined;
    tap("gateway.ready", (_, meta: { signal: AbortSignal }) => {
      seen = meta.signal;
    });
    await bus.run("gateway.ready", { uptimeMs: 1 }, { signal: own.signal });
    own.abort();
    expect(seen?.aborted).toBe(true);
  });
});

describe("the operator's time-out", () => {
  test("beats the author's, and a change of it applies to the next call", async () => {
    let limitMs: number | undefined = 5;
    const { bus, tap } = setup({ timeoutMs: (plugin, hook) => (plugin === "p" && hook === "ws.connect" ? limitMs : undefined) });
    tap("ws.connect", () => new Promise((resolve) => setTimeout(resolve, 20)), { timeoutMs: 60_000 });
    expect(await bus.run("ws.connect", gateEvent)).toMatchObject({ block: true });
    limitMs = undefined;
    expect(await bus.run("ws.connect", gateEvent)).toEqual({ block: false });
  });
});

describe("a filter", () => {
  test("keeps a tap from being called for what it does not fit", async () => {
    const { bus, tap } = setup();
    const ran: string[] = [];
    tap("tool.after", () => void ran.push("of exec"), { filter: { tool: ["exec", "read"] } });
    tap("tool.after", () => void ran.push("of main"), { filter: { agentId: "main", sessionKeyPrefix: "agent:main:hook:" } });
    const event = { runId: "r", agentId: "main", sessionKey: "agent:main:hook:7", tool: "write", ok: true, ms: 1 };
    await bus.run("tool.after", event);
    await bus.run("tool.after", { ...event, tool: "read", agentId: "other" });
    expect(ran).toEqual(["of main", "of exec"]);
  });

  test("that can never fit is refused, so that a gate is not left open by mistake", () => {
    const { tap, bus } = setup();
    expect(() => tap("rpc.before", () => undefined, { filter: { tool: "exec" } })).toThrow("expected no filter");
    expect(() => tap("tool.before", () => undefined, { filter: { trigger: "user" } })).toThrow("expected agentId, sessionKeyPrefix, tool");
    expect(bus.isUsed("rpc.before")).toBe(false);
  });
});

describe("a tap that failed three times in a row within ten minutes", () => {
  const minute = 60_000;
  let now: number;
  const rested = () => {
    now = 0;
    const failing = { on: true };
    const moves: number[] = [];
    const parts = setup({ monotonic: () => now, onMoved: () => moves.push(now) });
    let calls = 0;
    parts.tap(
      "ws.connect",
      () => {
        calls += 1;
        if (failing.on) throw new Error(`no ${calls}`);
      },
      { plugin: "weak", id: "door" },
    );
    return { ...parts, failing, moves, calls: () => calls };
  };

  test("rests for five minutes; a gate of it refuses meanwhile, and says whose it is", async () => {
    const { bus, calls, moves } = rested();
    for (let i = 0; i < 5; i++) await bus.run("ws.connect", gateEvent);
    expect(calls()).toBe(3);
    expect(await bus.run("ws.connect", gateEvent)).toMatchObject({
      block: true,
      plugin: "weak",
      reason: expect.stringContaining('"weak"'),
    });
    expect(bus.records("weak")).toMatchObject([{ hook: "ws.connect", tap: "door", state: "open", failures: 3, lastError: "no 3" }]);
    expect(bus.records("weak")[0]?.until).toBeGreaterThan(Date.now() + 4 * minute);
    expect(bus.quarantined()).toMatchObject([{ id: "weak", hook: "ws.connect" }]);
    expect(moves).toEqual([0]);
  });

  test("gets one trial afterwards: a good one ends it, a bad one is five more minutes", async () => {
    const { bus, failing, calls } = rested();
    for (let i = 0; i < 3; i++) await bus.run("ws.connect", gateEvent);
    now = 5 * minute - 1;
    await bus.run("ws.connect", gateEvent);
    expect(calls()).toBe(3);

    now = 5 * minute;
    await bus.run("ws.connect", gateEvent);
    expect(calls()).toBe(4);
    expect(bus.records("weak")).toMatchObject([{ state: "open", failures: 4 }]);

    now = 10 * minute;
    failing.on = false;
    expect(await bus.run("ws.connect", gateEvent)).toEqual({ block: false });
    expect(bus.records("weak")).toMatchObject([{ state: "closed", failures: 0 }]);
    expect(bus.quarantined()).toEqual([]);
  });

  test("is passed over where it does not guard anything", async () => {
    const { bus, tap } = setup();
    let calls = 0;
    tap("memory.query", () => {
      calls += 1;
      boom();
    });
    for (let i = 0; i < 5; i++) expect(await bus.run("memory.query", query(1))).toEqual(query(1));
    expect(calls).toBe(3);

    tap("health.collect", boom, { plugin: "sick" });
    for (let i = 0; i < 3; i++) await bus.run("health.collect", { deep: false });
    expect(await bus.run("health.collect", { deep: false })).toEqual([
      { part: "sick", ok: false, message: "failed too often and is paused; its last error: boom" },
    ]);
  });

  test("each failure is counted against its plugin", async () => {
    const failed: string[] = [];
    const { bus, tap } = setup({ onFailure: (plugin) => failed.push(plugin) });
    tap("ws.connect", boom, { plugin: "weak" });
    tap("ws.connect", () => undefined, { plugin: "good" });
    await bus.run("ws.connect", gateEvent);
    expect(failed).toEqual(["weak"]);
  });

  test("a call the emitter gave up is nobody's failure", async () => {
    const { bus, tap, logs } = setup();
    const own = new AbortController();
    tap(
      "ws.connect",
      (_, { signal }: { signal: AbortSignal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", reject)),
    );
    const underWay = bus.run("ws.connect", gateEvent, { signal: own.signal });
    own.abort();
    await underWay;
    expect(bus.records("p")).toMatchObject([{ state: "closed", failures: 0 }]);
    expect(logs).toEqual([]);
  });
});

test("one cause has one trace through all it sets off", async () => {
  const { bus, tap } = setup();
  const traces: string[] = [];
  const note = (_: unknown, meta: { trace: string }) => void traces.push(meta.trace);
  tap("rpc.after", async (event, meta: { trace: string }) => {
    note(event, meta);
    await bus.run("gateway.ready", { uptimeMs: 1 });
  });
  tap("gateway.ready", note);
  await bus.run("rpc.after", { method: "m", ok: true, ms: 1 }, { runId: "run-7" });
  expect(traces).toEqual(["run-7", "run-7"]);
  await bus.run("gateway.ready", { uptimeMs: 1 });
  expect(traces[2]).not.toBe("run-7");
});
