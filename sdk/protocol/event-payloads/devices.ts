import { z } from "zod";
import { epochMs, scopes } from "../results/fields.ts";

const text = z.string();
const role = z.enum(["operator", "node"]);

/** A device that asks to be let in. */
const pendingDevice = z
  .object({
    requestId: text.min(1),
    deviceId: text.min(1),
    publicKey: text,
    displayName: text.exactOptional(),
    platform: text.exactOptional(),
    deviceFamily: text.exactOptional(),
    clientId: text,
    clientMode: text,
    role,
    roles: z.array(role),
    scopes,
    remoteIp: text.exactOptional(),
    silent: z.boolean(),
    isRepair: z.boolean().describe("it was paired before"),
    ts: epochMs,
  })
  .meta({ id: "PendingDevice" });

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
