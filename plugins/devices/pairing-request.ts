import type { PairingRequest, UpgradeReason } from "svc/sdk";
import { hasScope, plainName } from "svc/sdk/internal";
import type { ApprovedVia, DeviceRecord, PendingDevice } from "./record.ts";

/** Reason why a record does not cover what a device asks for; undefined when it does. */
export function upgradeReason(record: DeviceRecord, request: PairingRequest): UpgradeReason | undefined {
  if (!record.roles.includes(request.role)) return "role-upgrade";
  if (!request.scopes.every((scope) => hasScope(record.scopes, scope))) return "scope-upgrade";
  const isSame = (a: string | undefined, b: string | undefined) => plainName(a) === plainName(b);
  return isSame(record.platform, request.platform) && isSame(record.deviceFamily, request.deviceFamily) ? undefined : "metadata-upgrade";
}

/** Reads the request out of a pending row. */
export function pairingRequestOf(pending: PendingDevice): PairingRequest {
  const { requestId: _, roles: _roles, remoteIp: _ip, silent: _silent, isRepair: _repair, ts: _ts, ...request } = pending;
  return request;
}

/** The record after somebody said yes: rights are added, those of other roles stay as they were. */
export function approvedRecord(
  before: DeviceRecord | undefined,
  request: PairingRequest,
  { via, now }: { via: ApprovedVia; now: number },
): DeviceRecord {
  const { role, scopes, ...identity } = request;
  const joined = <T>(old: readonly T[] | undefined, added: readonly T[]) => [...new Set([...(old ?? []), ...added])];
  return {
    ...identity,
    ...(before?.label === undefined ? {} : { label: before.label }),
    roles: joined(before?.roles, [role]),
    scopes: joined(before?.scopes, scopes),
    approvedVia: via,
    createdAtMs: before?.createdAtMs ?? now,
    approvedAtMs: now,
    lastSeenAtMs: before?.lastSeenAtMs ?? now,
    tokens: (before?.tokens ?? []).map((token) => (token.role === role ? { ...token, scopes: joined(token.scopes, scopes) } : token)),
  };
}
