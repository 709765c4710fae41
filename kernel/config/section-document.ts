import { z } from "zod";
import { type AmountField, duration, intervalMinutes, sizeBytes } from "../../sdk/config/amounts.ts";
import { type Aliases, choice, secret } from "../../sdk/config/fields.ts";

/**
 * JSON Schema of a part of a section, with the few keywords that zod knows and JSON Schema does not. What other keywords say twice (`anyOf` of an amount,
 * `allOf` of several patterns) is for readers that do not know them.
 */
export interface SectionNode {
  type?: string;
  enum?: string[];
  /** Members of `enum` that are other names, each with the member that it stands for. */
  aliases?: Aliases;
  properties?: Record<string, SectionNode>;
  items?: SectionNode;
  /** Of a record: its keys, and its values. */
  propertyNames?: SectionNode;
  additionalProperties?: SectionNode | false;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  description?: string;
  reload?: string;
  /** True for a secret: a text, or a reference in its place. */
  sensitive?: boolean;
  /** As documents show it. */
  default?: unknown;
  /** Meaning of an absent key: its default, its default as it would be written, or nothing. */
  absent?: "default" | "prefault" | "optional";
  /** The default itself, where documents show it in another form. */
  parsedDefault?: unknown;
  /** An amount, which may be written as a number or as a text with a unit. */
  amount?: AmountField;
  /** Expressions that a text has to match, each with its message. */
  patterns?: Array<{ pattern: string; message: string }>;
  /** Texts that are refused, with the message. */
  except?: { values: string[]; message: string };
}

/** Makes a section of the config from its written form: the same values, faults and documents. No code of its plugin runs. */
export function readSection(node: SectionNode): z.ZodType {
  const { absent, reload, default: shown, parsedDefault = shown } = node;
  const isShown = absent === "optional" ? shown !== undefined : node.parsedDefault !== undefined;
  // In the order of the author, which documents keep.
  const meta = Object.entries(node).filter(([key]) => key === "description" || key === "reload" || (key === "default" && isShown));
  const described = <S extends z.ZodType>(schema: S) => (meta.length === 0 ? schema : schema.meta(Object.fromEntries(meta)));
  // A reload class stands at a section, and not at what its absence means.
  return reload === undefined
    ? described(absentAs(absent, schemaOf(node), parsedDefault))
    : absentAs(absent, described(schemaOf(node)), parsedDefault);
}

function absentAs(absent: SectionNode["absent"], schema: z.ZodType, value: unknown): z.ZodType {
  if (absent === "default") return schema.default(value);
  if (absent === "prefault") return schema.prefault(value);
  return absent === "optional" ? schema.optional() : schema;
}

function schemaOf(node: SectionNode): z.ZodType {
  const { type, items, properties, amount } = node;
  if (amount) return amountOf(amount);
  if (node.sensitive) return secret();
  if (node.enum) return choiceOf(node.enum, node.aliases);
  if (type === "array" && items) return bounded(z.array(readSection(items)), node.minItems, node.maxItems);
  if (type === "string") return textOf(node);
  if (type === "integer") return bounded(z.number().int(), lower(node.minimum), upper(node.maximum));
  if (type === "number") return bounded(z.number(), node.minimum, node.maximum);
  if (type === "boolean") return z.boolean();
  if (node.propertyNames && node.additionalProperties) return z.record(textOf(node.propertyNames), readSection(node.additionalProperties));
  if (properties) return z.strictObject(Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, readSection(child)])));
  throw new Error(`a section cannot hold a value of the type ${String(type)}`);
}

function choiceOf(names: readonly string[], aliases: Aliases | undefined): z.ZodType {
  return aliases
    ? choice(
        names.filter((name) => !Object.hasOwn(aliases, name)),
        aliases,
      )
    : z.enum(names);
}

function amountOf({ unit, min, max, bare }: AmountField): z.ZodType {
  if (bare === "m") return intervalMinutes(max);
  return unit === "bytes" ? sizeBytes(min, max) : duration(unit, min, max);
}

function textOf({ minLength, maxLength, patterns = [], except }: SectionNode): z.ZodType<string, string> {
  const matching = patterns.reduce(
    (text, { pattern, message }) => text.regex(new RegExp(pattern), message),
    bounded(z.string(), minLength, maxLength),
  );
  if (!except) return matching;
  const { values, message } = except;
  return matching.refine((text) => !values.includes(text), { error: message, params: { except: values } });
}

interface Bounded<T> {
  min(value: number): T;
  max(value: number): T;
}

function bounded<T extends Bounded<T>>(schema: T, min: number | undefined, max: number | undefined): T {
  const above = min === undefined ? schema : schema.min(min);
  return max === undefined ? above : above.max(max);
}

/** Bounds that only say "an integer" are none of the author's. */
const lower = (minimum: number | undefined) => (minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum);
const upper = (maximum: number | undefined) => (maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum);
