import { describe, expect, test } from "vitest";
import { orderPlugins, withRequirements } from "./plugin-order.ts";

const nodes = (graph: Record<string, string[]>) => Object.entries(graph).map(([id, needs]) => ({ id, needs }));

describe("plugins load", () => {
  test.each<[string, Record<string, string[]>, string[][]]>([
    [
      "what is needed first, the rest side by side",
      { a: ["store"], b: ["store"], c: ["a", "b"], store: [] },
      [["store"], ["a", "b"], ["c"]],
    ],
    ["in the order they were given, where nothing else decides", { z: [], a: [], m: [] }, [["z", "a", "m"]]],
    ["without those who are not there", { a: ["nobody"] }, [["a"]]],
    ["also when they name themselves", { a: ["a"] }, [["a"]]],
    ["not at all when there are none", {}, []],
  ])("%s", (_, graph, levels) => {
    expect(orderPlugins(nodes(graph))).toEqual({ levels, cycles: new Map() });
  });

  test("without the members of a cycle, which are named with its path; who only needs one of them still has its place", () => {
    const { levels, cycles } = orderPlugins(nodes({ a: ["b"], b: ["c"], c: ["a"], user: ["a"], free: [] }));
    expect([...cycles]).toEqual([
      ["a", "a → b → c → a"],
      ["b", "a → b → c → a"],
      ["c", "a → b → c → a"],
    ]);
    expect(levels.flat().sort()).toEqual(["free", "user"]);
  });

  test("also beside two cycles", () => {
    const { levels, cycles } = orderPlugins(nodes({ a: ["b"], b: ["a"], x: ["y"], y: ["x"], z: ["y", "b"] }));
    expect([...cycles.keys()].sort()).toEqual(["a", "b", "x", "y"]);
    expect(levels).toEqual([["z"]]);
  });
});

test("a choice of plugins takes along who provides what they require, but not what is optional", () => {
  const base = { version: "1.0.0", svc: { api: "^1.0.0" } };
  const found = [
    { id: "memory", manifest: { ...base, id: "memory", requires: ["store@2", "agents@1?"], dependencies: { helper: "^1.0.0" } } },
    { id: "store", manifest: { ...base, id: "store", provides: ["store@2"], requires: ["disk@1"] } },
    { id: "disk", manifest: { ...base, id: "disk", provides: ["disk@1"] } },
    { id: "agents", manifest: { ...base, id: "agents", provides: ["agents@1"] } },
    { id: "helper", manifest: undefined },
    { id: "other", manifest: { ...base, id: "other" } },
  ];
  expect(withRequirements(found, ["memory"]).map((f) => f.id)).toEqual(["memory", "store", "disk", "helper"]);
  expect(withRequirements(found, [])).toEqual([]);
});
