import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { diffConfig, keepPaths, pathSteps, touches } from "./diff.ts";

describe("the difference of two configs", () => {
  test.each([
    ["nothing", { a: 1, b: { c: [1] } }, { b: { c: [1] }, a: 1 }, []],
    ["a value", { a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, ["a.c"]],
    ["a key that came and one that went", { a: 1 }, { b: 1 }, ["a", "b"]],
    ["a branch that came, by its leaves", {}, { a: { b: { c: 1 }, d: 2 } }, ["a.b.c", "a.d"]],
    ["an empty branch that came", {}, { a: {} }, ["a"]],
    ["undefined is absent", { a: undefined }, {}, []],
    ["a value that became an object", { a: 1 }, { a: { b: 1 } }, ["a"]],
    ["a plain array as a whole", { a: [1, 2] }, { a: [1, 3] }, ["a"]],
    ["null is a value", { a: null }, { a: 1 }, ["a"]],
    ["a key with a dot", { m: { "a.b": 1 } }, { m: { "a.b": 2 } }, ['m["a.b"]']],
    ["the order of several paths", { z: 1, a: 1 }, { z: 2, a: 2 }, ["a", "z"]],
  ])("%s", (_, prev, next, paths) => {
    expect(diffConfig(prev, next)).toEqual(paths);
  });

  test.each([
    ["an element by its id", [{ id: "a", n: 1 }, { id: "b" }], [{ id: "b" }, { id: "a", n: 2 }], ["list[id=a].n"]],
    ["an element that came", [{ id: "a" }], [{ id: "a" }, { id: "b", n: 1 }], ["list[id=b]"]],
    ["an element that went", [{ id: "a" }, { id: "b" }], [{ id: "b" }], ["list[id=a]"]],
    ["another order", [{ id: "a" }, { id: "b" }], [{ id: "b" }, { id: "a" }], ["list"]],
    ["elements without an id", [{ n: 1 }], [{ n: 2 }], ["list"]],
    ["an id that is used twice", [{ id: "a" }, { id: "a" }], [{ id: "a" }], ["list"]],
    ["a list that came", undefined, [{ id: "a" }], ["list[id=a]"]],
  ])("of a list: %s", (_, prev, next, paths) => {
    expect(diffConfig({ list: prev }, { list: next })).toEqual(paths);
  });

  const key = fc.constantFrom("a", "b", "c.d", "e[", "f g");
  const tree = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: "small" },
      fc.integer(),
      fc.constant(null),
      fc.array(fc.integer(), { maxLength: 3 }),
      fc.uniqueArray(fc.record({ id: fc.constantFrom("x", "y", "z"), v: tie("node") }), { selector: (r) => r.id, maxLength: 3 }),
      fc.dictionary(key, tie("node"), { maxKeys: 3 }),
    ),
  })).node;
  const root = fc.dictionary(key, tree, { maxKeys: 4 });

  test("is empty for equal trees only, and the old values at its paths bring the old tree back", () => {
    fc.assert(
      fc.property(root, root, (prev, next) => {
        const paths = diffConfig(prev, next);
        expect(diffConfig(prev, structuredClone(prev))).toEqual([]);
        const back = keepPaths(prev, next, paths);
        const left = diffConfig(prev, back).filter((path) => inOrder(at(back, path)) !== inOrder(at(prev, path)));
        expect(left).toEqual([]);
      }),
    );
  });
});

/** Order of a list and empty branches aside, the value at a path. */
function at(tree: unknown, path: string): unknown {
  const found = pathSteps(path).reduce<unknown>((value, step) => {
    const id = /^\[id=(.*)\]$/.exec(step)?.[1];
    if (id !== undefined && Array.isArray(value)) return value.find((row) => (row as { id: string }).id === id);
    return (value as Record<string, unknown> | undefined | null)?.[step];
  }, tree);
  const isEmpty = typeof found === "object" && found !== null && Object.keys(found).length === 0;
  return isEmpty ? undefined : Array.isArray(found) ? found.map(inOrder).sort() : found;
}

/** As text, keys in one order: two objects with the same members are the same config. */
function inOrder(value: unknown): string | undefined {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

describe("a path", () => {
  test.each([
    ["gateway.auth.token", ["gateway", "auth", "token"]],
    ["agents.list[id=ops].model", ["agents", "list", "[id=ops]", "model"]],
    ['models.providers["my.vendor"].apiKey', ["models", "providers", "my.vendor", "apiKey"]],
    ["", []],
  ])("%s has its steps", (path, steps) => {
    expect(pathSteps(path)).toEqual(steps);
  });

  test.each([
    ["gateway.port", "gateway", true],
    ["gateway.port", "gateway.port", true],
    ["gateway.ports", "gateway.port", false],
    ["gateway", "gateway.port", true],
    ["agents.list[id=a].memorySearch.enabled", "agents.list", true],
    ["agents.defaults.memorySearch.enabled", "agents.*.memorySearch", true],
    ["agents.defaults.model", "agents.*.memorySearch", false],
  ])("%s touches %s: %s", (path, prefix, expected) => {
    expect(touches(path, prefix)).toBe(expected);
  });
});

test("keeping old values changes neither tree and leaves the rest as it is new", () => {
  const prev = Object.freeze({ gateway: Object.freeze({ port: 1, bind: "loopback" }), list: Object.freeze([{ id: "a", n: 1 }]) });
  const next = Object.freeze({
    gateway: Object.freeze({ port: 2, bind: "lan", tls: 1 }),
    list: Object.freeze([
      { id: "a", n: 2 },
      { id: "b", n: 0 },
    ]),
  });
  expect(keepPaths<unknown>(prev, next, ["gateway.port", "gateway.tls", "list[id=b]"])).toEqual({
    gateway: { port: 1, bind: "lan" },
    list: [{ id: "a", n: 2 }],
  });
  expect(next.gateway.port).toBe(2);
});
