import type { ConnectParams } from "./frames.ts";

/** Statement that a device signs: its request, identity, time and socket. */
export interface DeviceClaim {
  deviceId: string;
  connect: Pick<ConnectParams, "client" | "role" | "scopes" | "auth">;
  /** Epoch ms. */
  signedAt: number;
  /** Nonce of this socket's `connect.challenge`. */
  nonce: string;
}

/**
 * The text under a device's signature. Version 2 is version 3 without platform and family.
 * This module imports nothing at run time: a browser loads it as it is emitted.
 */
export function deviceProofText(version: 2 | 3, { deviceId, connect, signedAt, nonce }: DeviceClaim): string {
  const { client, role, scopes, auth } = connect;
  const token = auth?.token ?? auth?.deviceToken ?? auth?.bootstrapToken ?? "";
  const fields = [deviceId, client.id, client.mode, role ?? "operator", (scopes ?? []).join(","), signedAt, token, nonce];
  if (version === 3) fields.push(plainName(client.platform), plainName(client.deviceFamily));
  return [`v${version}`, ...fields].join("|");
}

/** Trimmed and in ASCII lower case, empty if absent: what both sides compare. */
export function plainName(name: string | undefined): string {
  return (name ?? "").trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
