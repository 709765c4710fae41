import { describe, expect, test } from "vitest";
import { applyMergePatch } from "./merge-patch.ts";

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
