import { z } from "zod";

const durationUnits: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const sizeUnits: Record<string, number> = { b: 1, kb: 1_000, mb: 1_000_000, gb: 1_000_000_000 };
const unitNames = { ms: "milliseconds", s: "seconds", m: "minutes", h: "hours", d: "days" } as const;

/** Unit that a key names; its value is kept in it. */
export type DurationUnit = keyof typeof unitNames;

/** `1h30m`, `45s`, `250ms` → milliseconds; undefined when it is not a duration. */
export function parseDuration(text: string): number | undefined {
  const parts = [...text.trim().matchAll(/(?<![\d.])(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map((p) => p[0]).join("") !== text.trim()) return undefined;
  return parts.reduce((sum, p) => sum + Number(p[1]) * (durationUnits[p[2] as string] as number), 0);
}

/** `20mb` → bytes (powers of 1000); undefined when it is not a size. */
export function parseSize(text: string): number | undefined {
  const m = /^(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)$/i.exec(text.trim());
  return m ? Math.round(Number(m[1]) * (sizeUnits[(m[2] as string).toLowerCase()] as number)) : undefined;
}

/** Unit and range of an amount. A section of the config that stands in a file is made from them again. */
export interface AmountField {
  unit: DurationUnit | "bytes";
  min: number;
  max: number;
  /** Unit of a bare number where it is not `unit`. */
  bare?: "m";
}

/** By the definition, which a schema keeps when it is copied to get a description. */
const fields = new WeakMap<object, AmountField>();

/** Unit and range of a schema made by {@link duration}, {@link intervalMinutes} or {@link sizeBytes}; undefined for any other. */
export function amountFieldOf(schema: z.ZodType): AmountField | undefined {
  return fields.get(schema.def);
}

/** Range and wording of an amount that may be written as a number or as a text with a unit. */
interface Amount extends AmountField {
  /** Unit of the number: `milliseconds`. */
  counted: string;
  example: string;
  parse(text: string): number | undefined;
}

function amount({ unit, min, max, counted, example, parse }: Amount) {
  const range = `${min} to ${max === Number.MAX_SAFE_INTEGER ? "any" : max} ${counted}`;
  const message = `expected a whole number of ${counted} or a text such as "${example}" (${range})`;
  const number = z.number({ error: message }).int({ error: message }).min(min, { error: message }).max(max, { error: message });
  const text = z.string({ error: message }).transform((written, ctx) => {
    const value = parse(written);
    if (value !== undefined && Number.isInteger(value) && value >= min && value <= max) return value;
    if (value === undefined || !Number.isInteger(value)) ctx.addIssue({ code: "custom", message });
    else if (value < min) ctx.addIssue({ code: "too_small", origin: "number", minimum: min, input: written, message });
    else ctx.addIssue({ code: "too_big", origin: "number", maximum: max, input: written, message });
    return z.NEVER;
  });
  const schema = z.union([number, text], { error: message });
  fields.set(schema.def, { unit, min, max });
  return schema;
}

/** A whole number of the unit that the key names, or a duration such as `30s` that makes a whole number of it. */
export const duration = (unit: DurationUnit, min = 0, max = Number.MAX_SAFE_INTEGER) =>
  amount({
    unit,
    min,
    max,
    counted: unitNames[unit],
    example: unit === "d" ? "7d" : unit === "m" || unit === "h" ? "1h" : "30s",
    parse: (text) => {
      const ms = parseDuration(text);
      return ms === undefined ? undefined : ms / (durationUnits[unit] as number);
    },
  });

/** A whole number of milliseconds, or a duration such as `30s`. */
export const durationMs = (min = 0, max = Number.MAX_SAFE_INTEGER) => duration("ms", min, max);

/** A duration with its unit, as milliseconds, for keys that name no unit: `30d`. A bare number is refused, except `0` where `min` is 0. */
export const durationText = (min = 0, max = Number.MAX_SAFE_INTEGER) => {
  const message = `expected a text with a unit such as "30m" or "30d"${min === 0 ? ", or 0" : ""}`;
  const text = z.string({ error: message }).transform((written, ctx) => {
    const ms = written === "0" ? 0 : parseDuration(written);
    if (ms !== undefined && ms >= min && ms <= max) return ms;
    if (ms === undefined) ctx.addIssue({ code: "custom", message });
    else if (ms < min)
      ctx.addIssue({ code: "too_small", origin: "number", minimum: min, input: written, message: `${message} (at least ${min} ms)` });
    else ctx.addIssue({ code: "too_big", origin: "number", maximum: max, input: written, message: `${message} (at most ${max} ms)` });
    return z.NEVER;
  });
  return z.union(min === 0 ? [z.literal(0), text] : [text], { error: message });
};

/** A duration with its unit, or a bare number of minutes; as milliseconds. `0` switches off. */
export const intervalMinutes = (max = 366 * 86_400_000) => {
  const message = 'expected a text such as "30m", or a number of minutes; 0 = off';
  const text = z.string({ error: message }).transform((written, ctx) => {
    const ms = written === "0" ? 0 : parseDuration(written);
    if (ms !== undefined && ms <= max) return ms;
    if (ms === undefined) ctx.addIssue({ code: "custom", message });
    else
      ctx.addIssue({
        code: "too_big",
        origin: "number",
        maximum: max,
        input: written,
        message: `${message} (at most ${max / 60_000} minutes)`,
      });
    return z.NEVER;
  });
  const minutes = z
    .number({ error: message })
    .min(0)
    .max(max / 60_000)
    .transform((value) => value * 60_000);
  const schema = z.union([minutes, text], { error: message });
  fields.set(schema.def, { unit: "ms", min: 0, max, bare: "m" });
  return schema;
};

/** A whole number of bytes, or a size such as `20mb`. */
export const sizeBytes = (min: number, max: number) =>
  amount({ unit: "bytes", min, max, counted: "bytes", example: "20mb", parse: parseSize });

/** Bytes as in {@link sizeBytes}, or a share of another size: `80%`, 1 to 100. The share stays a text. */
export const sizeOrShare = (min: number, max: number) =>
  z.union(
    [sizeBytes(min, max), z.string().regex(/^([1-9]\d?|100)%$/, 'expected a size such as "1gb", or a share such as "80%", 1 to 100')],
    { error: 'expected a size such as "1gb", or a share such as "80%"' },
  );
