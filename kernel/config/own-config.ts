import { z } from "zod";
import { duration, intervalMinutes, sizeBytes } from "../../sdk/config/amounts.ts";
import { isRecord } from "../../sdk/is-record.ts";
import { toSchema } from "../../sdk/json-schema.ts";
import type { JsonSchema, SchemaIssue, SchemaResult } from "../../sdk/types/schema.ts";
import { deref, isObjectSchema, type SchemaTree } from "./schema-tree.ts";

/** The keyword `amount` of a manifest's schemas; the range is open at an end that is not given. With `bare` a number without a unit counts minutes. */
const amountKeyword = z
  .strictObject({
    unit: z.enum(["ms", "s", "m", "h", "d", "bytes"]),
    min: z.number().int().min(0).default(0),
    max: z.number().int().min(0).default(Number.MAX_SAFE_INTEGER),
    bare: z.literal("m").optional(),
  })
  .refine(({ min, max }) => min <= max, "min is greater than max")
  .refine(({ unit, min, bare }) => bare === undefined || (unit === "ms" && min === 0), "bare goes with the unit ms and no min");

/**
 * Validates the config of a plugin or a channel by the schema in its manifest, amounts included: a key with the keyword `amount` takes a number or a text
 * with a unit, `30d` or `2gb`. The keyword counts at keys of objects and members of lists, not inside alternatives (`anyOf`).
 * @returns the value with its amounts as numbers, or what is wrong with it
 */
export async function validateOwnConfig(schema: JsonSchema, value: unknown): Promise<SchemaResult<unknown>> {
  const amounts: Amounts = { root: schema as SchemaTree, paths: new Set(), issues: [] };
  const parsed = parseAmounts(schema as SchemaTree, value, { path: [], amounts });
  const { issues = [] } = await toSchema(schema)["~standard"].validate(value);
  // An amount is judged by its keyword: the rest of its schema is for readers that do not know it.
  const others = issues.filter(({ path = [] }) => !amounts.paths.has(JSON.stringify(path)));
  const all = [...others, ...amounts.issues];
  return all.length > 0 ? { issues: all } : { value: parsed };
}

interface Amounts {
  root: SchemaTree;
  /** Paths of all amounts that the value has, as JSON. */
  paths: Set<string>;
  issues: SchemaIssue[];
}

interface At {
  path: ReadonlyArray<string | number>;
  amounts: Amounts;
}

function parseAmounts(node: SchemaTree, value: unknown, { path, amounts }: At): unknown {
  const { amount, properties, additionalProperties: rest, items } = deref(node, amounts.root);
  if (amount !== undefined) return parseAmount(amount, value, { path, amounts });
  const below = (child: SchemaTree | undefined, member: unknown, step: string | number) =>
    child ? parseAmounts(child, member, { path: [...path, step], amounts }) : member;
  if (Array.isArray(value)) return value.map((member, i) => below(items, member, i));
  if (!isRecord(value)) return value;
  const named = (key: string) => (properties && Object.hasOwn(properties, key) ? properties[key] : isObjectSchema(rest) ? rest : undefined);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, below(named(key), member, key)]));
}

function parseAmount(amount: unknown, value: unknown, { path, amounts }: At): unknown {
  const { unit, min, max, bare } = amountKeyword.parse(amount);
  const schema = bare ? intervalMinutes(max) : unit === "bytes" ? sizeBytes(min, max) : duration(unit, min, max);
  const { data, error } = schema.safeParse(value);
  amounts.paths.add(JSON.stringify(path));
  if (error) amounts.issues.push({ path, message: error.issues[0]?.message ?? "expected an amount" });
  return data;
}

/** Fault of a keyword `amount` in a schema, with its path; undefined when there is none. */
export function amountFault(schema: JsonSchema, path: string): string | undefined {
  const { amount, properties, additionalProperties: rest, items, $defs } = schema as SchemaTree;
  const wrong = amount === undefined ? undefined : amountKeyword.safeParse(amount).error?.issues[0];
  if (wrong?.code === "custom") return `${path}.amount: ${wrong.message}`;
  if (wrong)
    return `${path}.amount: expected an object such as {"unit": "ms", "min": 0, "max": 60000}, with one of the units ms, s, m, h, d, bytes`;
  const named = { ...properties, ...$defs };
  const children = [
    ...Object.entries(named).map(([key, child]) => [`${path}.${key}`, child] as const),
    ...[items, rest].map((child) => [`${path}.*`, child] as const),
  ];
  for (const [at, child] of children) {
    const fault = isObjectSchema(child) ? amountFault(child, at) : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}
