import { createPublicKey } from "node:crypto";
import { digestOf } from "./digest-text.ts";
import { type Headers, type Key, present, type Scheme, type Signature } from "./scheme.ts";

/** Names of the specification, and those that one large sender used before it. */
const families = ["webhook", "svix"] as const;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** Prefix of a 32-byte Ed25519 key in its DER form (RFC 8410, section 4). */
const ED25519_SPKI = Buffer.from("302a300506032b6570032100", "hex");
const ED25519_SIGNATURE = /^[A-Za-z0-9+/]{86}(==)?$/;

/** `webhook-signature: v1,<base64>[ v1,…]` over `id.ts.body`; `v1a` with an Ed25519 key. */
export const standardWebhooks: Scheme = {
  secretHeaders: families.map((family) => `${family}-signature`),
  keyOf(secret) {
    if (secret.startsWith("whpk_")) return publicKey(secret.slice(5));
    const bytes = decode(secret.replace(/^whsec_/, ""));
    return bytes && { kind: "hmac", bytes };
  },
  claimOf(headers) {
    const family = familyOf(headers);
    const [id, timestamp, value] = ["id", "timestamp", "signature"].map((part) => present(headers, `${family}-${part}`));
    if (id === undefined || timestamp === undefined || value === undefined) return undefined;
    return { before: `${id}.${timestamp}.`, signatures: value.split(/[\s]+/).flatMap(signatureOf), timestamp };
  },
  deliveryId: ({ headers }) => present(headers, `${familyOf(headers)}-id`),
};

/** One family decides about all three headers: a mixture would let an unsigned id stand for the signed one. */
function familyOf(headers: Headers): (typeof families)[number] {
  return families.find((family) => present(headers, `${family}-signature`) !== undefined) ?? "webhook";
}

function signatureOf(text: string): Signature[] {
  if (text.startsWith("v1,")) return digestOf(text.slice(3), "base64");
  if (!text.startsWith("v1a,") || !ED25519_SIGNATURE.test(text.slice(4))) return [];
  return [{ kind: "ed25519", bytes: Buffer.from(text.slice(4), "base64") }];
}

function decode(text: string): Buffer | undefined {
  return base64.test(text) ? Buffer.from(text, "base64") : undefined;
}

function publicKey(text: string): Key | undefined {
  const bytes = decode(text);
  if (bytes?.length !== 32) return undefined;
  return { kind: "ed25519", key: createPublicKey({ key: Buffer.concat([ED25519_SPKI, bytes]), format: "der", type: "spki" }) };
}
