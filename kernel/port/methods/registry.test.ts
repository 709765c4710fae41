import { describe, expect, test } from "vitest";
import { z } from "zod";
import { commonErrors } from "../../../sdk/errors.ts";
import type { MethodSpec } from "../../../sdk/protocol/methods/spec.ts";
import { protocolMethods } from "../../../sdk/protocol/methods.ts";
import type { OperatorScope, RpcCall, RpcMethod, Scope } from "../../../sdk/types/rpc.ts";
import { allMethods } from "../../../test/tools/protocol-tables.ts";
import { protocolErrors } from "../../errors.ts";
import { createHookBus } from "../../hooks/bus.ts";
import { createLogger, type LogRecord } from "../../process/logger.ts";
import { createMethodRegistry, toWireError } from "./registry.ts";

/** Rows of all plugins here; none of what every object has. */
const bundled: Readonly<Record<string, MethodSpec>> = Object.assign(
  Object.create(null),
  Object.fromEntries(Object.entries(allMethods).filter(([name]) => !Object.hasOwn(protocolMethods, name))),
);

function setup() {
  const logs: LogRecord[] = [];
  const logger = createLogger([(record) => logs.push(record)], Date.now, () => "info");
  const hooks = createHookBus(logger);
  const row = (name: string) =>
    name in bundled ? { scope: (bundled[name] as MethodSpec).scope, plugin: "some", isBundled: true } : undefined;
  return { logs, hooks, methods: createMethodRegistry({ hooks, logger, row }) };
}

const method = (name: string, change: Partial<RpcMethod<{ n?: number }>> = {}) =>
  ({
    method: name,
    scope: "read",
    params: z.strictObject({ n: z.number().optional() }),
    handler: () => ({ ran: name }),
    ...change,
  }) as RpcMethod;

function callOf(scopes: OperatorScope[], role: "operator" | "node" = "operator"): RpcCall {
  return {
    client: { connId: "c", clientId: "test", mode: "test", role, scopes, caps: [], remote: "127.0.0.1" },
    signal: new AbortController().signal,
    accept: () => undefined,
    subscribe: () => ({ dispose: () => undefined }),
    unsubscribe: () => undefined,
  };
}

describe("a plugin may not register", () => {
  test.each([
    ["a name under a prefix of the kernel", "config.set", "config"],
    ["an invented name under such a prefix", "gateway.explode", "gateway"],
    ["a name of another plugin", "weather.now", "demo"],
    ["a bare name", "weather", "demo"],
    ["a name of the language's objects", "toString", "demo"],
    ["a prototype name", "__proto__", "demo"],
    ["a constructor", "constructor", "demo"],
    ["a prototype name behind its own prefix", "demo.__proto__", "demo"],
    ["an empty verb", "demo.", "demo"],
    ["control characters", "demo.a\u0000b", "demo"],
  ])("%s: %s", (_, name, owner) => {
    const { methods } = setup();
    expect(() => methods.add(method(name, { scope: "admin" }), owner)).toThrow(`the name "${name}" is reserved for the protocol`);
    expect(methods.has(name)).toBe(false);
  });

  test.each<[string, Scope]>([
    ["agent", "read"],
    ["sessions.reset", "write"],
    ["sessions.delete", "approvals"],
    ["chat.send", "pairing"],
  ])("%s with scope %s, which is weaker than the protocol's", (name, scope) => {
    expect(() => setup().methods.add(method(name, { scope }), "demo")).toThrow(/is reserved for scope (write|admin) or stronger/);
  });

  test("what another plugin has", () => {
    const { methods } = setup();
    methods.add(method("agents.list"), "agents");
    expect(() => methods.add(method("agents.list"), "demo")).toThrow('rpc "agents.list" of plugin "demo" is taken by plugin "agents"');
  });
});

test.each<[string, Scope]>([
  ["agents.list", "read"],
  ["agents.list", "admin"],
  ["chat.send", "write"],
  ["demo.do-it", "read"],
])("a plugin may register %s with scope %s", (name, scope) => {
  const { methods } = setup();
  methods.add(method(name, { scope }), "demo");
  expect(methods.names()).toEqual([name]);
});

test("names are listed in order of registration without the hidden ones; a disposed method is unknown", async () => {
  const { methods } = setup();
  const b = methods.add(method("demo.b"), "demo");
  methods.add(method("demo.hidden", { hidden: true }), "demo");
  methods.add(method("demo.a"), "demo");
  expect(methods.names()).toEqual(["demo.b", "demo.a"]);

  b.dispose();

  await expect(methods.call("demo.b", {}, callOf(["operator.admin"]))).rejects.toThrow("unknown method: demo.b");
});

