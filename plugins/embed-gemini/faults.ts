import type { EmbeddingFault } from "svc/sdk";

interface Detail {
  "@type"?: unknown;
  reason?: unknown;
  violations?: unknown;
}

/**
 * Classifies refusals where this vendor differs from the others: a wrong key is a 400, and every 429 mentions quota and billing, also the one that is over
 * in a minute. Undefined: what the status means everywhere. Pure.
 */
export function faultOf(status: number, body: string): EmbeddingFault | undefined {
  const details = detailsOf(body);
  if (status === 400 && details.some(({ reason }) => reason === "API_KEY_INVALID" || reason === "API_KEY_EXPIRED")) return "auth";
  if (status !== 429) return undefined;
  const quotas = details.flatMap(({ violations }) => (Array.isArray(violations) ? violations : []));
  if (quotas.some((quota) => /PerDay/i.test(String((quota as { quotaId?: unknown } | null)?.quotaId)))) return "quota";
  const isBrief = quotas.length > 0 || details.some((detail) => String(detail["@type"]).endsWith("RetryInfo"));
  return isBrief ? "rate-limit" : undefined;
}

function detailsOf(body: string): Detail[] {
  try {
    const { error } = JSON.parse(body) as { error?: { details?: unknown } };
    const details = error?.details;
    return Array.isArray(details) ? details.filter((detail) => typeof detail === "object" && detail !== null) : [];
  } catch {
    return [];
  }
}
