import { setMaxListeners } from "node:events";
import { SvcError } from "../../errors.ts";
import { plainName } from "../../protocol/device.ts";
import "../../protocol/errors.ts";
import { hasScope } from "../../scopes.ts";
import type { Logger } from "../../types/common.ts";
import type { OperatorScope } from "../../types/rpc.ts";
import { createPendingDevices, type PairingDecision, type PendingDevices } from "./pending.ts";
import type { ApprovedVia, DeviceIdentity, DeviceRecord, DeviceRole, PendingDevice } from "./record.ts";
import { type DeviceRows, MAX_PAIRED } from "./rows.ts";
import { createDeviceToken, withToken } from "./tokens.ts";

/** What a device asks to be. */
export interface DeviceWish extends DeviceIdentity {
  role: DeviceRole;
  scopes: OperatorScope[];
}

/** Why a record does not cover a wish. */
export type UpgradeReason = "not-paired" | "role-upgrade" | "scope-upgrade" | "metadata-upgrade";

export interface DeviceBookOptions {
  rows: DeviceRows;
  /** Epoch ms. */
  now(): number;
  monotonic(): number;
  randomId(): string;
  emit(event: "device.pair.requested" | "device.pair.resolved", payload: object): void;
  logger: Logger;
}

/** Paired devices and those that wait for it. Every change is durable before its promise resolves; changes happen one after the other. */
export interface DeviceBook {
  readonly pending: PendingDevices;
  /** @throws {SvcError} `service-unavailable` without a store, here and in all that follows */
  find(deviceId: string): DeviceRecord | undefined;
  list(): DeviceRecord[];
  /** Approves what a device waits for; what it had before it keeps. @throws {SvcError} `unknown-request`, `device-limit` */
  approve(requestId: string): Promise<DeviceRecord>;
  /** @throws {SvcError} `unknown-request` */
  reject(requestId: string): void;
  /** Approves a wish that nobody was asked about; announced as resolved all the same. @throws {SvcError} `device-limit` */
  pairSilently(wish: DeviceWish): Promise<DeviceRecord>;
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
  /** Aborts when the device may no longer be connected as this; the reason is an error whose field `reason` is the text of the close frame. */
  standing(deviceId: string, role: DeviceRole): AbortSignal;
}

export interface Rotated {
  token: string;
  scopes: OperatorScope[];
  rotatedAtMs: number;
}

/** A device that stays is noted this often. */
const SEEN_EVERY_MS = 60_000;