describe("who may call", () => {
  const all: OperatorScope[] = ["operator.read", "operator.write", "operator.approvals", "operator.pairing", "operator.admin"];
  const needs: Array<[Scope, OperatorScope[]]> = [
    ["read", ["operator.read", "operator.write", "operator.admin"]],
    ["write", ["operator.write", "operator.admin"]],
    ["approvals", ["operator.approvals", "operator.admin"]],
    ["pairing", ["operator.pairing", "operator.admin"]],
    ["admin", ["operator.admin"]],
  ];

  test.each(needs)("a method with scope %s: %j", async (scope, enough) => {
    const { methods } = setup();
    methods.add(method("demo.x", { scope }), "demo");
    for (const held of all) {
      const answer = methods.call("demo.x", {}, callOf([held]));
      if (enough.includes(held)) await expect(answer).resolves.toEqual({ ran: "demo.x" });
      else await expect(answer).rejects.toMatchObject({ code: "missing-scope", fields: { missingScope: `operator.${scope}` } });
    }
    await expect(methods.call("demo.x", {}, callOf([]))).rejects.toMatchObject({ code: "missing-scope" });
  });

  test("a method without a scope: administrators", async () => {
    const { methods } = setup();
    methods.add(method("demo.x", { scope: undefined as never }), "demo");
    await expect(methods.call("demo.x", {}, callOf(["operator.write"]))).rejects.toMatchObject({
      fields: { missingScope: "operator.admin" },
    });
    await expect(methods.call("demo.x", {}, callOf(["operator.admin"]))).resolves.toEqual({ ran: "demo.x" });
  });

  test("params that need more than the method: who has both", async () => {
    const { methods } = setup();
    methods.add(method("demo.x", { scopeFor: ({ n }) => (n === 1 ? "admin" : "read") }), "demo");
    await expect(methods.call("demo.x", { n: 0 }, callOf(["operator.read"]))).resolves.toEqual({ ran: "demo.x" });
    await expect(methods.call("demo.x", { n: 1 }, callOf(["operator.read"]))).rejects.toMatchObject({ code: "missing-scope" });
  });

  test("an operator's method: no node, whatever its scopes", async () => {
    const { methods } = setup();
    methods.add(method("demo.x"), "demo");
    await expect(methods.call("demo.x", {}, callOf(["operator.admin"], "node"))).rejects.toThrow("unauthorized role: node");
  });

  test("the scope is judged before the params", async () => {
    const { methods } = setup();
    methods.add(method("demo.x", { scope: "write" }), "demo");
    await expect(methods.call("demo.x", { bad: 1 }, callOf(["operator.read"]))).rejects.toMatchObject({ code: "missing-scope" });
  });
});

describe("around a handler", () => {
  test("a gate refuses before it runs, and after it the outcome is told", async () => {
    const { methods, hooks } = setup();
    let ran = 0;
    const ended: unknown[] = [];
    hooks.tap("rpc.before", {
      plugin: "guard",
      order: 0,
      fn: (e: { params: { n?: number } }) => (e.params.n === 1 ? { block: true, reason: "no" } : undefined),
    });
    hooks.tap("rpc.after", { plugin: "watch", order: 0, fn: (e: unknown) => ended.push(e) });
    const acted: unknown[] = [];
    hooks.tap("operator.acted", { plugin: "watch", order: 0, fn: (e: unknown) => acted.push(e) });
    methods.add(
      method("demo.x", {
        scope: "write",
        handler: ({ n }) => {
          ran += 1;
          if (n === 2) throw commonErrors.failed({ message: "asked to" });
          if (n === 3) throw new Error("a bug");
          return {};
        },
      }),
      "demo",
    );
    const call = (n: number) => methods.call("demo.x", { n }, callOf(["operator.admin"]));

    await expect(call(1)).rejects.toThrow("no (refused by plugin guard)");
    expect(ran).toBe(0);
    await call(0);
    await expect(call(2)).rejects.toThrow("asked to");
    await expect(call(3)).rejects.toThrow("a bug");

    expect(ended).toEqual([
      expect.objectContaining({ method: "demo.x", ok: true }),
      expect.objectContaining({ ok: false, code: "failed" }),
      expect.objectContaining({ ok: false, code: "internal" }),
    ]);
    expect(acted).toEqual([
      { method: "demo.x", params: { n: 0 }, client: expect.objectContaining({ clientId: "test" }), ok: true },
      expect.objectContaining({ params: { n: 2 }, ok: false, code: "failed" }),
      expect.objectContaining({ params: { n: 3 }, ok: false, code: "internal" }),
    ]);
  });

  test("a call that only reads is no act of an operator", async () => {
    const { methods, hooks } = setup();
    const acted: unknown[] = [];
    hooks.tap("operator.acted", { plugin: "watch", order: 0, fn: (e: unknown) => acted.push(e) });
    methods.add(method("demo.x"), "demo");
    await methods.call("demo.x", {}, callOf(["operator.admin"]));
    expect(acted).toEqual([]);
  });

  test("a foreign error is logged with its stack, one of ours is an ordinary answer", async () => {
    const { methods, logs } = setup();
    methods.add(
      method("demo.x", {
        handler: ({ n }) => {
          throw n ? new Error("a bug") : commonErrors.failed({ message: "no" });
        },
      }),
      "demo",
    );
    await expect(methods.call("demo.x", {}, callOf(["operator.read"]))).rejects.toThrow("no");
    expect(logs).toEqual([]);

    await expect(methods.call("demo.x", { n: 1 }, callOf(["operator.read"]))).rejects.toThrow("a bug");

    expect(logs).toMatchObject([{ level: "error", message: 'method demo.x of plugin "demo" failed' }]);
    expect(String(logs[0]?.fields?.error)).toContain("registry.test.ts");
  });
});

