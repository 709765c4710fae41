import { expect, test } from "vitest";
import { toGoogleSchema } from "./schema.ts";

const text = { type: "string" };

test.each<[object, object]>([
  [{ type: "string", format: "uri" }, text],
  [
    { type: "string", format: "date-time" },
    { type: "string", format: "date-time" },
  ],
  [{ oneOf: [{ ...text, format: "email" }, { type: "null" }] }, { anyOf: [text, { type: "null" }] }],
  [
    {
      allOf: [
        { properties: { a: text }, required: ["a"] },
        { properties: { b: text }, required: ["b"] },
      ],
      type: "object",
    },
    { type: "object", properties: { a: text, b: text }, required: ["a", "b"] },
  ],
  [
    { type: "array", items: { type: "object", properties: { format: { type: "string", format: "uuid" }, oneOf: text } } },
    { type: "array", items: { type: "object", properties: { format: text, oneOf: text } } },
  ],
  [
    { $defs: { u: { type: "string", format: "uri" } }, $ref: "#/$defs/u" },
    { $defs: { u: text }, $ref: "#/$defs/u" },
  ],
  [{ type: "array" }, { type: "array", items: text }],
  [
    { type: ["array", "null"], items: {} },
    { type: ["array", "null"], items: text },
  ],
  [
    { type: "array", items: { type: "array" } },
    { type: "array", items: { type: "array", items: text } },
  ],
  [
    { properties: { type: { type: "array" }, enum: { enum: [] }, $ref: { $ref: "x" } } },
    { properties: { type: { type: "array", items: text }, enum: text, $ref: { type: "object" } } },
  ],
  [
    { type: ["string", "array", "null"], description: "d" },
    { anyOf: [text, { type: "array", items: text }, { type: "null" }], description: "d" },
  ],
  [{ enum: ["a", 1] }, text],
  [{ type: "string", enum: [] }, { type: "string" }],
  [{ type: "integer", enum: ["a"] }, { type: "integer" }],
  [{ type: "number", enum: [1, Number.NaN] }, { type: "number" }],
  [{ enum: "a" }, text],
  [{ const: { a: 1 } }, text],
  ...[
    { enum: ["a", "b"] },
    { enum: ["a", null] },
    { type: "integer", enum: [1, 2] },
    { type: ["string", "null"], enum: ["a", null] },
    { type: "boolean", const: true },
    { enum: [null] },
  ].map((kept): [object, object] => [kept, kept]),
  [
    { $ref: "other.json", description: "d" },
    { type: "object", description: "d" },
  ],
  [{ $ref: "#" }, { type: "object" }],
  [{ $ref: 5, type: "string" }, text],
  ...["#/$defs/x", "#/$defs/", "#/$defs/u/properties/a", "#/$defs/%", "#/$defs/~2", "#/definitions/u", "#/$defs/toString"].map(
    (ref): [object, object] => [
      { $defs: { u: text }, properties: { a: { $ref: ref } } },
      { $defs: { u: text }, properties: { a: { type: "object" } } },
    ],
  ),
  [
    { definitions: { "a/b": text }, properties: { a: { $ref: "#/definitions/a~1b", enum: [1] } } },
    { definitions: { "a/b": text }, properties: { a: { $ref: "#/definitions/a~1b" } } },
  ],
  [
    { $defs: { u: text }, properties: { a: { allOf: [{ $ref: "#/$defs/u" }, { $defs: {} }] } } },
    { $defs: { u: text }, properties: { a: { $ref: "#/$defs/u" } } },
  ],
])("%j", (schema, expected) => {
  expect(toGoogleSchema(schema)).toEqual(expected);
});

test("a schema that is deeper than anybody writes one ends", () => {
  let deep: object = { type: "string" };
  for (let i = 0; i < 5_000; i++) deep = { type: "array", items: deep };
  expect(toGoogleSchema(deep)).toMatchObject({ type: "array" });
});
