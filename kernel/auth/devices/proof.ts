import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import type { SvcError } from "../../../sdk/errors.ts";
import { deviceProofText } from "../../../sdk/protocol/device.ts";
import type { ConnectParams } from "../../../sdk/protocol/frames.ts";
import { protocolErrors } from "../../errors.ts";

/** Maximum clock skew of a device, and so the lifetime of a signature. */
const MAX_SKEW_MS = 120_000;
/** The fixed head of an Ed25519 public key in DER (RFC 8410); the 32 raw bytes follow it. */
const SPKI_HEAD = Buffer.from("302a300506032b6570032100", "hex");

/** Facts about the socket that a proof was made for. */
export interface ProofContext {
  /** Nonce of this socket's challenge. */
  nonce: string;
  /** Epoch ms. */
  now: number;
}

/** Reasons why a proof fails: `details.code` after `DEVICE_AUTH_`, the text, and `details.reason`. */
const faults = {
  PUBLIC_KEY_INVALID: ["device public key invalid", "device-public-key"],
  DEVICE_ID_MISMATCH: ["device identity mismatch", "device-id-mismatch"],
  SIGNATURE_EXPIRED: ["device signature expired", "device-signature-stale"],
  NONCE_REQUIRED: ["device nonce required", "device-nonce-missing"],
  NONCE_MISMATCH: ["device nonce mismatch", "device-nonce-mismatch"],
  SIGNATURE_INVALID: ["device signature invalid", "device-signature"],
} as const;

/**
 * Checks that a `connect` comes from the holder of the device key it names: id, age, nonce, then the signature in its two versions.
 * @returns the device id
 * @throws {SvcError} `device-auth` with one of the six `DEVICE_AUTH_*` codes; the first that applies in that order
 */
export function verifyDeviceProof(
  connect: ConnectParams & { device: NonNullable<ConnectParams["device"]> },
  { nonce, now }: ProofContext,
): string {
  const { device } = connect;
  const raw = fromBase64Url(device.publicKey, 32);
  const key = raw && toPublicKey(raw);
  if (!key) throw refusal("PUBLIC_KEY_INVALID");
  if (device.id !== hash("sha256", raw, "hex")) throw refusal("DEVICE_ID_MISMATCH");
  if (Math.abs(now - device.signedAt) > MAX_SKEW_MS) throw refusal("SIGNATURE_EXPIRED");
  if (device.nonce.trim() === "") throw refusal("NONCE_REQUIRED");
  if (device.nonce !== nonce) throw refusal("NONCE_MISMATCH");
  const signature = fromBase64Url(device.signature, 64);
  const claim = { deviceId: device.id, connect, signedAt: device.signedAt, nonce };
  const signed = (version: 2 | 3) => signature && verify(null, Buffer.from(deviceProofText(version, claim)), key, signature);
  if (!signed(3) && !signed(2)) throw refusal("SIGNATURE_INVALID");
  return device.id;
}

function refusal(fault: keyof typeof faults): SvcError {
  const [problem, reason] = faults[fault];
  return protocolErrors.deviceAuth({ problem, reason }, { details: `DEVICE_AUTH_${fault}` });
}

/** Exactly this many bytes in their one spelling: a second one of the same key would be a second name. */
function fromBase64Url(text: string, bytes: number): Buffer | undefined {
  const decoded = Buffer.from(text, "base64url");
  return decoded.length === bytes && decoded.toString("base64url") === text ? decoded : undefined;
}

function toPublicKey(raw: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: Buffer.concat([SPKI_HEAD, raw]), format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}