describe("on the wire", () => {
  test("a foreign error is UNAVAILABLE with its message only", () => {
    expect(toWireError(new Error("disk on fire"))).toEqual({ code: "UNAVAILABLE", message: "disk on fire" });
    expect(toWireError("just text")).toEqual({ code: "UNAVAILABLE", message: "just text" });
  });

  test("ours carry details, retry and nothing else", () => {
    expect(toWireError(commonErrors.busy({ secret: "x" }, { retryAfterMs: 1_000 }))).toEqual({
      code: "UNAVAILABLE",
      message: "too many requests are waiting; try again",
      details: { code: "BUSY" },
      retryable: true,
      retryAfterMs: 1_000,
    });
    expect(toWireError(protocolErrors.unknownMethod({ method: "a.b" }))).toEqual({
      code: "INVALID_REQUEST",
      message: "unknown method: a.b",
    });
  });
});

describe("a method in the table of a plugin", () => {
  const methodsWith = (isBundled: boolean) => {
    const logger = createLogger([]);
    const own = { plugin: "notes", scope: "write" as const, isBundled };
    const row = (name: string) => (["notes.list", "device.list"].includes(name) ? own : undefined);
    const down = () => ({ plugin: "notes", reason: "setup-failed: no" });
    return createMethodRegistry({ hooks: createHookBus(logger), logger, row, down });
  };

  test("may not be served with a weaker scope than it says", () => {
    expect(() => methodsWith(true).add(method("notes.list", { scope: "read" }), "notes")).toThrow(
      "is reserved for scope write or stronger",
    );
    expect(() => methodsWith(true).add(method("notes.list", { scope: "write" }), "notes")).not.toThrow();
  });

  test("may be served by another plugin only when it belongs to one that comes with svc", () => {
    expect(() => methodsWith(true).add(method("notes.list", { scope: "write" }), "demo")).not.toThrow();
    expect(() => methodsWith(false).add(method("notes.list", { scope: "write" }), "demo")).toThrow("is reserved for the protocol");
  });

  test("is its own alone below a name of the gateway", () => {
    expect(() => methodsWith(true).add(method("device.list", { scope: "write" }), "demo")).toThrow("is reserved for the protocol");
    expect(() => methodsWith(true).add(method("device.list", { scope: "write" }), "notes")).not.toThrow();
    expect(() => methodsWith(true).add(method("device.mine", { scope: "write" }), "notes")).toThrow("is reserved for the protocol");
    expect(() => methodsWith(false).add(method("device.list", { scope: "write" }), "notes")).toThrow("is reserved for the protocol");
  });

  test("says why it is not there to those who may call it, and to nobody else", async () => {
    const { call } = methodsWith(false);
    await expect(call("notes.list", {}, callOf(["operator.write"]))).rejects.toMatchObject({ code: "plugin-not-running" });
    await expect(call("notes.list", {}, callOf(["operator.read"]))).rejects.toMatchObject({ code: "missing-scope" });
  });
});
