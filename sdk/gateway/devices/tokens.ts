import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { DeviceRecord, DeviceRole, DeviceToken } from "./record.ts";

/** A fresh device token: 32 random bytes, base64url. It is shown once; only its digest is kept. */
export function createDeviceToken(): { token: string; hash: string } {
  const token = randomBytes(32).toString("base64url");
  return { token, hash: digest(token) };
}

/** What a token that was presented is worth: it opens, it was once given and revoked since, or nobody knows it. Work is the same for all. */
export function judgeDeviceToken(
  record: DeviceRecord | undefined,
  role: DeviceRole,
  presented: string,
): { verdict: "valid"; entry: DeviceToken } | { verdict: "revoked" } | { verdict: "unknown" } {
  const entry = record?.tokens.find((token) => token.role === role);
  const isSame = timingSafeEqual(Buffer.from(digest(presented)), Buffer.from(entry?.hash ?? digest("")));
  if (!entry || !isSame) return { verdict: "unknown" };
  return entry.revokedAtMs === undefined ? { verdict: "valid", entry } : { verdict: "revoked" };
}

/** The record with another token for the role of `token`. */
export function withToken(record: DeviceRecord, token: DeviceToken): DeviceRecord {
  return { ...record, tokens: [...record.tokens.filter(({ role }) => role !== token.role), token] };
}

function digest(token: string): string {
  return hash("sha256", token, "hex");
}
