import { z } from "zod";
import { parseDuration } from "./amounts.ts";

/** Range a number is clamped to; `whole` truncates it first. */
export interface ClampRange {
  min: number;
  max?: number;
  whole?: boolean;
}

/** A number that is brought into its range instead of being refused. One that is not finite (`1e999`) counts as not set. */
export const clamped = (range: ClampRange) => numberLike(range).transform((value) => intoRange(value, range));

/** The same for whole days, also written as a duration: `36h` is one day. */
export const clampedDays = (range: ClampRange) => {
  const error = 'expected a number of days or a text such as "7d"';
  const text = z.string({ error }).transform((written, ctx) => {
    const days = daysOf(written);
    if (days !== undefined) return intoRange(days, range);
    ctx.addIssue({ code: "custom", message: error });
    return z.NEVER;
  });
  return z.union([numberLike(range).transform((value) => intoRange(value, range)), text], { error });
};

/** Names out of a closed set; others are dropped instead of being refused. */
export const knownNames = <N extends string>(names: readonly [N, ...N[]]) => {
  const name = z.custom<N>((value) => typeof value === "string", { error: `expected one of ${names.join(", ")}` });
  return z.array(name.meta({ type: "string", enum: names })).transform((all) => all.filter((one) => names.includes(one)));
};

/** Days that a duration makes, with what is behind the point; undefined when the text is none. */
export function daysOf(text: string): number | undefined {
  const ms = parseDuration(text);
  return ms === undefined ? undefined : ms / 86_400_000;
}

/** zod's own number takes no `Infinity`, and `meta` tells the generated schema what this one is. */
const numberLike = ({ whole }: ClampRange) =>
  z.custom<number>((value) => typeof value === "number", { error: "expected a number" }).meta({ type: whole ? "integer" : "number" });

function intoRange(value: number, { min, max = Number.POSITIVE_INFINITY, whole = false }: ClampRange): number | undefined {
  if (!Number.isFinite(value)) return undefined;
  return Math.min(max, Math.max(min, whole ? Math.floor(value) : value));
}
