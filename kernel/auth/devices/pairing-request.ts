import { plainName } from "../../../sdk/protocol/device.ts";
import { hasScope } from "../../../sdk/scopes.ts";
import type { OperatorScope } from "../../../sdk/types/rpc.ts";
import type { ApprovedVia, DeviceIdentity, DeviceRecord, DeviceRole, PendingDevice } from "./record.ts";

/** What a device asks to be. */
export interface DeviceWish extends DeviceIdentity {
  role: DeviceRole;
  scopes: OperatorScope[];
}

/** Why a record does not cover a wish. */
export type UpgradeReason = "not-paired" | "role-upgrade" | "scope-upgrade" | "metadata-upgrade";

/** Why a record does not cover what a device asks for; undefined when it does. */
export function upgradeReason(record: DeviceRecord | undefined, wish: DeviceWish): UpgradeReason | undefined {
  if (!record) return "not-paired";
  if (!record.roles.includes(wish.role)) return "role-upgrade";
  if (!wish.scopes.every((scope) => hasScope(record.scopes, scope))) return "scope-upgrade";
  const isSame = (a: string | undefined, b: string | undefined) => plainName(a) === plainName(b);
  return isSame(record.platform, wish.platform) && isSame(record.deviceFamily, wish.deviceFamily) ? undefined : "metadata-upgrade";
}

/** What a waiting device asked for. */
export function wishOf(pending: PendingDevice): DeviceWish {
  const { requestId: _, roles: _roles, remoteIp: _ip, silent: _silent, isRepair: _repair, ts: _ts, ...wish } = pending;
  return wish;
}

/** The record after somebody said yes: rights are added, those of other roles stay as they were. */
export function approvedRecord(
  before: DeviceRecord | undefined,
  wish: DeviceWish,
  { via, now }: { via: ApprovedVia; now: number },
): DeviceRecord {
  const { role, scopes, ...identity } = wish;
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
