import { plainName } from "svc/sdk/internal";
import { deviceErrors } from "./errors.ts";
import { pairingRequestOf, upgradeReason } from "./pairing-request.ts";
import type { DeviceRecord, PendingDevice } from "./record.ts";

/** Time a request waits for an answer. */
export const PENDING_TTL_MS = 300_000;
/** Requests kept; the one that waits longest goes first, so that nobody is locked out by many. */
export const MAX_PENDING_DEVICES = 256;

/** Decision about a pairing request. */
export type PairingDecision = "approved" | "rejected" | "expired";

export interface PendingOptions {
  monotonic(): number;
  randomId(): string;
  requested(device: PendingDevice): void;
  resolved(device: PendingDevice, decision: PairingDecision): void;
}

/** Requests to be paired, at most one per device; in memory only: after a restart the device simply asks again. */
export interface PendingDevices {
  /** Remembers a request, or renews the one of this device. Another request of the same device takes the place of the first, under a new id. */
  ask(request: Omit<PendingDevice, "requestId">): PendingDevice;
  list(): PendingDevice[];
  /** @throws {SvcError} `unknown-request` */
  get(requestId: string): PendingDevice;
  /** Takes a request out, so that nobody else decides about it meanwhile. @throws {SvcError} `unknown-request` */
  take(requestId: string): { settle(decision: PairingDecision): void; restore(): void };
  /** Ends what a device waits for as approved when it has all of it by now: it asked again while somebody approved it. */
  settleCovered(record: DeviceRecord): void;
  /** Drops whatever a device waits for. */
  forget(deviceId: string): void;
  /** Drops those that waited too long. */
  sweep(): void;
  /** Drops all: nobody could answer them any more. */
  clear(): void;
}

export function createPendingDevices(options: PendingOptions): PendingDevices {
  const waiting = new Map<string, { device: PendingDevice; expiresAt: number }>();
  const end = (deviceId: string, decision: PairingDecision) => {
    const found = waiting.get(deviceId);
    if (!found) return;
    waiting.delete(deviceId);
    options.resolved(found.device, decision);
  };
  const sweep = () => {
    const now = options.monotonic();
    for (const [deviceId, { expiresAt }] of waiting) if (expiresAt <= now) end(deviceId, "expired");
  };
  const find = (requestId: string) => {
    sweep();
    const found = [...waiting.values()].find(({ device }) => device.requestId === requestId);
    if (!found) throw deviceErrors.unknownRequest();
    return found;
  };
  return {
    ask(request) {
      sweep();
      const known = waiting.get(request.deviceId)?.device;
      // The person who approves has seen what was asked then: a wider request must not hide behind the same id.
      const isSame = known !== undefined && isSameWish(known, request);
      if (!isSame) end(request.deviceId, "expired");
      const device = { requestId: isSame ? known.requestId : options.randomId(), ...request };
      waiting.delete(request.deviceId);
      waiting.set(request.deviceId, { device, expiresAt: options.monotonic() + PENDING_TTL_MS });
      if (waiting.size > MAX_PENDING_DEVICES) end(waiting.keys().next().value as string, "expired");
      options.requested(device);
      return device;
    },
    list() {
      sweep();
      return [...waiting.values()].map(({ device }) => device);
    },
    get: (requestId) => find(requestId).device,
    take(requestId) {
      const found = find(requestId);
      const { device } = found;
      waiting.delete(device.deviceId);
      return {
        settle: (decision) => options.resolved(device, decision),
        restore() {
          // The device has asked for something else meanwhile; one request of it waits.
          if (waiting.has(device.deviceId)) options.resolved(device, "expired");
          else waiting.set(device.deviceId, found);
        },
      };
    },
    settleCovered(record) {
      const found = waiting.get(record.deviceId);
      if (found && upgradeReason(record, pairingRequestOf(found.device)) === undefined) end(record.deviceId, "approved");
    },
    forget: (deviceId) => end(deviceId, "rejected"),
    sweep,
    clear() {
      for (const deviceId of [...waiting.keys()]) end(deviceId, "expired");
    },
  };
}

function isSameWish(a: Omit<PendingDevice, "requestId">, b: Omit<PendingDevice, "requestId">): boolean {
  const request = (d: typeof a) => [d.publicKey, d.role, [...d.scopes].sort(), plainName(d.platform), plainName(d.deviceFamily)];
  return JSON.stringify(request(a)) === JSON.stringify(request(b));
}
