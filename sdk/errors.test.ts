import { expect, expectTypeOf, test } from "vitest";
import { createError, defineErrors, errorSpecsOf, isSvcError, messageOf, SvcError } from "./errors.ts";

const tides = defineErrors({
  "no-tide": {
    message: "no tide at {place} on {day}; ask for another day",
    http: 404,
    rpc: "INVALID_REQUEST",
    expose: { place: { type: "string" } },
  },
  "high-water": { message: "high water{place?}", http: 409, rpc: "INVALID_REQUEST", expose: ["place"] },
  ebb: { message: "the sea is away", http: 503, rpc: "UNAVAILABLE", retryable: true },
});

test("a code becomes a function that makes its error", () => {
  const error = tides.noTide({ place: "Husum", day: "Monday" });

  expect(error).toBeInstanceOf(SvcError);
  expect(error).toMatchObject({ code: "no-tide", message: "no tide at Husum on Monday; ask for another day", details: { place: "Husum" } });
  expect(isSvcError(error, "no-tide")).toBe(true);
  expect(error.stack?.split("\n")[1]).toContain("errors.test.ts");
});

test("the compiler asks for the fields that a message names, with the types of their schemas, and for nothing else", () => {
  expectTypeOf(tides.noTide).parameter(0).toHaveProperty("place");
  expectTypeOf(tides.noTide).parameter(0).toHaveProperty("day");
  expectTypeOf(tides.noTide).parameter(0).toHaveProperty("place").toEqualTypeOf<string | undefined>();
  expectTypeOf(tides.ebb).toBeCallableWith();
  expectTypeOf<keyof typeof tides>().toEqualTypeOf<"noTide" | "highWater" | "ebb">();
});

test("a field that a message names with a question mark may be left out", () => {
  expect(tides.highWater().message).toBe("high water");
  expect(tides.highWater({ place: " at Husum" })).toMatchObject({ message: "high water at Husum", details: { place: " at Husum" } });
});

test("a code known only at run time is looked up in its table", () => {
  expect(createError(tides, "ebb").spec.http).toBe(503);
  expect(() => createError(tides, "flood")).toThrow('"flood" is not a code of this table');
  expect(() => createError({}, "ebb")).toThrow(TypeError);
});

test("a table gives its specifications back, anything else does not", () => {
  expect(Object.keys(errorSpecsOf(tides) ?? {})).toEqual(["no-tide", "high-water", "ebb"]);
  expect([errorSpecsOf({}), errorSpecsOf("tides"), errorSpecsOf(null)]).toEqual([undefined, undefined, undefined]);
});

test("an error keeps its meaning across a thread border, where its table was never loaded", () => {
  const error = tides.noTide({ place: "{day}", day: "Monday" });

  const arrived = SvcError.fromPlain(structuredClone(error.toPlain()));

  expect(arrived).toMatchObject({
    code: "no-tide",
    message: "no tide at {day} on Monday; ask for another day",
    details: { place: "{day}" },
  });
  expect(arrived.spec).toMatchObject({ http: 404, rpc: "INVALID_REQUEST" });
});

test("plain data of a code that knows no table counts as a fault of the program", () => {
  expect(SvcError.fromPlain({ code: "odd", fields: {} })).toMatchObject({ code: "odd", message: "odd", spec: { http: 500 } });
});

test("the message of an error that is several is those of its parts", () => {
  expect(messageOf(new AggregateError([new Error("connect ECONNREFUSED ::1:1"), "b"]))).toBe("connect ECONNREFUSED ::1:1; b");
  expect(messageOf(new AggregateError([new Error("a")], "all failed"))).toBe("all failed");
});
