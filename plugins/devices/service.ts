import type { Devices, KnownDevice, PairingRequest } from "svc/sdk";
import type { DeviceRegistry } from "./device-registry.ts";
import { upgradeReason } from "./pairing-request.ts";
import type { DeviceRecord, PendingDevice } from "./record.ts";
import { checkDeviceToken } from "./tokens.ts";

/** Creates the service `devices@1`: what the gateway asks during a handshake. */
export function createDevices(registry: DeviceRegistry, now: () => number): Devices {
  return {
    async find(deviceId) {
      const record = await registry.find(deviceId);
      return record && toKnownDevice(record);
    },
    async pairSilently(request) {
      await registry.pairSilently(request);
    },
    ask: (request, from) => registry.pending.ask(toPending(request, { ...from, ts: now() })),
    invited: (token) => registry.invitations.find(token)?.scopes,
    pairInvited: registry.pairInvited,
    issue: registry.issue,
    seen: registry.seen,
  };
}

function toKnownDevice(record: DeviceRecord): KnownDevice {
  return {
    roles: record.roles,
    scopes: record.scopes,
    upgradeReason: (request) => upgradeReason(record, request),
    judge: (role, token) => checkDeviceToken(record, role, token),
  };
}

function toPending(
  { role, scopes, ...identity }: PairingRequest,
  from: { remoteIp: string; isRepair: boolean; ts: number },
): Omit<PendingDevice, "requestId"> {
  return { ...identity, role, roles: [role], scopes, remoteIp: from.remoteIp, silent: false, isRepair: from.isRepair, ts: from.ts };
}
