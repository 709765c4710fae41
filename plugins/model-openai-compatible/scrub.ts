const MAX_CHARS = 300;

/** Text of a vendor made fit for logs and people: one line, no key, no credentials in addresses, at most 300 characters. */
export function scrub(text: string, secrets: readonly string[]): string {
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
