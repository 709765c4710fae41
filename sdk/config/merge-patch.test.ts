import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyMergePatch, createMergePatch, lostEntries } from "./merge-patch.ts";

describe("a merge patch", () => {
  test.each([
    ["sets, adds and deletes", { a: 1, b: { c: 2, d: 3 } }, { a: 9, b: { c: null, e: 4 } }, { a: 9, b: { d: 3, e: 4 } }],
    ["deletes what is not there", { a: 1 }, { b: null }, { a: 1 }],
    ["makes an object of a scalar", { a: 1 }, { a: { b: 2 } }, { a: { b: 2 } }],
    ["drops nulls of what it adds", {}, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    ["replaces a list that is not shorter", { a: [1, 2] }, { a: [3, 4, 5] }, { a: [3, 4, 5] }],
    [
      "merges a list by id",
      { a: [{ id: "x", n: 1 }, { id: "y" }] },
      { a: [{ id: "y", m: 2 }, { id: "z" }] },
      { a: [{ id: "x", n: 1 }, { id: "y", m: 2 }, { id: "z" }] },
    ],
    ["deletes inside a member", { a: [{ id: "x", n: 1 }] }, { a: [{ id: "x", n: null }] }, { a: [{ id: "x" }] }],
  ])("%s", (_, target, patch, result) => {
    const before = structuredClone(target);
    expect(applyMergePatch(target, patch)).toEqual(result);
    expect(target).toEqual(before);
  });

  test.each([
    ["a shorter list", { a: { b: [1, 2] } }, { a: { b: [1] } }, "a.b"],
    ["an empty one for members without ids", { a: [{ n: 1 }] }, { a: [] }, "a"],
  ])("refuses %s until its path is named", (_, target, patch, path) => {
    expect(() => applyMergePatch(target, patch)).toThrow(`${path}: entries would be lost`);
    expect(applyMergePatch(target, patch, [path])).toEqual({ ...target, ...patch });
  });

  test("takes a list of ids as it stands where it is named", () => {
    expect(applyMergePatch({ a: [{ id: "x" }, { id: "y" }] }, { a: [{ id: "y" }] }, ["a"])).toEqual({ a: [{ id: "y" }] });
  });

  test.each(["__proto__", "constructor", "prototype"])("refuses the key %s", (key) => {
    expect(() => applyMergePatch({}, JSON.parse(`{"a":{"${key}":{"x":1}}}`))).toThrow(`the key ${key} is not allowed`);
  });
});

test("the patch between two trees makes the one of the other", () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.integer(),
      fc.string({ maxLength: 3 }),
      fc.boolean(),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.uniqueArray(fc.constantFrom("x", "y", "z")).map((ids) => ids.map((id) => ({ id }))),
      fc.dictionary(fc.constantFrom("a", "b", "c", "d"), tie("value")),
    ),
  })).value;
  const tree = fc.dictionary(fc.constantFrom("a", "b", "c"), value);
  fc.assert(
    fc.property(tree, tree, (current, next) => {
      const { patch, replacePaths } = createMergePatch(current, next);
      expect(applyMergePatch(current, patch, replacePaths)).toEqual(next);
    }),
  );
});

test("entries that vanish are named by key or id", () => {
  expect(lostEntries({ a: 1, b: 2 }, { b: 3 })).toEqual(["a"]);
  expect(lostEntries([{ id: "x" }, { id: "y" }], [{ id: "y" }])).toEqual(["x"]);
  expect(lostEntries([1, 2], [1])).toEqual(["[1]"]);
  expect(lostEntries({ a: 1 }, undefined)).toEqual(["a"]);
  expect(lostEntries(undefined, { a: 1 })).toEqual([]);
});
