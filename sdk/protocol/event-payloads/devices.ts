import { z } from "zod";
import { pendingDevice } from "../results/devices.ts";
import { epochMs } from "../results/fields.ts";

/** Events about devices. */
export const devicesPayloads = {
  "device.pair.requested": pendingDevice,
  "device.pair.resolved": z.object({
    requestId: z.string().min(1),
    deviceId: z.string().min(1),
    decision: z.enum(["approved", "rejected", "expired"]),
    ts: epochMs,
  }),
};
