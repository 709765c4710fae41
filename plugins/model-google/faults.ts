import { type ModelFault, z } from "svc/sdk";
import type { FaultRules, VendorError } from "svc/sdk/internal";

const errorSchema = z.looseObject({
  error: z.looseObject({
    details: z
      .array(z.looseObject({ "@type": z.string().optional(), reason: z.unknown().optional(), retryDelay: z.unknown().optional() }))
      .optional(),
  }),
});

/** The vendor's errors have their causes in `details`. */
export const faultRules: FaultRules = {
  faultOf(error) {
    const { status, words } = error;
    const message = words.message ?? "";
    // A rejected key is 400 here.
    if (detailsOf(error).some(({ reason }) => reason === "API_KEY_INVALID") || /API key (?:not valid|expired)/i.test(message))
      return "auth";
    if (status === 429) return faultOf429(error, message);
    return /input token count .{0,40}exceeds the maximum/i.test(message) ? "context_overflow" : undefined;
  },
  retryAfterMs: retryDelayOf,
};

/** A limit by the minute says when to come again; a quota that is used up does not. */
function faultOf429(error: VendorError, message: string): ModelFault {
  return retryDelayOf(error) === undefined && /exceeded your current quota/i.test(message) ? "quota" : "rate_limit";
}

function retryDelayOf(error: VendorError): number | undefined {
  const info = detailsOf(error).find((detail) => detail["@type"]?.endsWith("google.rpc.RetryInfo"));
  const [, seconds] = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(String(info?.retryDelay)) ?? [];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
}

function detailsOf({ body }: VendorError) {
  try {
    return errorSchema.parse(JSON.parse(body ?? "")).error.details ?? [];
  } catch {
    return [];
  }
}
