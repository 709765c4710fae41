import type { Signature } from "./scheme.ts";

const forms = {
  hex: /^[0-9a-f]{64}$/i,
  base64: /^[A-Za-z0-9+/_-]{43}=?$/,
};

/**
 * An HMAC-SHA256 from its text. Anything else is no signature at all: Node's own readers skip what they do not know, so that several texts would
 * mean one digest.
 */
export function digestOf(text: string, encoding: keyof typeof forms): Signature[] {
  return forms[encoding].test(text) ? [{ kind: "hmac", bytes: Buffer.from(text, encoding) }] : [];
}
