import { deviceProofText } from "../protocol/device.ts";
import type { ConnectParams } from "../protocol/frames.ts";

/** The key pair of an installation: Ed25519; the private half never leaves whoever made it. */
export interface DeviceKey {
  /** Lowercase hex SHA-256 of the raw public key. */
  readonly id: string;
  /** The raw 32 bytes, base64url without padding. */
  readonly publicKey: string;
  /** Base64url of the signature over the UTF-8 text. */
  sign(text: string): Promise<string>;
}

/** Storage of a client's key and of the token that one gateway gave it. */
export interface ClientDevice {
  /** Undefined where there can be none, such as a page without a secure context: the client then connects without a device. */
  key(): Promise<DeviceKey | undefined>;
  token(): Promise<string | undefined>;
  keepToken(token: string): Promise<void>;
  forgetToken(): Promise<void>;
}

/** The `device` part of a `connect`: the signature binds what is asked for to this one socket by its nonce. */
export async function proveDevice(
  key: DeviceKey,
  connect: Omit<ConnectParams, "minProtocol" | "maxProtocol">,
  { nonce, signedAt }: { nonce: string; signedAt: number },
): Promise<NonNullable<ConnectParams["device"]>> {
  const text = deviceProofText(3, { deviceId: key.id, connect, signedAt, nonce });
  return { id: key.id, publicKey: key.publicKey, signature: await key.sign(text), signedAt, nonce };
}

/** Base64url without padding, as keys and signatures travel. */
export function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/={1,2}$/, "");
}
