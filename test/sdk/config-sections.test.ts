import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { readBundledSections } from "../../kernel/config/bundled-sections.ts";
import { toConfigIssues } from "../../kernel/config/issues.ts";
import { readSection, type SectionNode } from "../../kernel/config/section-document.ts";
import type { PluginSections, PluginSectionsInput } from "../../kernel/config/section-types.ts";
import agents from "../../plugins/agents/sections.ts";
import memory from "../../plugins/memory-core/sections.ts";
import webhooks from "../../plugins/webhooks/sections.ts";
import { duration, intervalMinutes, sizeBytes } from "../../sdk/config/amounts.ts";
import { choice, defaulted, documented, secret } from "../../sdk/config/fields.ts";
import { collectSections } from "../tools/docs/sections.ts";
import { writeSection } from "../tools/docs/write-section.ts";
import { readRepositoryFile, repositoryFiles } from "../tools/source/tree.ts";

const long = process.env.SVC_TEST_LONG === "1";
const owned: Record<string, z.ZodType> = { ...agents, ...memory, ...webhooks };

/** A bit of everything that a section may hold. */
const sample = z.strictObject({
  on: z.boolean().default(false).describe("Switch"),
  wait: defaulted(duration("s", 1, 90), 30, "30s").describe("Wait"),
  every: defaulted(intervalMinutes(3_600_000), 60_000, "1m"),
  size: sizeBytes(1, 1_000).optional(),
  shown: documented(duration("ms", 0, 5), 3),
  count: z.number().int().min(1).max(9).default(2),
  share: z.number().min(0).max(1).optional(),
  kind: z.enum(["a", "b"]).default("a"),
  engine: choice(["own", "other"], { old: "own" }).default("own"),
  names: z
    .array(
      z
        .string()
        .min(1)
        .max(3)
        .regex(/^[ab]+$/, "expected a or b")
        .regex(/b$/, "expected b at the end"),
    )
    .max(2)
    .default([]),
  key: secret().optional(),
  inner: z.strictObject({ word: z.string().refine((text) => text !== "no", { error: "not this", params: { except: ["no"] } }) }).optional(),
  byName: z.record(z.string().min(2), duration("ms", 0, 9)).default({}),
  more: z.strictObject({ deep: z.string().default("x") }).prefault({}),
});
const all = { ...owned, sample };

describe.each(Object.entries(all))("the section %s, written and read again,", (name, section) => {
  const written = JSON.parse(JSON.stringify(writeSection(name, section))) as SectionNode;
  const read = readSection(written);

  test("takes and refuses the same values with the same words", () => {
    const outcomeOf = (schema: z.ZodType, value: unknown) => {
      const parsed = schema.safeParse(value, { jitless: true });
      const locate = (path: readonly PropertyKey[]) => ({ line: path.length, column: 1 });
      return parsed.success ? parsed.data : toConfigIssues(parsed.error, { file: "svc.json", value, schema, locate });
    };
    const same = (value: unknown) => {
      expect(outcomeOf(read, value)).toEqual(outcomeOf(section, value));
    };
    same(undefined);
    fc.assert(fc.property(valuesOf(written), same), { numRuns: long ? 5_000 : 300 });
  });

  test("has the same document", () => {
    const documentOf = (schema: z.ZodType) => JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
    expect(documentOf(read)).toBe(documentOf(section));
    expect(writeSection(name, read)).toEqual(written);
  });
});

/** Values that are near to what a node takes, and some that are not. */
function valuesOf(node: SectionNode): fc.Arbitrary<unknown> {
  const near = nearOf(node);
  return fc.oneof({ weight: 12, arbitrary: near }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
}

const odd = [
  undefined,
  null,
  -1,
  1.5,
  "",
  "x",
  "30s",
  "5 apples",
  "wake",
  "/",
  "a/b",
  "__proto__",
  true,
  [],
  ["a"],
  {},
  { source: "env" },
  { x: 1 },
];

function nearOf(node: SectionNode): fc.Arbitrary<unknown> {
  if (node.amount) return fc.oneof(fc.integer({ min: -1, max: 100 }), fc.constantFrom("1s", "30s", "2h", "20mb", "0", "9 ms", "x"));
  if (node.sensitive) return fc.constantFrom("s", "", { source: "env", id: "X" }, { source: "env", id: "x" });
  if (node.enum) return fc.constantFrom(...node.enum, "other");
  if (node.items) return fc.array(valuesOf(node.items), { maxLength: 3 });
  if (node.propertyNames && node.additionalProperties)
    return fc.dictionary(valuesOf(node.propertyNames).map(String), valuesOf(node.additionalProperties), { maxKeys: 3 });
  if (node.type === "boolean") return fc.boolean();
  if (node.type === "integer" || node.type === "number") return fc.oneof(fc.integer({ min: -1, max: 12 }), fc.double({ noNaN: true }));
  if (node.type === "string")
    return fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom("ab", "bb", "/hooks", "no", "wake", "a.b", "X-Sign"));
  const members = Object.entries(node.properties ?? {}).map(([key, child]) => [key, valuesOf(child)] as const);
  const required = members.filter(([key]) => node.properties?.[key]?.absent === undefined).map(([key]) => key);
  const whole = fc.record(Object.fromEntries(members), { requiredKeys: required });
  return fc.oneof({ weight: 9, arbitrary: whole }, { weight: 1, arbitrary: whole.map((value) => ({ ...value, unknown: 1 })) });
}

