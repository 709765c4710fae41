import { describe, expect, test } from "vitest";
import { toGrammarSchema, withoutNulls } from "./grammar-schema.ts";

const anything = {
  oneOf: [{ type: ["string", "number", "boolean", "null"] }, { type: "object", additionalProperties: true }, { type: "array" }],
};

describe("a schema in the part that grammars know", () => {
  test("each keyword becomes what the runtime has for it, and what it has nothing for is left to the check of the value", () => {
    const rows: Array<[schema: object, expected: object]> = [
      [{}, anything],
      [
        { type: "string", pattern: "^a", maxLength: 5 },
        { type: "string", maxLength: 5 },
      ],
      [{ type: "string", maxLength: 100_000 }, { type: "string" }],
      [
        { type: "string", format: "date", minLength: 1 },
        { type: "string", format: "date" },
      ],
      [{ type: "string", format: "uri" }, { type: "string" }],
      [
        { type: "integer", minimum: 1, description: "How many" },
        { type: "integer", description: "How many" },
      ],
      [{ type: ["string", "null"] }, { type: ["string", "null"] }],
      [{ type: ["array", "null"], items: { type: "string" } }, { oneOf: [{ type: "array", items: { type: "string" } }, { type: "null" }] }],
      [{ enum: ["a", 1, null, { b: 1 }] }, { enum: ["a", 1, null] }],
      [{ enum: [{ b: 1 }] }, anything],
      [{ const: "a" }, { const: "a" }],
      [{ anyOf: [{ type: "string" }, true] }, { oneOf: [{ type: "string" }, anything] }],
      [
        { type: "array", items: { type: "number" }, minItems: 1, maxItems: 5_000 },
        { type: "array", items: { type: "number" }, minItems: 1 },
      ],
      [{ type: "object" }, { type: "object", properties: {}, additionalProperties: true }],
      [
        { type: "object", properties: {}, additionalProperties: { type: "string" } },
        { type: "object", properties: {}, additionalProperties: { type: "string" } },
      ],
      [{ $ref: "https://example.org/schema" }, anything],
    ];
    for (const [schema, expected] of rows) expect(toGrammarSchema(schema as never, "arguments"), JSON.stringify(schema)).toEqual(expected);
  });

  const schema = {
    type: "object",
    properties: { must: { type: "string" }, may: { type: "integer" }, empty: { type: ["string", "null"] } },
    required: ["must"],
  };

  test("an optional argument may be null, in an answer it has a value of its own type", () => {
    const properties = { must: { type: "string" }, empty: { type: ["string", "null"] } };
    expect(toGrammarSchema(schema, "arguments")).toEqual({
      type: "object",
      properties: { ...properties, may: { oneOf: [{ type: "integer" }, { type: "null" }] } },
    });
    expect(toGrammarSchema(schema, "answer")).toEqual({ type: "object", properties: { ...properties, may: { type: "integer" } } });
  });

  test("parts of allOf are one object", () => {
    const both = {
      allOf: [{ type: "object", properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: { type: "null" } } }],
    };
    expect(toGrammarSchema(both, "arguments")).toEqual({ type: "object", properties: { a: { type: "string" }, b: { type: "null" } } });
  });

  test("definitions are kept under the one name that the runtime knows; an answer does not hold more of itself without end", () => {
    const tree = { type: "object", properties: { name: { type: "string" }, next: { $ref: "#/definitions/tree" } }, required: ["name"] };
    const root = { $ref: "#/definitions/tree", definitions: { tree } };
    const name = { type: "string" };
    expect(toGrammarSchema(root, "arguments")).toEqual({
      $ref: "#/$defs/tree",
      $defs: { tree: { type: "object", properties: { name, next: { oneOf: [{ $ref: "#/$defs/tree" }, { type: "null" }] } } } },
    });
    expect(toGrammarSchema(root, "answer")).toEqual({ $ref: "#/$defs/tree", $defs: { tree: { type: "object", properties: { name } } } });
  });

  test("a schema that is nested without end is cut", () => {
    let deep: object = { type: "string" };
    for (let i = 0; i < 5_000; i++) deep = { type: "array", items: deep };
    expect(JSON.stringify(toGrammarSchema(deep as never, "arguments")).length).toBeLessThan(2_000);
  });
});

test("the nulls that stand for left out are taken out of arguments, and no others", () => {
  const inner = { type: "object", properties: { a: { type: "string" }, b: { anyOf: [{ type: "string" }, { type: "null" }] } } };
  const schema = {
    type: "object",
    properties: {
      must: { type: ["string", "null"] },
      may: { type: "string" },
      list: { type: "array", items: { $ref: "#/$defs/inner" } },
      any: {},
    },
    required: ["must"],
    $defs: { inner },
  };
  expect(withoutNulls({ must: null, may: null, list: [{ a: null, b: null }], any: null, other: null }, schema)).toEqual({
    must: null,
    list: [{ b: null }],
    any: null,
    other: null,
  });
  expect(withoutNulls("text", schema)).toBe("text");
});
