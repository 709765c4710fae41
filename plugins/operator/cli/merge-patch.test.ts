import fc from "fast-check";
import { expect, test } from "vitest";
import { applyMergePatch } from "../../../test/tools/merge-patch.ts";
import { createMergePatch, lostEntries } from "./merge-patch.ts";

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
