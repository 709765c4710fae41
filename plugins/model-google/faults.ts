import { type ModelFault, z } from "svc/sdk";
import type { FaultRules, VendorError } from "svc/sdk/internal";

const errorSchema = z.looseObject({
  error: z.looseObject({
    details: z
      .array(
        z.looseObject({
          "@type": z.string().optional(),
          reason: z.unknown().optional(),
          retryDelay: z.unknown().optional(),
          violations: z
            .array(z.looseObject({ quotaId: z.unknown().optional() }))
            .optional()
            .catch(undefined),
        }),
      )
      .optional(),
  }),
});
/** A longer wait says nothing that an hour does not. */
const MAX_WAIT_MS = 3_600_000;

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

/** Every 429 speaks of quota and billing. One for the day is used up, whatever wait stands beside it; a limit by the minute has its own id, or says when to come again. */
function faultOf429(error: VendorError, message: string): ModelFault {
  const quotas = detailsOf(error).flatMap(({ violations = [] }) => violations.map(({ quotaId }) => String(quotaId)));
  if (quotas.some((id) => id.includes("PerDay"))) return "quota";
  return quotas.length === 0 && retryDelayOf(error) === undefined && /exceeded your current quota/i.test(message) ? "quota" : "rate_limit";
}

function retryDelayOf(error: VendorError): number | undefined {
  const info = detailsOf(error).find((detail) => detail["@type"]?.endsWith("google.rpc.RetryInfo"));
  const [, seconds] = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(String(info?.retryDelay)) ?? [];
  return seconds === undefined ? undefined : Math.min(Math.ceil(Number(seconds) * 1_000), MAX_WAIT_MS);
}

function detailsOf({ body }: VendorError) {
  try {
    return errorSchema.parse(JSON.parse(body ?? "")).error.details ?? [];
  } catch {
    return [];
  }
}
