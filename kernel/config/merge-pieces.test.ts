import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mergePieces, type Piece } from "./includes.ts";
import { originAt } from "./origin.ts";

const piece = (value: unknown, file: string): Piece => ({ value, origin: { file, path: [], via: "file" } });
const merged = (base: unknown, over: unknown) => mergePieces(piece(base, "base"), piece(over, "over"), "override");

describe("one value over another", () => {
  test.each([
    ["objects merge key by key", { a: 1, o: { x: 1, y: 1 } }, { b: 2, o: { y: 2 } }, { a: 1, o: { x: 1, y: 2 }, b: 2 }],
    ["lists replace", { l: [1, 2, 3] }, { l: [9] }, { l: [9] }],
    ["texts and numbers replace", { a: "x" }, { a: 2 }, { a: 2 }],
    ["an object replaces a list", { a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }],
    ["null replaces", { a: { b: 1 } }, { a: null }, { a: null }],
    ["nothing over something is something", { a: 1 }, {}, { a: 1 }],
  ])("%s", (_, base, over, result) => {
    expect(merged(base, over).value).toEqual(result);
  });
});

test("what stood over something is marked, what only one side has is not", () => {
  const { origin } = merged({ both: 1, o: { base: 1 } }, { both: 2, o: { over: 1 }, only: 1 });
  expect(originAt(origin, ["both"])).toMatchObject({ file: "over", path: ["both"], via: "override" });
  expect(originAt(origin, ["only"])).toMatchObject({ file: "over", path: ["only"], via: "file" });
  expect(originAt(origin, ["o", "over"])).toMatchObject({ file: "over", path: ["o", "over"], via: "file" });
  expect(originAt(origin, ["o", "base"])).toMatchObject({ file: "base", path: ["o", "base"], via: "file" });
  expect(originAt(origin, ["o"])).toMatchObject({ file: "base", mixed: true });
});

test("a path without a value continues its nearest present parent", () => {
  const { origin } = merged({ o: { a: 1 } }, { o: { b: { c: 1 } } });
  expect(originAt(origin, ["o", "new", 0, "deep"])).toEqual({ file: "base", path: ["o", "new", 0, "deep"], via: "file", mixed: false });
  expect(originAt(origin, ["o", "b", "new"])).toMatchObject({ file: "over", path: ["o", "b", "new"] });
});

const leaf = fc.oneof(fc.integer(), fc.array(fc.integer(), { maxLength: 2 }), fc.constant(null));
const tree = fc.letrec<{ node: Record<string, unknown> }>((tie) => ({
  node: fc.dictionary(fc.constantFrom("a", "b", "c"), fc.oneof({ maxDepth: 3 }, leaf, tie("node")), { maxKeys: 3 }),
})).node;

/** Every path with what stands there, lists and scalars as a whole. */
function leaves(value: unknown, path: string[] = []): Array<[string[], unknown]> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}
const valueAt = (value: unknown, path: ReadonlyArray<PropertyKey>) =>
  path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown> | undefined)?.[part], value);

test("the origin of every value leads to that value in its file", () => {
  fc.assert(
    fc.property(tree, tree, (base, over) => {
      const { value, origin } = merged(base, over);
      for (const [path, found] of leaves(value)) {
        const at = originAt(origin, path);
        expect(valueAt(at.file === "base" ? base : over, at.path)).toEqual(found);
      }
    }),
  );
});

test("every value of the upper one is there, and every value of the lower one that nothing covers", () => {
  fc.assert(
    fc.property(tree, tree, (base, over) => {
      const { value } = merged(base, over);
      for (const [path, found] of leaves(over)) if (path.length > 0) expect(valueAt(value, path)).toEqual(found);
      for (const [path, found] of leaves(base)) {
        const isCovered = path.some(
          (_, i) => !isPlain(valueAt(over, path.slice(0, i + 1))) && valueAt(over, path.slice(0, i + 1)) !== undefined,
        );
        if (path.length > 0 && !isCovered && valueAt(over, path) === undefined) expect(valueAt(value, path)).toEqual(found);
      }
    }),
  );
});

function isPlain(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
