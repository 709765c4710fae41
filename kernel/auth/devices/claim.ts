import type { ConnectParams } from "../../../sdk/protocol/frames.ts";
import type { DeviceRole, Devices, DeviceTokenVerdict, KnownDevice } from "../../../sdk/types/devices.ts";
import type { OperatorScope } from "../../../sdk/types/rpc.ts";
import { type ProofContext, verifyDeviceProof } from "./proof.ts";

/** Questions about the device named in a `connect`, for the check of its credentials. Nothing is checked before somebody asks. */
export interface DeviceClaim {
  /**
   * The id of the device that proved itself.
   * @throws {SvcError} `device-auth`
   */
  prove(): string;
  /** Reads what is known of a device that proved itself. What follows judges it in one synchronous step. Never rejects. */
  load(): Promise<void>;
  /** Is it paired, and did it prove itself? Never throws. */
  isPaired(): boolean;
  /** Judges a token presented by this device. `stranger`: it is not paired, or did not prove itself; `unavailable`: nobody can tell now. */
  judge(token: string): TokenVerdict;
  /** Scopes that an invitation lets this device have at most; undefined when it proved nothing or the invitation is none. Never throws. */
  invited(token: string): readonly OperatorScope[] | undefined;
}

export type TokenVerdict = DeviceTokenVerdict | { verdict: "stranger" } | { verdict: "unavailable"; reason?: unknown };

/** Undefined when a `connect` names no device. */
export function createDeviceClaim(
  connect: ConnectParams,
  context: ProofContext & { role: DeviceRole; find: Devices["find"]; invited: Devices["invited"] },
): DeviceClaim | undefined {
  const { device } = connect;
  if (!device) return undefined;
  let proved: string | undefined;
  let found: { known: KnownDevice | undefined } | undefined;
  let reason: unknown;
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
      if (deviceId === undefined) return;
      try {
        found = { known: await context.find(deviceId) };
      } catch (error) {
        reason = error;
      }
    },
    isPaired: () => found?.known !== undefined,
    judge(token) {
      const deviceId = attempt(prove);
      if (deviceId === undefined) return { verdict: "stranger" };
      if (!found) return { verdict: "unavailable", reason };
      return found.known ? found.known.judge(context.role, token) : { verdict: "stranger" };
    },
    invited(token) {
      // An invitation is for people's devices: what a node may do is not said by scopes.
      if (context.role !== "operator" || attempt(prove) === undefined) return undefined;
      return attempt(() => context.invited(token));
    },
  };
}
