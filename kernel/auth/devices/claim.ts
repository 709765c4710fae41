import type { ConnectParams } from "../../../sdk/protocol/frames.ts";
import type { DeviceRegistry } from "./device-registry.ts";
import { type ProofContext, verifyDeviceProof } from "./proof.ts";
import type { DeviceRecord, DeviceRole, DeviceToken } from "./record.ts";
import { checkDeviceToken } from "./tokens.ts";

/** Questions about the device named in a `connect`, for the check of its credentials. Nothing is checked before somebody asks. */
export interface DeviceClaim {
  /**
   * The id of the device that proved itself.
   * @throws {SvcError} `device-auth`
   */
  prove(): string;
  /** Is it paired, and did it prove itself? Never throws. */
  isPaired(): boolean;
  /** Judges a token presented by this device. `stranger`: it is not paired, or did not prove itself; `unavailable`: nobody can tell now. */
  judge(token: string): TokenVerdict;
}

export type TokenVerdict = { verdict: "valid"; entry: DeviceToken } | { verdict: "revoked" | "unknown" | "stranger" | "unavailable" };

/** Undefined when a `connect` names no device. */
export function createDeviceClaim(
  connect: ConnectParams,
  context: ProofContext & { role: DeviceRole; find: DeviceRegistry["find"] },
): DeviceClaim | undefined {
  const { device } = connect;
  if (!device) return undefined;
  let proved: string | undefined;
  const prove = () => (proved ??= verifyDeviceProof({ ...connect, device }, context));
  const attempt = <T>(fn: () => T): T | undefined => {
    try {
      return fn();
    } catch {
      return undefined; // who asks wants a yes or a no; the proof itself is judged in its own turn
    }
  };
  return {
    prove,
    isPaired: () => attempt(() => context.find(prove())) !== undefined,
    judge(token) {
      const deviceId = attempt(prove);
      if (deviceId === undefined) return { verdict: "stranger" };
      const found = attempt((): { record: DeviceRecord | undefined } => ({ record: context.find(deviceId) }));
      if (!found) return { verdict: "unavailable" };
      return found.record ? checkDeviceToken(found.record, context.role, token) : { verdict: "stranger" };
    },
  };
}
