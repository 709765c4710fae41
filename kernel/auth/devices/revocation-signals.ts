import { setMaxListeners } from "node:events";
import { protocolErrors } from "../../../sdk/protocol/errors.ts";
import type { DeviceRole } from "./record.ts";

/** Text of the close frame with which a device's connections end. */
export type RevocationReason = "device removed" | "device token revoked";

/** The right of paired devices to be connected, one signal for each device and role; there are no more than paired devices. */
export interface RevocationSignals {
  /** Aborts when the device may no longer be connected as this; the reason is an error whose field `reason` is the text of the close frame. */
  of(deviceId: string, role: DeviceRole): AbortSignal;
  /** Ends those of one role, or all of the device; in a turn of its own, so that who ended its own connection still gets the answer. */
  end(deviceId: string, reason: RevocationReason, role?: DeviceRole): void;
}

export function createRevocationSignals(): RevocationSignals {
  const open = new Map<string, AbortController>();
  const keyOf = (deviceId: string, role: DeviceRole) => `${role}|${deviceId}`;
  return {
    of(deviceId, role) {
      const key = keyOf(deviceId, role);
      const controller = open.get(key) ?? new AbortController();
      setMaxListeners(0, controller.signal); // one listener for each socket that is open
      open.set(key, controller);
      return controller.signal;
    },
    end(deviceId, reason, role) {
      const keys = role ? [keyOf(deviceId, role)] : [keyOf(deviceId, "operator"), keyOf(deviceId, "node")];
      const ended = keys.flatMap((key) => open.get(key) ?? []);
      for (const key of keys) open.delete(key);
      setImmediate(() => {
        for (const controller of ended) controller.abort(protocolErrors.unauthorized({ reason }, { details: "AUTH_CHANGED" }));
      });
    },
  };
}
