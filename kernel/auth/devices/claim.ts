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
  /** Reads the record of a device that proved itself. What follows judges it in one synchronous step. Never rejects. */
  load(): Promise<void>;
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
  let found: { record: DeviceRecord | undefined } | undefined;
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
    async load() {
      const deviceId = attempt(prove);
      // Unavailable: whoever needs the record is refused, whoever does not goes on.
      if (deviceId !== undefined)
        found = await context.find(deviceId).then(
          (record) => ({ record }),
          () => undefined,
        );
    },
    isPaired: () => found?.record !== undefined,
    judge(token) {
      const deviceId = attempt(prove);
      if (deviceId === undefined) return { verdict: "stranger" };
      if (!found) return { verdict: "unavailable" };
      return found.record ? checkDeviceToken(found.record, context.role, token) : { verdict: "stranger" };
    },
  };
}
