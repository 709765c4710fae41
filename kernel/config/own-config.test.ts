import { describe, expect, test } from "vitest";
import { z } from "zod";
import { intervalMinutes } from "../../sdk/config/amounts.ts";
import { definePlugin } from "../../sdk/index.ts";
import { configSchemaOf } from "../../sdk/testing/inspect-plugin.ts";
import { amountFault, validateOwnConfig } from "./own-config.ts";

const keep = { amount: { unit: "d", min: 1, max: 90 } };
const schema = {
  type: "object",
  properties: {
    keep,
    amount: { type: "string" },
    caches: { type: "array", items: { $ref: "#/$defs/cache" } },
    byName: { type: "object", additionalProperties: keep },
    every: { amount: { unit: "ms", min: 0, max: 3_600_000, bare: "m" } },
    either: { anyOf: [keep, { const: "never" }] },
  },
  additionalProperties: false,
  $defs: { cache: { type: "object", properties: { size: { amount: { unit: "bytes", max: 1_000_000 } } } } },
};
const read = (value: unknown) => validateOwnConfig(schema, value);

describe("a config whose schema names amounts", () => {
  test.each<[string, unknown, unknown]>([
    ["a text", { keep: "30d" }, { keep: 30 }],
    ["a number", { keep: 30 }, { keep: 30 }],
    ["a number of minutes", { every: 2 }, { every: 120_000 }],
    ["a text where a number counts minutes", { every: "90s" }, { every: 90_000 }],
    ["nothing at all", {}, {}],
    ["amounts of list members, by reference", { caches: [{ size: "20kb" }, {}] }, { caches: [{ size: 20_000 }, {}] }],
    ["amounts of any name", { byName: { a: "48h", b: 3 } }, { byName: { a: 2, b: 3 } }],
    ["a key that is called amount", { amount: "30d" }, { amount: "30d" }],
    ["an amount among alternatives, as it was written", { either: "30d" }, { either: "30d" }],
  ])("takes %s", async (_, value, expected) => {
    expect(await read(value)).toEqual({ value: expected });
  });

  test.each<[unknown, Array<string | number>]>([
    [{ keep: "91d" }, ["keep"]],
    [{ keep: "1.5d" }, ["keep"]],
    [{ keep: null }, ["keep"]],
    [{ every: 61 }, ["every"]],
    [{ caches: [{}, { size: "2mb" }] }, ["caches", 1, "size"]],
    [{ keep: 1, other: 1 }, []],
  ])("refuses %j at its place", async (value, path) => {
    const { issues } = await read(value);
    expect(issues?.map((issue) => issue.path ?? [])).toEqual([path]);
  });
});

test.each<[object, string | undefined]>([
  [schema, undefined],
  [{ properties: { a: { items: { amount: "30d" } } } }, "s.a.*.amount: expected an object such as"],
  [{ additionalProperties: { amount: { unit: "ms", min: -1 } } }, "s.*.amount: expected an object such as"],
  [{ $defs: { a: { amount: { unit: "ms", minimum: 1 } } } }, "s.a.amount: expected an object such as"],
  [{ items: { amount: { unit: "ms", min: 2, max: 1 } } }, "s.*.amount: min is greater than max"],
  [{ items: { amount: { unit: "s", bare: "m" } } }, "s.*.amount: bare goes with the unit ms and no min"],
])("the keyword in %j is judged", (given, fault) => {
  const found = amountFault(given as Record<string, unknown>, "s");
  if (fault === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(fault);
});

test("the schema that is written for a key of minutes is one that the loader accepts, and it means the same", async () => {
  const config = z.object({ every: intervalMinutes(3_600_000) });
  const written = configSchemaOf(definePlugin({ id: "a", version: "1.0.0", svc: { api: "^1.0.0" }, config, setup: () => undefined }));
  expect(amountFault(written ?? {}, "s")).toBeUndefined();
  for (const every of [5, "90s", 0]) expect(await validateOwnConfig(written ?? {}, { every })).toEqual({ value: config.parse({ every }) });
});
