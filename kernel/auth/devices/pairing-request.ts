import { plainName } from "../../../sdk/protocol/device.ts";
import { hasScope } from "../../../sdk/scopes.ts";
import type { OperatorScope } from "../../../sdk/types/rpc.ts";
import type { ApprovedVia, DeviceIdentity, DeviceRecord, DeviceRole, PendingDevice } from "./record.ts";

/** Identity and role that a device requests. */
export interface PairingRequest extends DeviceIdentity {
  role: DeviceRole;
  scopes: OperatorScope[];
}

/** Reasons why a record does not cover a request. */
export type UpgradeReason = "not-paired" | "role-upgrade" | "scope-upgrade" | "metadata-upgrade";

/** Reason why a record does not cover what a device asks for; undefined when it does. */
export function upgradeReason(record: DeviceRecord | undefined, request: PairingRequest): UpgradeReason | undefined {
  if (!record) return "not-paired";
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
