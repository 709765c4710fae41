import { createHmac, timingSafeEqual, verify as verifySignature } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import type { Verified, Verifier } from "../ingress.ts";
import { github } from "./github.ts";
import { genericHmac } from "./hmac.ts";
import type { Claim, Key, Scheme, VerifyConfig } from "./scheme.ts";
import { slack } from "./slack.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import { stripe } from "./stripe.ts";

const DEFAULT_TOLERANCE_SECONDS = 300;
/** More signatures than anybody's change of keys needs; each costs time before the sender is known. */
const MAX_SIGNATURES = 16;
/** Most of a body that is digested in one turn: some milliseconds, while a body may have 32 MiB. */
const SLICE_BYTES = 2_097_152;

/** Off the main thread: this kind of signature cannot be judged in slices. */
const verifyApart = promisify(verifySignature);

const schemes: Record<Exclude<VerifyConfig["provider"], "hmac">, Scheme> = {
  github,
  stripe,
  slack,
  "standard-webhooks": standardWebhooks,
};

function schemeOf(verify: VerifyConfig): Scheme {
  return verify.provider === "hmac" ? genericHmac(verify) : schemes[verify.provider];
}

/** Secrets of a mapping, in a config whose references are resolved already; one that could not be resolved is missing. */
export function secretsOf({ secret, secrets }: VerifyConfig): string[] {
  return [secret, ...(secrets ?? [])].filter((value) => typeof value === "string");
}

/** Secrets that open nothing, and why; no secret is in the text. */
export function secretProblems(verify: VerifyConfig, secrets: readonly string[] = secretsOf(verify)): string[] {
  if (secrets.length === 0) return ["verify: there is no secret, so nothing is let in; set verify.secret"];
  const { keyOf } = schemeOf(verify);
  const wanted =
    verify.provider === "standard-webhooks" ? "base64 behind whsec_, or 32 bytes of it behind whpk_" : "a text that is not blank";
  return secrets.flatMap((secret, i) => (keyOf(secret) ? [] : [`verify: secret ${i + 1} opens nothing; expected ${wanted}`]));
}

/**
 * Judges the signatures that a mapping asks for. A secret that is blank or no key of the scheme opens nothing.
 * @param secrets any of them may have made any of the signatures, so that one can replace another without a gap
 */
export function createVerifier(
  mapping: { id: string; verify: VerifyConfig },
  secrets: readonly string[] = secretsOf(mapping.verify),
): Verifier {
  const { provider, mode = "with-token", toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = mapping.verify;
  const scheme = schemeOf(mapping.verify);
  const keys = secrets.flatMap((secret) => scheme.keyOf(secret) ?? []);
  return {
    mapping: mapping.id,
    provider,
    mode,
    secretHeaders: scheme.secretHeaders,
    async verify({ headers, body, now }) {
      const claim = scheme.claimOf(headers);
      if (!claim) return { ok: false, reason: "missing_header" };
      if (!isTimely(claim, { now, toleranceSeconds })) return { ok: false, reason: "timestamp_out_of_tolerance" };
      return judge(claim, body, keys);
    },
    answer: (request) => scheme.answer?.(request),
    deliveryId(request) {
      const id = scheme.deliveryId(request);
      return typeof id === "string" && id.trim() !== "" ? id.trim() : undefined;
    },
  };
}

/** Both ways: a time far ahead would stay good for as long. */
function isTimely({ timestamp }: Claim, { now, toleranceSeconds }: { now: number; toleranceSeconds: number }): boolean {
  if (timestamp === undefined) return true;
  return /^\d{1,12}$/.test(timestamp) && Math.abs(Math.floor(now / 1_000) - Number(timestamp)) <= toleranceSeconds;
}

async function judge({ before, signatures }: Claim, body: Uint8Array, keys: readonly Key[]): Promise<Verified> {
  const given = signatures.slice(0, MAX_SIGNATURES);
  let matches = false;
  for (const key of keys) {
    const candidates = given.filter(({ kind }) => kind === key.kind).map(({ bytes }) => bytes);
    if (candidates.length === 0) continue;
    if (key.kind === "hmac") {
      const digest = await digestWith(key.bytes, before, body);
      for (const bytes of candidates) matches = (bytes.length === digest.length && timingSafeEqual(bytes, digest)) || matches;
    } else {
      const signed = Buffer.concat([Buffer.from(before), body]);
      for (const bytes of candidates) matches = (await verifyApart(null, signed, key.key, bytes)) || matches;
    }
  }
  return matches ? { ok: true } : { ok: false, reason: "no_match" };
}

async function digestWith(key: Uint8Array, before: string, body: Uint8Array): Promise<Buffer> {
  const hmac = createHmac("sha256", key).update(before);
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    if (at > 0) await nextTurn();
    hmac.update(body.subarray(at, at + SLICE_BYTES));
  }
  return hmac.digest();
}
