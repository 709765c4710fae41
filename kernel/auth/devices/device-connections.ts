import { setMaxListeners } from "node:events";
import type { DeviceEnd, DeviceRole } from "../../../sdk/types/devices.ts";
import { protocolErrors } from "../../errors.ts";

/**
 * The right of devices to stay connected: one signal for each device and role that has been connected. It outlives the plugin that keeps the devices, so that
 * a new instance of that ends what was let in under the one before.
 */
export interface DeviceConnections {
  /** Aborts when the device may no longer be connected as this; the reason is an error whose field `reason` is the text of the close frame. */
  standing(deviceId: string, role: DeviceRole): AbortSignal;
  /** Ends those of one role, or all of the device; in a turn of its own, so that who ended its own connection still gets the answer. */
  end(deviceId: string, reason: DeviceEnd, role?: DeviceRole): void;
}

/** Creates the signals. There are no more than devices were paired since the start: only a paired one gets any. */
export function createDeviceConnections(): DeviceConnections {
  const open = new Map<string, AbortController>();
  const keyOf = (deviceId: string, role: DeviceRole) => `${role}|${deviceId}`;
  return {
    standing(deviceId, role) {
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