test("sections of bundled plugins are written as their code says, and nowhere else", async () => {
  const expected = await collectSections((path) => import(path));
  const files = repositoryFiles().filter((path) => path.endsWith("/svc.sections.json"));
  expect(files.sort()).toEqual(Object.keys(expected).sort());
  for (const path of files) expect(JSON.parse(readRepositoryFile(path)), path).toEqual(JSON.parse(JSON.stringify(expected[path])));
});

test("the types of the gateway are those of the plugins' schemas", () => {
  expectTypeOf<PluginSections["hooks"]>().toEqualTypeOf<z.output<typeof webhooks.hooks>>();
  expectTypeOf<PluginSectionsInput["hooks"]>().toEqualTypeOf<z.input<typeof webhooks.hooks>>();
  expectTypeOf<PluginSections["memory"]>().toEqualTypeOf<z.output<typeof memory.memory>>();
  expectTypeOf<PluginSectionsInput["memory"]>().toEqualTypeOf<z.input<typeof memory.memory>>();
  expectTypeOf<PluginSections["messages"]>().toEqualTypeOf<z.output<typeof agents.messages>>();
  expectTypeOf<PluginSectionsInput["messages"]>().toEqualTypeOf<z.input<typeof agents.messages>>();
  expectTypeOf<PluginSections["tools"]>().toEqualTypeOf<z.output<typeof agents.tools>>();
  expectTypeOf<PluginSectionsInput["tools"]>().toEqualTypeOf<z.input<typeof agents.tools>>();
  expectTypeOf<PluginSections["bindings"]>().toEqualTypeOf<z.output<typeof agents.bindings>>();
  expectTypeOf<PluginSectionsInput["bindings"]>().toEqualTypeOf<z.input<typeof agents.bindings>>();
});

test.each<[string, z.ZodType, string]>([
  ["a rule of its own", z.strictObject({ a: z.string().refine(Boolean) }), "part.a: custom"],
  ["a value that is changed", z.strictObject({ a: z.string().transform(Number) }), "part.a: pipe"],
  ["an expression without words", z.string().regex(/a/), "part: string_format"],
  ["an expression with flags", z.string().regex(/a/i, "a"), "part: string_format"],
  ["words of its own for a bound", z.string().min(1, "a"), "part: min_length"],
  ["a bound that is out of it", z.number().positive(), "part: greater_than"],
  ["a form of its own", z.url(), "part: the format url"],
  ["a value that is coerced", z.coerce.number(), "part: a value that is coerced"],
  ["checks in another order", z.string().regex(/a/, "a").min(1), "part: this order of checks"],
  ["names of a closed set", z.record(z.enum(["a", "b"]), z.string()), "part: a record whose keys are no texts"],
  ["names with a rule of their own", z.record(z.string().refine(Boolean), z.string()), "part.<name>: custom"],
  ["an object that takes everything", z.strictObject({ a: z.array(z.looseObject({})) }), "part.a.*: an open object"],
  ["two meanings of absence", z.string().default("a").optional(), "part: optional of default"],
])("a section with %s is not written", (_, schema, reason) => {
  expect(() => writeSection("part", schema)).toThrow(`${reason} has no form in a written section`);
});

describe("sections are read", () => {
  let root: string;
  const put = async (id: string, text: string) => {
    await mkdir(join(root, id));
    await writeFile(join(root, id, "svc.sections.json"), text);
  };
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "svc-sections-"));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  test("from the folders of plugins that have some, each by one owner", async () => {
    await mkdir(join(root, "none"));
    await put("notes", JSON.stringify({ notes: writeSection("notes", sample.prefault({ inner: { word: "a" } })) }));
    expect(readBundledSections([], root).notes?.parse(undefined)).toMatchObject({ inner: { word: "a" }, wait: 30 });

    await put("second", JSON.stringify({ notes: { type: "string" } }));
    const told = `${join(root, "second", "svc.sections.json")}: the section notes has another owner`;
    expect(() => readBundledSections([], root)).toThrow(told);
    await rm(join(root, "second"), { recursive: true });
    expect(() => readBundledSections(["notes"], root)).toThrow("the section notes has another owner");
  });

  test("not from a damaged file, which is named", async () => {
    await put("broken", "{");
    expect(() => readBundledSections([], root)).toThrow(join(root, "broken", "svc.sections.json"));
    await rm(join(root, "broken"), { recursive: true });
    await mkdir(join(root, "unreadable", "svc.sections.json"), { recursive: true });
    expect(() => readBundledSections([], root)).toThrow(join(root, "unreadable", "svc.sections.json"));
  });

  test("not with a part that no reader knows", async () => {
    await put("alien", JSON.stringify({ alien: { type: "null" } }));
    expect(() => readSection({ type: "null" })).toThrow("a section cannot hold a value of the type null");
  });
});
