import { z } from "zod";

const durationUnits: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const sizeUnits: Record<string, number> = { b: 1, kb: 1_000, mb: 1_000_000, gb: 1_000_000_000 };

/** `1h30m`, `45s`, `250ms` → milliseconds; undefined when it is not a duration. */
export function parseDuration(text: string): number | undefined {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map((p) => p[0]).join("") !== text.trim()) return undefined;
  return parts.reduce((sum, p) => sum + Number(p[1]) * (durationUnits[p[2] as string] as number), 0);
}

/** `20mb` → bytes (powers of 1000); undefined when it is not a size. */
export function parseSize(text: string): number | undefined {
  const m = /^(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)$/i.exec(text.trim());
  return m ? Math.round(Number(m[1]) * (sizeUnits[(m[2] as string).toLowerCase()] as number)) : undefined;
}

/** A whole number of milliseconds, or a duration such as `30s`. */
export const durationMs = (min = 0, max = Number.MAX_SAFE_INTEGER) =>
  z.union([z.number().int(), z.string()]).transform((value, ctx) => {
    const ms = typeof value === "number" ? value : parseDuration(value);
    if (ms === undefined || ms < min || ms > max) {
      ctx.addIssue({ code: "custom", message: `expected a number of milliseconds or a duration such as "30s" (${min} to ${max} ms)` });
      return z.NEVER;
    }
    return ms;
  });

/** A whole number of bytes, or a size such as `20mb`. */
export const sizeBytes = (min: number, max: number) =>
  z.union([z.number().int(), z.string()]).transform((value, ctx) => {
    const bytes = typeof value === "number" ? value : parseSize(value);
    if (bytes === undefined || bytes < min || bytes > max) {
      ctx.addIssue({ code: "custom", message: `expected a number of bytes or a size such as "20mb" (${min} to ${max} bytes)` });
      return z.NEVER;
    }
    return bytes;
  });

/** A value that is never printed, logged or returned. */
export const secret = () => z.string().min(1).meta({ sensitive: true });
