import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { namesVariable, substitute } from "./substitute.ts";

const env = { HOST: "example.org", PORT: "8080", A: "1", _B2: "two", EMPTY: "" };
const ref = (name: string) => `\${${name}}`;

describe("a text", () => {
  test.each([
    ["is replaced by its variable", ref("HOST"), "example.org"],
    ["keeps what stands around it", `http://${ref("HOST")}:${ref("PORT")}/v1`, "http://example.org:8080/v1"],
    ["may name one variable twice", `${ref("A")}${ref("A")}`, "11"],
    ["may name one that begins with _ and has digits", ref("_B2"), "two"],
    ["with a doubled $ is a literal", `$${ref("HOST")}`, ref("HOST")],
    ["keeps further $ before a literal", `$$${ref("HOST")}`, `$${ref("HOST")}`],
    ["with a lower-case name is left alone", ref("host"), ref("host")],
    ["with a digit first is left alone", ref("1A"), ref("1A")],
    ["with blanks is left alone", ref(" A "), ref(" A ")],
    ["with no closing brace is left alone", "${A", "${A"],
    ["with a bare $NAME is left alone", "$HOST", "$HOST"],
    ["is not replaced again inside a value", ref("NESTED"), ref("A")],
  ])("%s", (_, text, value) => {
    expect(substitute(text, { ...env, NESTED: ref("A") })).toEqual({ value, missing: [] });
  });
});

describe("what cannot be replaced", () => {
  test("is left out of an object, and told with its path and each missing name once", () => {
    const tree = { models: { key: ref("NO"), url: `${ref("HOST")}${ref("EMPTY")}${ref("NO")}${ref("NO")}`, kept: 1 } };
    expect(substitute(tree, env)).toEqual({
      value: { models: { kept: 1 } },
      missing: [
        { path: ["models", "key"], names: ["NO"] },
        { path: ["models", "url"], names: ["EMPTY", "NO"] },
      ],
    });
  });

  test("is left out of a list, the rest of which stays", () => {
    expect(substitute({ list: ["a", ref("NO"), ref("A")] }, env)).toEqual({
      value: { list: ["a", "1"] },
      missing: [{ path: ["list", 1], names: ["NO"] }],
    });
  });

  test("does not count when it is written as a literal", () => {
    expect(substitute({ a: `$${ref("NO")}` }, env)).toEqual({ value: { a: ref("NO") }, missing: [] });
  });
});

test("keys, numbers, booleans and null stay as they are", () => {
  const tree = { [ref("A")]: [1, true, null, { [ref("NO")]: "x" }] };
  expect(substitute(tree, env)).toEqual({ value: tree, missing: [] });
});

test("the given tree is not changed, and shares nothing with the result", () => {
  const tree = { a: { b: [ref("A")] } };
  const { value } = substitute(tree, env);
  expect(tree).toEqual({ a: { b: [ref("A")] } });
  (value as typeof tree).a.b.push("more");
  expect(tree.a.b).toHaveLength(1);
});

test.each([
  [ref("A"), true],
  [`x${ref("A")}`, true],
  [`$${ref("A")}`, false],
  [ref("a"), false],
  ["plain", false],
])("%s names a variable: %s", (text, names) => {
  expect(namesVariable(text)).toBe(names);
});

/** The text as somebody writes it who wants it to be read as itself. */
const escaped = (value: string) => value.replace(/\$(?=\{[A-Z_][A-Z0-9_]*\})/g, "$$$$");
const piece = fc.constantFrom("$", "{", "}", "A", "${A}", "$${A}", "${NO}", "x", "_", "");
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));

test("whatever is escaped reads as itself", () => {
  fc.assert(
    fc.property(text, (value) => {
      expect(substitute(escaped(value), {})).toEqual({ value, missing: [] });
    }),
  );
});

test("a tree in which every text is escaped reads as the tree itself", () => {
  const leaf = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), text);
  const tree = fc.letrec((tie) => ({
    node: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie("node"), { maxLength: 4 }), fc.dictionary(fc.string(), tie("node"), { maxKeys: 4 })),
  })).node;
  const allEscaped = (value: unknown): unknown => {
    if (typeof value === "string") return escaped(value);
    if (Array.isArray(value)) return value.map(allEscaped);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, allEscaped(inner)]));
  };
  fc.assert(
    fc.property(tree, (value) => {
      expect(substitute(allEscaped(value), {})).toEqual({ value, missing: [] });
    }),
  );
});

test("once every variable has a value nothing is missing and nothing is left out", () => {
  const names = fc.array(fc.constantFrom("A", "B", "LONG_NAME_2"), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(names, fc.string({ minLength: 1 }), (used, value) => {
      const all = Object.fromEntries(used.map((name) => [name, value]));
      const authored = used.map((name) => ref(name)).join("-");
      expect(substitute({ at: authored }, all)).toEqual({ value: { at: used.map(() => value).join("-") }, missing: [] });
      const { missing } = substitute({ at: authored }, {});
      expect(missing).toEqual([{ path: ["at"], names: [...new Set(used)] }]);
    }),
  );
});
