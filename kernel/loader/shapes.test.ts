import { describe, expect, test } from "vitest";
import { z } from "zod";
import { shapeProblem } from "./shapes.ts";

const fn = () => undefined;
const good: Record<string, Record<string, unknown>> = {
  channel: {
    id: "irc",
    meta: { label: "IRC" },
    capabilities: { chatTypes: ["direct"], multiAccount: false },
    config: { list: fn, resolve: fn, inspect: fn },
    start: fn,
    send: fn,
    target: { normalize: fn, format: fn },
    text: { limit: 400, unit: "bytes", render: fn },
  },
  check: { id: "disk", run: fn },
  embeddingAdapter: { id: "e", transport: "local", defaultModel: "m", create: fn },
  hookPreset: { id: "ci", mappings: [{ match: { path: "ci" } }] },
  http: { method: "GET", path: "/a", match: "exact", auth: "gateway", handler: fn },
  kv: { get: fn, set: fn, delete: fn, list: fn },
  memoryBackend: { id: "b", search: fn, get: fn, status: fn, sync: fn, close: fn },
  modelProvider: { id: "m", models: fn, available: fn, stream: fn },
  reload: { prefixes: ["models"], prepare: fn },
  rpc: { method: "demo.a", scope: "read", params: z.object({}), handler: fn },
  tool: { name: "find", description: "", input: z.object({}), run: fn },
  uiPanel: { id: "p", label: "P", surface: "tab", kind: "data", load: fn },
};
const kinds = Object.entries(good);

describe.each(kinds)("a registration of kind %s", (kind, value) => {
  test("is taken when it is complete, from a class as well", () => {
    class Made {}
    Object.assign(Made.prototype, value);
    expect([shapeProblem(kind, value), shapeProblem(kind, new Made())]).toEqual([undefined, undefined]);
  });

  test.each(Object.keys(value))("is refused by name without its %s, and with null there", (key) => {
    const { [key]: _, ...rest } = value;
    // Without a scope a method is for administrators.
    if (`${kind}.${key}` !== "rpc.scope") expect(shapeProblem(kind, rest)).toContain(`at ${key}`);
    expect(shapeProblem(kind, { ...value, [key]: null })).toContain(`at ${key}`);
  });

  test.each([null, undefined, 0, "text", [], fn])("is refused when it is %s", (odd) => {
    expect(shapeProblem(kind, odd)).toBeTypeOf("string");
  });
});

const frame = { kind: "frame", load: undefined };

test.each<[string, object, string]>([
  ["http", { auth: "none" }, "at auth"],
  ["http", { method: [] }, "at method"],
  ["http", { path: "a" }, "at path"],
  ["http", { path: "/a/" }, "at path"],
  ["http", { scope: "operator.none" }, "at scope"],
  ["http", { onError: 1 }, "at onError"],
  ["reload", { prefixes: "models" }, "at prefixes"],
  ["reload", { prefixes: [1] }, "at prefixes.0"],
  ["rpc", { scope: "none" }, "at scope"],
  ["rpc", { params: {} }, "at params"],
  ["tool", { name: "Find it" }, "at name"],
  ["tool", { input: { type: "wat" } }, "at input"],
  ["tool", { input: { type: "string", pattern: "(" } }, "at input"],
  ["tool", { input: { $ref: "#/$defs/none" } }, "at input"],
  ["uiPanel", { methods: [1] }, "at methods.0"],
  ["uiPanel", { load: undefined }, "at load"],
  ["uiPanel", { id: "a.b" }, "at id"],
  ["uiPanel", { id: "../x" }, "at id"],
  ["uiPanel", { label: "" }, "at label"],
  ["uiPanel", { label: "x".repeat(81) }, "at label"],
  ["uiPanel", { icon: "<svg>" }, "at icon"],
  ["uiPanel", { src: "index.html" }, "at src"],
  ["uiPanel", { methods: ["demo.x"] }, "at methods"],
  ["uiPanel", { kind: "frame" }, "at load"],
  ["uiPanel", { ...frame, methods: ["demo..x y"] }, "at methods.0"],
  ["uiPanel", { ...frame, methods: Array(33).fill("demo.x") }, "at methods"],
  ...[
    "",
    "/index.html",
    "../index.html",
    "a/../b.html",
    ".x.html",
    "a//b.html",
    "a\\b.html",
    "a%2f.html",
    "main.js",
    "http://x/y.html",
  ].map((src): [string, object, string] => ["uiPanel", { ...frame, src }, "at src"]),
])("%s with %j is refused %s", (kind, change, where) => {
  expect(shapeProblem(kind, { ...good[kind], ...change })).toContain(where);
});

test("a value that throws when it is read is refused, and points of a plugin's own making take anything", () => {
  const trap = {
    get id() {
      throw new Error("not today");
    },
  };
  expect(shapeProblem("check", trap)).toBe("not today");
  expect([shapeProblem("thing", null), shapeProblem("toString", null)]).toEqual([undefined, undefined]);
});
