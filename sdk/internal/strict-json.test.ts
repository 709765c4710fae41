import { expect, test } from "vitest";
import { toStrictJson } from "./strict-json.ts";

test.each([
  [{ a: [1, "x", null, true, { b: undefined }] }, '{"a":[1,"x",null,true,{}]}'],
  [null, "null"],
  [undefined, undefined],
  [new Date(0), '"1970-01-01T00:00:00.000Z"'],
  [Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }), '{"own":2}'],
])("%j becomes JSON", (value, text) => {
  expect(toStrictJson(value)).toBe(text);
});

test.each([
  [() => 1, "it is a function, which is no JSON"],
  [{ a: { run: () => undefined } }, '"run" is a function, which is no JSON'],
  [{ n: 1n }, '"n" is a bigint, which is no JSON'],
  [[Symbol("s")], '"0" is a symbol, which is no JSON'],
  [{ n: Number.NaN }, '"n" is NaN, which is no JSON'],
  [{ n: -Infinity }, '"n" is -Infinity, which is no JSON'],
])("what JSON would drop or change is an error", (value, message) => {
  expect(() => toStrictJson(value)).toThrow(message);
});

test("a cycle is an error", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  expect(() => toStrictJson(cycle)).toThrow(TypeError);
});
