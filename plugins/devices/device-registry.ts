import { type DeviceEnd, type DeviceRole, isSvcError, type Logger, type OperatorScope, type PairingRequest } from "svc/sdk";
import { deviceErrors } from "./errors.ts";
import { createInvitations, type Invitations } from "./invitations.ts";
import { approvedRecord, pairingRequestOf } from "./pairing-request.ts";
import { createPendingDevices, type PairingDecision, type PendingDevices } from "./pending.ts";
import type { ApprovedVia, DeviceRecord } from "./record.ts";
import { type DeviceRows, MAX_PAIRED } from "./rows.ts";
import { withFreshToken, withRevokedToken } from "./tokens.ts";

export interface DeviceRegistryOptions {
  rows: DeviceRows;
  /** Epoch ms. */
  now(): number;
  monotonic(): number;
  randomId(): string;
  emit(event: "device.pair.requested" | "device.pair.resolved", payload: object): void;
  /** Ends the connections of a device, or those of one role of it. */
  end(deviceId: string, reason: DeviceEnd, role?: DeviceRole): void;
  logger: Pick<Logger, "debug">;
}

/** Paired devices and those that wait for it. Every change is durable before its promise resolves; changes happen one after the other. */
export interface DeviceRegistry {
  readonly pending: PendingDevices;
  readonly invitations: Invitations;
  /**
   * The record as it is when this resolves: read again when it was changed meanwhile, so that nobody is asked to approve what was just approved.
   * @throws {SvcError} `service-unavailable` without a store, here and in all that follows
   */
  find(deviceId: string): Promise<DeviceRecord | undefined>;
  list(): Promise<DeviceRecord[]>;
  /** Approves what a device waits for; what it had before it keeps. @throws {SvcError} `unknown-request`, `device-limit` */
  approve(requestId: string): Promise<DeviceRecord>;
  /** @throws {SvcError} `unknown-request` */
  reject(requestId: string): void;
  /** Approves a request that nobody was asked about; announced as resolved all the same. @throws {SvcError} `device-limit` */
  pairSilently(request: PairingRequest): Promise<DeviceRecord>;
  /** Approves what a device asks for that shows an invitation; announced under the id of that. @returns false for one that has ended @throws {SvcError} `device-limit` */
  pairInvited(token: string, request: PairingRequest): Promise<boolean>;
  /** A new token in place of the one before. Its scopes stay; open connections too. @throws {SvcError} `unknown-device` */
  issue(deviceId: string, role: DeviceRole): Promise<{ deviceToken: string; issuedAtMs: number }>;
  /** A new token, with fewer scopes if asked for; ends the connections of the role. @throws {SvcError} `unknown-device`, `device-scopes` */
  rotate(deviceId: string, role: DeviceRole, scopes?: readonly OperatorScope[]): Promise<Rotated>;
  /** Ends the token and the connections of the role. @throws {SvcError} `unknown-device` */
  revoke(deviceId: string, role: DeviceRole): Promise<{ revokedAtMs: number }>;
  /** Forgets the device and ends its connections. @throws {SvcError} `unknown-device` */
  remove(deviceId: string): Promise<void>;
  rename(deviceId: string, label: string): Promise<void>;
  /** Notes that the device is here, at most once a minute and in its own time. */
  seen(deviceId: string): void;
}

export interface Rotated {
  token: string;
  scopes: OperatorScope[];
  rotatedAtMs: number;
}

/** Times that a change is begun again, or a record is read again, because another writer was faster. */
const MOST_TRIES = 5;
/** A device that stays is noted this often. */
const SEEN_EVERY_MS = 60_000;

