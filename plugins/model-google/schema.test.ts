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
])("%j", (schema, expected) => {
  expect(toGoogleSchema(schema)).toEqual(expected);
});

test("a schema that is deeper than anybody writes one ends", () => {
  let deep: object = { type: "string" };
  for (let i = 0; i < 5_000; i++) deep = { type: "array", items: deep };
  expect(toGoogleSchema(deep)).toMatchObject({ type: "array" });
});