export function createDeviceBook(options: DeviceBookOptions): DeviceBook {
  const { rows, now, emit } = options;
  const standings = createStandings();
  const serial = createSerial();
  const resolved = (device: { requestId: string; deviceId: string }, decision: PairingDecision) =>
    emit("device.pair.resolved", { requestId: device.requestId, deviceId: device.deviceId, decision, ts: now() });
  const pending = createPendingDevices({
    ...options,
    requested: (device: PendingDevice) => emit("device.pair.requested", device),
    resolved,
  });
  /** Reads, changes and writes a record while nobody else does. */
  const change = <T>(deviceId: string, edit: (record: DeviceRecord) => { record: DeviceRecord; result: T }) =>
    serial(async () => {
      const found = rows.get(deviceId);
      if (!found) throw new SvcError("unknown-device");
      const { record, result } = edit(found);
      if (record !== found) await rows.put(record);
      return result;
    });
  const pair = (wish: DeviceWish, via: ApprovedVia) =>
    serial(async () => {
      const before = rows.get(wish.deviceId);
      if (!before && rows.list().length >= MAX_PAIRED) throw new SvcError("device-limit", { limit: MAX_PAIRED });
      const record = approved(before, wish, { via, now: now() });
      await rows.put(record);
      return record;
    });

  return {
    pending,
    find: rows.get,
    list: rows.list,
    async approve(requestId) {
      const { requestId: _, roles: _roles, remoteIp: _ip, silent: _silent, isRepair: _repair, ts: _ts, ...wish } = pending.get(requestId);
      const taken = pending.take(requestId);
      const record = await pair(wish, "owner").catch((error: unknown) => {
        taken.restore();
        throw error;
      });
      taken.settle("approved");
      return record;
    },
    reject: (requestId) => pending.take(requestId).settle("rejected"),
    async pairSilently(wish) {
      const record = await pair(wish, "silent");
      resolved({ requestId: options.randomId(), deviceId: wish.deviceId }, "approved");
      return record;
    },
    issue: (deviceId, role) =>
      change(deviceId, (record) => {
        const { token, hash } = createDeviceToken();
        const createdAtMs = now();
        const scopes = tokenScopes(record, role);
        const next = withToken({ ...record, lastSeenAtMs: createdAtMs }, { role, scopes, hash, createdAtMs });
        return { record: next, result: { deviceToken: token, issuedAtMs: createdAtMs } };
      }),
    async rotate(deviceId, role, scopes) {
      const rotated = await change(deviceId, (record) => {
        const held = tokenScopes(record, role);
        const wider = scopes?.filter((scope) => !hasScope(held, scope)) ?? [];
        if (wider.length > 0) throw new SvcError("device-scopes", { wider: wider.join(", ") });
        const { token, hash } = createDeviceToken();
        const entry = { role, scopes: [...new Set(scopes ?? held)], hash, createdAtMs: now() };
        return { record: withToken(record, entry), result: { token, scopes: entry.scopes, rotatedAtMs: entry.createdAtMs } };
      });
      standings.end(deviceId, "device token revoked", role);
      return rotated;
    },
    async revoke(deviceId, role) {
      const result = await change(deviceId, (record) => {
        tokenScopes(record, role);
        const entry = record.tokens.find((token) => token.role === role);
        const revokedAtMs = entry?.revokedAtMs ?? now();
        return { record: entry ? withToken(record, { ...entry, revokedAtMs }) : record, result: { revokedAtMs } };
      });
      standings.end(deviceId, "device token revoked", role);
      return result;
    },
    async remove(deviceId) {
      await serial(async () => {
        if (!rows.get(deviceId)) throw new SvcError("unknown-device");
        await rows.remove(deviceId);
      });
      pending.forget(deviceId);
      standings.end(deviceId, "device removed");
    },
    rename: (deviceId, label) => change(deviceId, (record) => ({ record: { ...record, label }, result: undefined })),
    seen(deviceId) {
      const noted = change(deviceId, (record) => {
        const isDue = now() - record.lastSeenAtMs >= SEEN_EVERY_MS;
        return { record: isDue ? { ...record, lastSeenAtMs: now() } : record, result: undefined };
      });
      noted.catch((error: unknown) => options.logger.debug("a device was not noted as seen", { deviceId, error }));
    },
    standing: standings.of,
  };
}

/**
 * Why a record does not cover what a device asks for; undefined when it does.
 */
export function upgradeReason(record: DeviceRecord | undefined, wish: DeviceWish): UpgradeReason | undefined {
  if (!record) return "not-paired";
  if (!record.roles.includes(wish.role)) return "role-upgrade";
  if (!wish.scopes.every((scope) => hasScope(record.scopes, scope))) return "scope-upgrade";
  const isSame = (a: string | undefined, b: string | undefined) => plainName(a) === plainName(b);
  return isSame(record.platform, wish.platform) && isSame(record.deviceFamily, wish.deviceFamily) ? undefined : "metadata-upgrade";
}

/** The record after somebody said yes: rights are added, those of other roles stay as they were. */
function approved(before: DeviceRecord | undefined, wish: DeviceWish, { via, now }: { via: ApprovedVia; now: number }): DeviceRecord {
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

/** @throws {SvcError} `unknown-device-role` for a role nobody approved */
function tokenScopes(record: DeviceRecord, role: DeviceRole): OperatorScope[] {
  if (!record.roles.includes(role)) throw new SvcError("unknown-device-role", { role });
  return record.tokens.find((token) => token.role === role)?.scopes ?? (role === "operator" ? record.scopes : []);
}

/** One signal for each device and role that is or was connected; there are no more than paired devices. */
function createStandings() {
  const open = new Map<string, AbortController>();
  const keyOf = (deviceId: string, role: DeviceRole) => `${role}|${deviceId}`;
  return {
    of(deviceId: string, role: DeviceRole): AbortSignal {
      const key = keyOf(deviceId, role);
      const controller = open.get(key) ?? new AbortController();
      setMaxListeners(0, controller.signal); // one listener for each socket that is open
      open.set(key, controller);
      return controller.signal;
    },
    /** In a turn of its own: who ended its own connection still gets the answer. */
    end(deviceId: string, reason: string, role?: DeviceRole): void {
      const keys = role ? [keyOf(deviceId, role)] : [keyOf(deviceId, "operator"), keyOf(deviceId, "node")];
      const ended = keys.flatMap((key) => open.get(key) ?? []);
      for (const key of keys) open.delete(key);
      setImmediate(() => {
        for (const controller of ended) controller.abort(new SvcError("unauthorized", { reason }, { details: "AUTH_CHANGED" }));
      });
    },
  };
}

function createSerial(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}
