import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exceedsJsonShape, jsonTextFault, parseJson, strictJsonLimits } from "./json-shape.ts";

const lists = (depth: number) => JSON.parse("[".repeat(depth) + "]".repeat(depth));
const objects = (depth: number) => JSON.parse('{"a":'.repeat(depth) + "1" + "}".repeat(depth));
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));

test.each<[string, () => unknown, boolean]>([
  ["64 lists in each other", () => lists(64), false],
  ["65 lists", () => lists(65), true],
  ["64 objects", () => objects(64), false],
  ["65 objects", () => objects(65), true],
  ["100,000 lists", () => lists(100_000), true],
  ["10,000 keys", () => keys(10_000), false],
  ["10,001 keys", () => keys(10_001), true],
  ["10,001 keys in several objects", () => [keys(5_000), { inner: keys(5_000) }], true],
  ["a long list of numbers", () => Array.from({ length: 100_000 }, () => 1), false],
  ["keys of the language's own objects", () => JSON.parse('{"__proto__":{"constructor":1}}'), false],
  ["a text", () => "x", false],
  ["null", () => null, false],
])("%s: too much is %s", (_, make, exceeds) => {
  expect(exceedsJsonShape(make())).toBe(exceeds);
});

test("the number of keys may be another", () => {
  expect(exceedsJsonShape(keys(3), 2)).toBe(true);
  expect(exceedsJsonShape(keys(20_000), Number.POSITIVE_INFINITY)).toBe(false);
});

describe("a text", () => {
  const tooDeep = (place: number) => `nested deeper than 64 levels: level 65 begins at character ${place}`;
  const tooMany = "too large: it holds more than 10000 keys";
  const members = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":${i}`).join(",")}}`;

  test.each<[string, string, string | undefined]>([
    ["64 lists in each other", "[".repeat(64) + "]".repeat(64), undefined],
    ["65 lists", "[".repeat(65) + "]".repeat(65), tooDeep(65)],
    ["a million lists that do not end", "[".repeat(1_000_000), tooDeep(65)],
    ["lists beside each other", `[${"[],".repeat(10_000)}[]]`, undefined],
    ["brackets in a string", JSON.stringify({ a: "[{".repeat(100) }), undefined],
    ["brackets behind an escaped quote", `{"a":"\\"${"[".repeat(100)}"}`, undefined],
    ["brackets behind a string that ends in a backslash", `["\\\\",${"[".repeat(64)}`, tooDeep(70)],
    ["a string that does not end", `"${"[".repeat(100)}`, undefined],
    ["10,000 keys", members(10_000), undefined],
    ["10,001 keys", members(10_001), tooMany],
    ["colons in strings", JSON.stringify(Array.from({ length: 20_000 }, () => ":")), undefined],
    ["nothing", "", undefined],
  ])("of %s: %#", (_, text, fault) => {
    expect(jsonTextFault(text, strictJsonLimits)).toBe(fault);
  });

  test("may hold any number of keys where nothing limits them", () => {
    expect(jsonTextFault(members(20_000))).toBeUndefined();
  });

  test("is refused exactly when the value in it is too deep", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.integer({ min: 55, max: 70 }), (inner, depth) => {
        const text = `${"[".repeat(depth)}${inner}${"]".repeat(depth)}`;
        expect(jsonTextFault(text) !== undefined).toBe(exceedsJsonShape(JSON.parse(text), Number.POSITIVE_INFINITY));
      }),
    );
  });

  test("is parsed, or refused with the reason", () => {
    expect(parseJson('{"a":[1]}')).toEqual({ a: [1] });
    expect(() => parseJson("[".repeat(65))).toThrow(new SyntaxError(`it is ${tooDeep(65)}`));
    expect(() => parseJson("{")).toThrow(SyntaxError);
  });
});
