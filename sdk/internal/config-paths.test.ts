import { describe, expect, test } from "vitest";
import { formatConfigPath, parseConfigPath, resolveConfigPath, valueAt, withValueAt } from "./config-paths.ts";

const tree = { agents: { list: [{ id: "main" }, { id: "my.ops", model: "m" }] }, models: { providers: { "my.vendor": { apiKey: "k" } } } };

test.each([
  ["gateway.port", ["gateway", "port"]],
  ["agents.list[0].model", ["agents", "list", 0, "model"]],
  ['models.providers["my.vendor"].apiKey', ["models", "providers", "my.vendor", "apiKey"]],
  ["models.providers['a\\'b']", ["models", "providers", "a'b"]],
  ["agents.list[id=ops].model", ["agents", "list", { id: "ops" }, "model"]],
  ['agents.list[ id = "a b" ]', ["agents", "list", { id: "a b" }]],
  ["hooks.mappings[2]", ["hooks", "mappings", 2]],
  ['["a"].b', ["a", "b"]],
  ["", []],
])("%s is read", (text, steps) => expect(parseConfigPath(text)).toEqual(steps));

test.each([
  ["a..b", 'expected a key at ".b"'],
  ["a.", "expected a key after the dot"],
  [".a", 'expected a key at ".a"'],
  ["a[", "expected [0]"],
  ["a[-1]", "expected [0]"],
  ["a[0]b", 'expected a dot or a bracket at "b"'],
  ["a.[0]", "expected a key after the dot"],
  ["a b", 'expected a dot or a bracket at " b"'],
  ["a.__proto__.b", "the key __proto__ is not allowed"],
  ['a["constructor"]', "the key constructor is not allowed"],
])("%s is refused", (text, reason) => expect(() => parseConfigPath(text)).toThrow(reason));

test.each([
  [["gateway", "port"], "gateway.port"],
  [["a", 0, "b c", "d.e"], 'a[0]["b c"]["d.e"]'],
  [[], ""],
])("%j is written as %s and read back", (path, text) => {
  expect(formatConfigPath(path)).toBe(text);
  expect(parseConfigPath(text)).toEqual(path);
});

describe("in a tree", () => {
  const at = (text: string) => resolveConfigPath(tree, parseConfigPath(text));

  test("ids and digits become indexes, and one past the end is where something is added", () => {
    expect(at("agents.list[id=my.ops].model")).toEqual(["agents", "list", 1, "model"]);
    expect(at("agents.list.0.id")).toEqual(["agents", "list", 0, "id"]);
    expect(at("agents.list[2].id")).toEqual(["agents", "list", 2, "id"]);
    expect(at("models.providers.0")).toEqual(["models", "providers", "0"]);
  });

  test.each([
    ["agents.list[id=nobody]", 'no list member with the id "nobody"'],
    ["agents.list[3]", "has 2 entries; the index 3 would leave a gap"],
    ["agents.list.main", 'is a list; expected an index or [id=…], got "main"'],
    ["agents[0]", "is no list"],
  ])("%s leads nowhere", (text, reason) => expect(() => at(text)).toThrow(reason));

  test("values are found, and nothing of a prototype is", () => {
    expect(valueAt(tree, at('models.providers["my.vendor"].apiKey'))).toBe("k");
    expect(valueAt(tree, ["agents", "toString"])).toBeUndefined();
    expect(valueAt(tree, ["agents", "list", "length"])).toBeUndefined();
  });

  test("a value is put, with its parents, or taken out, and the original stays", () => {
    const before = structuredClone(tree);
    expect(withValueAt(tree, ["a", "b", 0], 1)).toEqual({ ...tree, a: { b: [1] } });
    expect(withValueAt(tree, ["agents", "list", 0], undefined)).toEqual({ ...tree, agents: { list: [tree.agents.list[1]] } });
    expect(withValueAt(tree, ["x", "y"], undefined)).toBe(tree);
    expect(Object.keys(withValueAt({ a: 1, b: 2 }, ["a"], 3) as object)).toEqual(["a", "b"]);
    expect(() => withValueAt({ a: 1 }, ["a", "b"], 2)).toThrow("its parent is no object");
    expect(tree).toEqual(before);
  });
});
