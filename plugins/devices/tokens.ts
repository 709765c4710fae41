import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { DeviceRole, OperatorScope } from "svc/sdk";
import { hasScope } from "svc/sdk/internal";
import { deviceErrors } from "./errors.ts";
import type { DeviceRecord, DeviceToken } from "./record.ts";

/** Checks a presented token: valid, revoked, or unknown. Work is the same for all. */
export function checkDeviceToken(
  record: DeviceRecord | undefined,
  role: DeviceRole,
  presented: string,
): { verdict: "valid"; entry: DeviceToken } | { verdict: "revoked" } | { verdict: "unknown" } {
  const entry = record?.tokens.find((token) => token.role === role);
  const isSame = timingSafeEqual(Buffer.from(digest(presented)), Buffer.from(entry?.hash ?? digest("")));
  if (!entry || !isSame) return { verdict: "unknown" };
  return entry.revokedAtMs === undefined ? { verdict: "valid", entry } : { verdict: "revoked" };
}

/** A record with a fresh token, and that token, which is shown once: 32 random bytes, base64url; only its digest is kept. */
export interface FreshToken {
  record: DeviceRecord;
  token: string;
  entry: DeviceToken;
}

/**
 * A token in place of the one before, if there was one.
 * @param scopes default: those the token has, at first all that the device was approved for
 * @throws {SvcError} `unknown-device-role`, `device-scopes` for more than that
 */
export function withFreshToken(
  record: DeviceRecord,
  role: DeviceRole,
  { now, scopes }: { now: number; scopes?: readonly OperatorScope[] | undefined },
): FreshToken {
  const held = tokenScopes(record, role);
  const wider = scopes?.filter((scope) => !hasScope(held, scope)) ?? [];
  if (wider.length > 0) throw deviceErrors.deviceScopes({ wider: wider.join(", ") });
  const token = randomBytes(32).toString("base64url");
  const entry = { role, scopes: [...new Set(scopes ?? held)], hash: digest(token), createdAtMs: now };
  return { record: withToken(record, entry), token, entry };
}

/** The token of a role opens nothing any more. A role that never had one stays as it is. @throws {SvcError} `unknown-device-role` */
export function withRevokedToken(record: DeviceRecord, role: DeviceRole, now: number): { record: DeviceRecord; revokedAtMs: number } {
  tokenScopes(record, role);
  const entry = record.tokens.find((token) => token.role === role);
  const revokedAtMs = entry?.revokedAtMs ?? now;
  return { record: entry ? withToken(record, { ...entry, revokedAtMs }) : record, revokedAtMs };
}

function tokenScopes(record: DeviceRecord, role: DeviceRole): OperatorScope[] {
  if (!record.roles.includes(role)) throw deviceErrors.unknownDeviceRole({ role });
  return record.tokens.find((token) => token.role === role)?.scopes ?? (role === "operator" ? record.scopes : []);
}

function withToken(record: DeviceRecord, token: DeviceToken): DeviceRecord {
  return { ...record, tokens: [...record.tokens.filter(({ role }) => role !== token.role), token] };
}

function digest(token: string): string {
  return hash("sha256", token, "hex");
}
