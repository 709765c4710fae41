import type { DeviceIdentity, DeviceRole, OperatorScope } from "svc/sdk";

/** A device that waits for somebody to approve it; payload of `device.pair.requested`. */
export interface PendingDevice extends DeviceIdentity {
  requestId: string;
  role: DeviceRole;
  roles: DeviceRole[];
  scopes: OperatorScope[];
  remoteIp?: string;
  /** Always false: what is approved silently never waits. */
  silent: boolean;
  /** The device is paired already and asks for something else. */
  isRepair: boolean;
  /** Time of the last attempt, epoch ms. */
  ts: number;
}

/** The token of one role; the value itself is known to the device only. */
export interface DeviceToken {
  role: DeviceRole;
  scopes: OperatorScope[];
  /** SHA-256 of the token, hex. */
  hash: string;
  createdAtMs: number;
  revokedAtMs?: number;
}

/** Way a device was approved: by the secret on the gateway's own machine, or by a person. */
export type ApprovedVia = "silent" | "owner";

/** A paired device as it is stored. `roles` and `scopes` are what was approved; a token may hold less. */
export interface DeviceRecord extends DeviceIdentity {
  label?: string;
  roles: DeviceRole[];
  scopes: OperatorScope[];
  approvedVia: ApprovedVia;
  createdAtMs: number;
  approvedAtMs: number;
  lastSeenAtMs: number;
  tokens: DeviceToken[];
}

/** A paired device as it is shown: without anything a token could be known by. */
export interface PairedDevice extends Omit<DeviceRecord, "tokens"> {
  role: DeviceRole;
  connected: boolean;
  tokens: Array<Omit<DeviceToken, "hash">>;
}

/** Converts a record to its public form. */
export function toPairedDevice(record: DeviceRecord, connected: boolean): PairedDevice {
  const { tokens, ...shown } = record;
  return {
    ...shown,
    role: record.roles[0] ?? "operator",
    connected,
    tokens: tokens.map(({ hash: _, ...token }) => token),
  };
}
