import { describe, expect, test } from "vitest";
import { formatJson, setTopLevel } from "./manifest-text.ts";

const schema = { type: "object", properties: { prefix: { type: "string" } } };

describe("setTopLevel", () => {
  test("replaces a value and leaves comments, order and layout", () => {
    const text = `// mine
{
  "id": "a", // the id: { not, a, property }
  /* "configSchema": {} */
  'configSchema': { "old": ["x", { "y": "}" }] }, // generated
  "version": "1.0.0",
}
`;
    expect(setTopLevel(text, "configSchema", schema)).toBe(
      text.replace(`{ "old": ["x", { "y": "}" }] }`, '{ "type": "object", "properties": { "prefix": { "type": "string" } } }'),
    );
  });

  test.each([
    ["the last one, without a comma", '{\n  "id": "a"\n}', '{\n  "id": "a",\n  "n": 1\n}'],
    ["the last one, with a comma and a comment", '{\n    id: "a", // it\n}', '{\n    id: "a",\n    "n": 1, // it\n}'],
    ["none", "{}", '{\n  "n": 1\n}'],
  ])("adds a property after %s", (_name, text, expected) => {
    expect(setTopLevel(text, "n", 1)).toBe(expected);
  });

  test.each([
    ["in the middle", '{\n  "a": 1,\n  "n": {"x": [1]},\n  "b": 2\n}', '{\n  "a": 1,\n  "b": 2\n}'],
    ["at the end", '{\n  "a": 1,\n  "n": 2\n}', '{\n  "a": 1\n}'],
    ["that is not there", '{ "a": 1 }', '{ "a": 1 }'],
  ])("takes away a property %s", (_name, text, expected) => {
    expect(setTopLevel(text, "n", undefined)).toBe(expected);
  });

  test("finds a property by its own name, not inside of another value", () => {
    expect(setTopLevel('{ "a": { "n": 1 }, "s": "n: 2", "n": 3 }', "n", 4)).toBe('{ "a": { "n": 1 }, "s": "n: 2", "n": 4 }');
  });

  test("refuses what is no object", () => {
    expect(() => setTopLevel("[]", "a", 1)).toThrow("expected an object");
  });
});

test("formatJson breaks up only what does not fit a line", () => {
  const long = { a: "x".repeat(60), b: ["y".repeat(60)], c: {} };

  expect(JSON.parse(formatJson(long, "  "))).toEqual(long);
  expect(formatJson(long, "  ").split("\n")).toHaveLength(5);
  expect(formatJson({ a: [1, 2] }, "")).toBe('{ "a": [1, 2] }');
});
