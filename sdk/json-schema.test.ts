import { describe, expect, test } from "vitest";
import { z } from "zod";
import { formatIssues, toJsonSchema, toSchema } from "./json-schema.ts";
import type { Schema } from "./types/schema.ts";

const zod = z.strictObject({ n: z.number().int().min(1), kind: z.enum(["a", "b"]).default("a") });

test("the JSON Schema of a zod schema is that of its input", () => {
  expect(toJsonSchema(zod)).toMatchObject({
    type: "object",
    properties: { n: { type: "integer", minimum: 1 }, kind: { enum: ["a", "b"] } },
    required: ["n"],
    additionalProperties: false,
  });
});

test("a JSON Schema is its own, and another library's is asked for or left open", () => {
  const plain = { type: "object", properties: {} } as const;
  const standard = { "~standard": { version: 1, vendor: "other", validate: (value: unknown) => ({ value }) } } as Schema;
  expect(toJsonSchema(plain)).toBe(plain);
  expect(toJsonSchema(standard)).toEqual({ type: "object" });
  expect(toJsonSchema({ ...standard, toJSONSchema: () => ({ type: "string" }) } as Schema)).toEqual({ type: "string" });
});

describe("a JSON Schema validates", () => {
  const schema = toSchema({
    type: "object",
    properties: { greeting: { type: "string" }, n: { type: "integer", minimum: 1 } },
    required: ["greeting"],
    additionalProperties: false,
  });

  test.each([
    [{ greeting: "x" }, undefined],
    [{ greeting: "x", n: 1 }, undefined],
    [{}, /^at greeting: /],
    [{ greeting: 5 }, /^at greeting: expected string/],
    [{ greeting: "x", n: 0 }, /^at n: /],
    [{ greeting: "x", greetin: "y" }, /^at root: unexpected property 'greetin'$/],
    ["text", /^at root: expected object/],
  ])("%j", async (value, problem) => {
    const result = await schema["~standard"].validate(value);
    if (problem === undefined) expect(result.issues).toBeUndefined();
    else expect(formatIssues(result.issues ?? [])).toMatch(problem);
  });

  test("and a schema that is one already stays the same", () => {
    expect(toSchema(zod)).toBe(zod);
  });
});

test("issues read as path and rule, one after the other", () => {
  const { error } = zod.safeParse({ n: "1", x: 1, y: 2 });
  expect(formatIssues(error?.issues as never)).toBe("at n: expected number, received string; at root: unexpected property 'x', 'y'");
});
