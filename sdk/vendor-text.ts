const MAX_CHARS = 300;

/** Vendor's own words about an error in its answer. */
export interface VendorWords {
  message?: string;
  type?: string;
  code?: string;
}

/**
 * Reads the several shapes of error bodies: `{error: {message, type, code}}`, `{error: "…"}`, `{message}`, `{detail}`.
 * @returns nothing of a text that is none of them
 */
export function readVendorWords(body: string | undefined): VendorWords {
  let value: unknown;
  try {
    value = JSON.parse(body ?? "");
  } catch {
    return {};
  }
  if (typeof value !== "object" || value === null) return {};
  const { error, detail, ...rest } = value as Record<string, unknown>;
  const inner = typeof error === "object" && error !== null ? (error as Record<string, unknown>) : rest;
  const message = [inner.message, error, detail].find((text) => typeof text === "string");
  return {
    ...(typeof message === "string" ? { message } : {}),
    ...(typeof inner.type === "string" ? { type: inner.type } : {}),
    ...(inner.code == null ? {} : { code: String(inner.code) }),
  };
}

/** Text of a vendor made fit for logs and people: one line, none of the secrets, nothing that looks like a key, no credentials in addresses, at most 300 characters. */
export function scrubVendorText(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret !== "") clean = clean.replaceAll(secret, "***");
  clean = clean
    .replace(/\b(sk|gsk|pk|key)[-_][\w-]{8,}/gi, "***")
    .replace(/\bBearer\s+\S+/gi, "Bearer ***")
    .replace(/\/\/[^\s/@]+@/g, "//")
    .replace(/\s+/g, " ")
    .trim();
  return clean.length <= MAX_CHARS ? clean : `${clean.slice(0, MAX_CHARS - 1)}…`;
}
