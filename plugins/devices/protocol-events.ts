import { type PluginProtocol, z } from "svc/sdk";
import { epochMs, pendingDevice } from "./protocol-results.ts";

const resolved = z.object({
  requestId: z.string().min(1),
  deviceId: z.string().min(1),
  decision: z.enum(["approved", "rejected", "expired"]),
  ts: epochMs,
});

const notice = { scope: "pairing", droppable: true } as const;

/** Events about devices. */
export const devicesEvents = {
  "device.pair.requested": { ...notice, about: "a device is waiting for approval", payload: pendingDevice },
  "device.pair.resolved": { ...notice, about: "a device was approved or rejected, or its request expired", payload: resolved },
} as const satisfies NonNullable<PluginProtocol["events"]>;
