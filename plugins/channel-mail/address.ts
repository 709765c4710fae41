/** Longest address (RFC 5321, 4.5.3.1). */
const MAX_CHARS = 254;

/** A local part without quotes, and a domain: what is sent to has no blanks, commands or further recipients in it. */
const shape = /^[^\s\p{Cc}<>()[\]\\,;:"@]{1,64}@[^\s\p{Cc}<>()[\]\\,;:"@]{1,189}$/u;

/** An address as everybody writes it, in lower case; undefined for what is none. Takes `mailto:` and `Name <address>` off. */
export function toAddress(raw: string): string | undefined {
  const trimmed = raw.slice(0, 2 * MAX_CHARS).trim();
  const bare = trimmed.endsWith(">") ? trimmed.slice(trimmed.lastIndexOf("<") + 1, -1) : trimmed.replace(/^mailto:/i, "");
  return bare.length <= MAX_CHARS && shape.test(bare) ? bare.toLowerCase() : undefined;
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}
