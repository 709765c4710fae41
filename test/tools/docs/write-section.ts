import { z } from "zod";
import type { SectionNode } from "../../../kernel/config/section-document.ts";
import { amountFieldOf } from "../../../sdk/config/amounts.ts";
import { aliasesOf } from "../../../sdk/config/fields.ts";

/** The parts of a zod schema that the writer looks at. */
interface Def {
  type: string;
  /** A text in a form of its own, such as an address. */
  format?: string;
  check?: string;
  coerce?: boolean;
  innerType?: z.ZodType;
  element?: z.ZodType;
  keyType?: z.ZodType;
  valueType?: z.ZodType;
  shape?: Record<string, z.ZodType>;
  catchall?: { def: Def };
  defaultValue?: unknown;
  checks?: ReadonlyArray<{ _zod: { def: Check } }>;
}

interface Check {
  check: string;
  format?: string;
  pattern?: RegExp;
  /** Of `greater_than` and `less_than`. */
  inclusive?: boolean;
  params?: { except?: string[] };
  error?: (issue: object) => string | undefined;
}

const defOf = (schema: unknown) => (schema as { def: Def }).def;
const metaOf = (schema: unknown) => z.globalRegistry.get(schema as z.ZodType) as SectionNode | undefined;
const checksOf = (schema: unknown) => (defOf(schema).checks ?? []).map((check) => check._zod.def);
const messageOf = ({ error }: Check) => error?.({}) ?? "";

/**
 * Writes a section of the config as JSON Schema, from which `readSection` makes the same section again.
 * @throws {Error} naming the key that has no such form, such as one with a rule of its own
 */
export function writeSection(name: string, section: z.ZodType): SectionNode {
  requireReadable(section, name);
  const { $schema: _, ...written } = z.toJSONSchema(section, { io: "input", unrepresentable: "any", override: addKeywords });
  return written as SectionNode;
}

function addKeywords({ zodSchema, jsonSchema }: { zodSchema: unknown; jsonSchema: object }): void {
  const node = jsonSchema as SectionNode;
  const { type, defaultValue } = defOf(zodSchema);
  const amount = amountFieldOf(zodSchema as z.ZodType);
  if (amount) node.amount = amount;
  const aliases = aliasesOf(zodSchema as z.ZodType);
  if (aliases) node.aliases = aliases;
  const checks = checksOf(zodSchema);
  const patterns = checks.filter(({ pattern }) => pattern);
  if (patterns.length > 0)
    node.patterns = patterns.map((check) => ({ pattern: (check.pattern as RegExp).source, message: messageOf(check) }));
  const refusal = checks.find(({ params }) => params?.except);
  if (refusal) node.except = { values: refusal.params?.except ?? [], message: messageOf(refusal) };
  if (type !== "default" && type !== "prefault" && type !== "optional") return;
  node.absent = type;
  const shown = metaOf(zodSchema)?.default;
  if (type === "optional" && shown !== undefined) node.default = shown;
  if (type !== "default") return;
  node.default = shown ?? defaultValue;
  if (node.default !== defaultValue) node.parsedDefault = defaultValue;
}

const readableTypes = new Set(["object", "record", "array", "enum", "string", "number", "boolean", "optional", "default", "prefault"]);
/** Checks in the order in which the reader makes them: the first that fails is told first. */
const readableChecks = ["number_format", "min_length", "greater_than", "max_length", "less_than", "string_format", "custom"];

function requireReadable(schema: z.ZodType, path: string): void {
  if (amountFieldOf(schema) || aliasesOf(schema) || metaOf(schema)?.sensitive) return;
  const { type, format, check, coerce, innerType, element, keyType, valueType, shape, catchall } = defOf(schema);
  const refuse = (what: string): never => {
    throw new Error(`${path}: ${what} has no form in a written section`);
  };
  if (!readableTypes.has(type)) refuse(type);
  if (coerce) refuse("a value that is coerced");
  if (type === "string" && (format ?? check) !== undefined) refuse(`the format ${String(format ?? check)}`);
  const checks = checksOf(schema);
  const unknown = checks.find((check) => !isReadable(check));
  if (unknown) refuse(unknown.check);
  const ranks = checks.map(({ check }) => readableChecks.indexOf(check));
  if (ranks.some((rank, i) => rank < (ranks[i - 1] ?? 0))) refuse("this order of checks");
  if (type === "object" && (catchall && defOf(catchall).type) !== "never") refuse("an open object");
  if (innerType && defOf(innerType).innerType) refuse(`${type} of ${defOf(innerType).type}`);
  if (innerType) requireReadable(innerType, path);
  if (keyType && defOf(keyType).type !== "string") refuse("a record whose keys are no texts");
  for (const inner of [keyType, valueType]) if (inner) requireReadable(inner, `${path}.<name>`);
  if (element) requireReadable(element, `${path}.*`);
  for (const [key, inner] of Object.entries(shape ?? {})) requireReadable(inner, `${path}.${key}`);
}

function isReadable(check: Check): boolean {
  if (check.check === "custom") return check.params?.except !== undefined;
  if (check.check === "string_format") return check.format === "regex" && check.pattern?.flags === "" && check.error !== undefined;
  return readableChecks.includes(check.check) && check.inclusive !== false && check.error === undefined;
}