export function createDeviceRegistry(options: DeviceRegistryOptions): DeviceRegistry {
  const { rows, now, emit } = options;
  const { change, pair, remove, count } = createChanges(rows, now);
  const resolved = ({ requestId, deviceId }: { requestId: string; deviceId: string }, decision: PairingDecision) =>
    emit("device.pair.resolved", { requestId, deviceId, decision, ts: now() });
  const pending = createPendingDevices({ ...options, requested: (device) => emit("device.pair.requested", device), resolved });
  const invitations = createInvitations(options);

  return {
    pending,
    invitations,
    async find(deviceId) {
      for (let left = MOST_TRIES; ; left--) {
        const before = count();
        const found = await rows.read(deviceId);
        if (count() === before || left <= 1) return found?.record;
      }
    },
    list: rows.list,
    async approve(requestId) {
      const request = pairingRequestOf(pending.get(requestId));
      const taken = pending.take(requestId);
      const record = await pair(request, "owner").catch((error: unknown) => {
        taken.restore();
        throw error;
      });
      taken.settle("approved");
      pending.settleCovered(record);
      return record;
    },
    reject: (requestId) => pending.take(requestId).settle("rejected"),
    async pairSilently(request) {
      const record = await pair(request, "silent");
      resolved({ requestId: options.randomId(), deviceId: request.deviceId }, "approved");
      return record;
    },
    async pairInvited(token, request) {
      const taken = invitations.take(token);
      if (!taken) return false;
      const record = await pair(request, "owner").catch((error: unknown) => {
        taken.restore();
        throw error;
      });
      resolved({ requestId: taken.invitation.requestId, deviceId: request.deviceId }, "approved");
      pending.settleCovered(record);
      return true;
    },
    async issue(deviceId, role) {
      const made = await change(deviceId, (record) => withFreshToken({ ...record, lastSeenAtMs: now() }, role, { now: now() }));
      return { deviceToken: made.token, issuedAtMs: made.entry.createdAtMs };
    },
    async rotate(deviceId, role, scopes) {
      const { token, entry } = await change(deviceId, (record) => withFreshToken(record, role, { now: now(), scopes }));
      options.end(deviceId, "device token revoked", role);
      return { token, scopes: entry.scopes, rotatedAtMs: entry.createdAtMs };
    },
    async revoke(deviceId, role) {
      const { revokedAtMs } = await change(deviceId, (record) => withRevokedToken(record, role, now()));
      options.end(deviceId, "device token revoked", role);
      return { revokedAtMs };
    },
    async remove(deviceId) {
      await remove(deviceId);
      pending.forget(deviceId);
      options.end(deviceId, "device removed");
    },
    async rename(deviceId, label) {
      await change(deviceId, (record) => ({ record: { ...record, label } }));
    },
    seen(deviceId) {
      const isDue = (record: DeviceRecord) => now() - record.lastSeenAtMs >= SEEN_EVERY_MS;
      const noted = change(deviceId, (record) => ({ record: isDue(record) ? { ...record, lastSeenAtMs: now() } : record }));
      noted.catch((error: unknown) => options.logger.debug("the last-seen time of a device was not stored", { deviceId, error }));
    },
  };
}

/** Changes of records, one after the other: each reads what the one before has written. */
function createChanges(rows: DeviceRows, now: () => number) {
  let last: Promise<unknown> = Promise.resolve();
  let changes = 0;
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last
      .then(() => untilUndisturbed(work))
      .finally(() => {
        changes += 1;
      });
    last = next.catch(() => undefined); // whoever asked gets the failure; the next one begins all the same
    return next;
  };
  return {
    /** Number of changes that have ended. */
    count: () => changes,
    change: <T extends { record: DeviceRecord }>(deviceId: string, edit: (record: DeviceRecord) => T) =>
      inTurn(async () => {
        const found = await rows.read(deviceId);
        if (!found) throw deviceErrors.unknownDevice();
        const edited = edit(found.record);
        if (edited.record !== found.record) await rows.put(edited.record, found.version);
        return edited;
      }),
    pair: (request: PairingRequest, via: ApprovedVia) =>
      inTurn(async () => {
        const before = await rows.read(request.deviceId);
        if (!before && (await rows.list()).length >= MAX_PAIRED) throw deviceErrors.deviceLimit({ limit: MAX_PAIRED });
        const record = approvedRecord(before?.record, request, { via, now: now() });
        await rows.put(record, before?.version);
        return record;
      }),
    remove: (deviceId: string) =>
      inTurn(async () => {
        const found = await rows.read(deviceId);
        if (!found) throw deviceErrors.unknownDevice();
        await rows.remove(deviceId, found.version);
      }),
  };
}

/** Repeats a change that another writer of the same row was faster than: it reads again, and decides anew. */
async function untilUndisturbed<T>(work: () => Promise<T>): Promise<T> {
  for (let left = MOST_TRIES; ; left--) {
    try {
      return await work();
    } catch (error) {
      const isDisturbed = isSvcError(error) && (error.code === "kv-changed" || error.code === "exists");
      if (!isDisturbed || left <= 1) throw error;
    }
  }
}
