import { describe, expect, test } from "vitest";
import type { HookName, HookOptions } from "../../sdk/hooks.ts";
import { createLogger, type LogRecord } from "../../sdk/host/logger.ts";
import { createHookBus, type TapFunction } from "./bus.ts";
import { running } from "./guard.ts";

function setup() {
  const logs: LogRecord[] = [];
  const bus = createHookBus(createLogger([(record) => logs.push(record)]));
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
const gateEvent = { client, scopes: [] } as never;

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
  expect(await bus.run("hello.snapshot", { sessionDefaults: { a: 1 } })).toEqual({ sessionDefaults: { a: 1 } });
  expect(await bus.run("health.collect", { deep: false })).toEqual([]);
  expect(await bus.run("gateway.ready", { uptimeMs: 1 })).toBeUndefined();

  const only = tap("ws.connect", () => undefined);
  expect(bus.isUsed("ws.connect")).toBe(true);
  only.dispose();
  expect(bus.isUsed("ws.connect")).toBe(false);
});

describe("a gate", () => {
  test("opens when nobody objects, and null, undefined and other values are no objection", async () => {
    const { bus, tap } = setup();
    for (const value of [undefined, null, {}, { block: false }, "no", 0]) tap("ws.connect", () => value);
    expect(await bus.run("ws.connect", gateEvent)).toEqual({ block: false });
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
  ])("stays closed, each time anew, when a check %s", async (_, fn) => {
    const { bus, tap, logs } = setup();
    tap("ws.connect", fn, { plugin: "weak", timeoutMs: 5 });
    for (let i = 0; i < 4; i++) {
      expect(await bus.run("ws.connect", gateEvent)).toEqual({ block: true, reason: 'a check of plugin "weak" failed', plugin: "weak" });
    }
    expect(logs).toHaveLength(4);
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
    tap("http.request", () => ({ handled: true, answer: 42 }), { plugin: "taker" });
    tap("http.request", () => ({ handled: true, answer: 43 }));
    expect(await bus.run("http.request", {} as never)).toEqual({ handled: true, answer: 42, plugin: "taker" });
    expect(logs).toHaveLength(2);
  });
});

describe("a modify hook", () => {
  const defaults = (n: unknown) => ({ sessionDefaults: { n } }) as never;

  test("hands each tap what the one before returned; null and undefined keep the value", async () => {
    const { bus, tap } = setup();
    tap("hello.snapshot", (e: { sessionDefaults: { n: number } }) => defaults(e.sessionDefaults.n + 1));
    tap("hello.snapshot", () => null);
    tap("hello.snapshot", () => undefined);
    tap("hello.snapshot", async (e: { sessionDefaults: { n: number } }) => defaults(e.sessionDefaults.n * 10));
    expect(await bus.run("hello.snapshot", defaults(1))).toEqual({ sessionDefaults: { n: 20 } });
  });

  test.each([
    ["throws", boom],
    ["hangs", never],
    ["returns text", () => "text"],
    ["returns a list", () => []],
  ])("keeps the value when a tap %s, and goes on", async (_, fn) => {
    const { bus, tap, logs } = setup();
    tap("hello.snapshot", fn, { timeoutMs: 5 });
    tap("hello.snapshot", (e: { sessionDefaults: { n: number } }) => defaults(e.sessionDefaults.n + 1));
    expect(await bus.run("hello.snapshot", defaults(1))).toEqual({ sessionDefaults: { n: 2 } });
    expect(logs).toHaveLength(1);
  });

  test("does not let a tap change what it was given", async () => {
    const { bus, tap } = setup();
    tap("hello.snapshot", (e: { sessionDefaults?: unknown }) => {
      e.sessionDefaults = "mine";
    });
    expect(await bus.run("hello.snapshot", defaults(1))).toEqual({ sessionDefaults: { n: 1 } });
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
