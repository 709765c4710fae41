import { expect, test } from "vitest";
import { defaultsOf } from "./elicitation.ts";

const form = (properties: object, required: unknown = []) => ({ type: "object", properties, required });

test.each<[string, unknown, object | undefined]>([
  ["no form", undefined, {}],
  ["an empty form", form({}), {}],
  ["optional fields", form({ a: { type: "string" } }), {}],
  ["defaults of all", form({ a: { default: 1 }, b: { default: "x" }, c: { default: ["p"] } }, ["a", "b", "c"]), { a: 1, b: "x", c: ["p"] }],
  ["a required field without one", form({ a: { default: true }, b: {} }, ["a", "b"]), undefined],
  ["a required field that is not there", form({}, ["toString"]), undefined],
  ["a default that is no plain value", form({ a: { default: { x: 1 } } }, ["a"]), undefined],
  ["33 fields", form(Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`f${i}`, { default: 1 }]))), undefined],
  ["a text", "form", undefined],
])("a yes to %s", (_name, schema, values) => {
  expect(defaultsOf(schema)).toEqual(values);
});
