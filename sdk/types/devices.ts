import type { OperatorScope } from "./rpc.ts";

/** Roles a device can connect with. */
export type DeviceRole = "operator" | "node";

/** A device as it names itself. `platform` and `deviceFamily` as it spelled them. */
export interface DeviceIdentity {
  /** Lowercase hex SHA-256 of the raw public key. */
  deviceId: string;
  /** Raw 32 bytes, base64url. */
  publicKey: string;
  displayName?: string;
  platform?: string;
  deviceFamily?: string;
  clientId: string;
  clientMode: string;
}

/** Identity and role that a device requests. */
export interface PairingRequest extends DeviceIdentity {
  role: DeviceRole;
  scopes: OperatorScope[];
}

/** Reasons why a paired device does not cover a request. */
export type UpgradeReason = "role-upgrade" | "scope-upgrade" | "metadata-upgrade";

/** Judgement of a token that a device presents. */
export type DeviceTokenVerdict =
  | { verdict: "valid"; entry: { scopes: readonly OperatorScope[]; createdAtMs: number } }
  | { verdict: "revoked" | "unknown" };

/** A paired device as it was when it was read. Its members answer at once. */
export interface KnownDevice {
  /** Everything that was approved; a token may hold less. */
  readonly roles: readonly DeviceRole[];
  readonly scopes: readonly OperatorScope[];
  /** Reason why it does not cover a request; undefined when it does. */
  upgradeReason(request: PairingRequest): UpgradeReason | undefined;
  /** Judges a token of one role; takes the same time whether it is right or not. */
  judge(role: DeviceRole, token: string): DeviceTokenVerdict;
}

/** Text of the close frame with which the connections of a device end. */
export type DeviceEnd = "device removed" | "device token revoked";

/**
 * Service `devices@1`: paired devices, and those that wait for it. The gateway asks it during a handshake, after it has verified the key of the device;
 * whether a device is needed and what it may have at most is decided by the gateway. Who takes a right back ends its connections by `endDevice` of `gateway@1`.
 */
export interface Devices {
  /**
   * The device as it is when this resolves, changes that ended meanwhile included; undefined when it is not paired.
   * @throws {SvcError} `service-unavailable` while the state cannot be read or written, here and in what follows
   */
  find(deviceId: string): Promise<KnownDevice | undefined>;
  /** Approves a request that nobody was asked about. @throws {SvcError} `device-limit` */
  pairSilently(request: PairingRequest): Promise<void>;
  /** Puts a request before those who may approve it, or renews it. @param from address of the device */
  ask(request: PairingRequest, from: { remoteIp: string; isRepair: boolean }): { requestId: string };
  /** Scopes that an invitation lets a new device have at most; undefined for one that is none, was taken or has run out. Answers at once. */
  invited(token: string): readonly OperatorScope[] | undefined;
  /** Pairs the device that shows an invitation, which ends by that. @returns false when it has ended meanwhile @throws {SvcError} `device-limit` */
  pairInvited(token: string, request: PairingRequest): Promise<boolean>;
  /** A new token in place of the one before; its scopes stay. */
  issue(deviceId: string, role: DeviceRole): Promise<{ deviceToken: string; issuedAtMs: number }>;
  /** Notes that the device is here, or was until now. */
  seen(deviceId: string): void;
}
