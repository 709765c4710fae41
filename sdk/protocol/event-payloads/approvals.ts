import { z } from "zod";
import { approval, decision } from "../results/approvals.ts";
import { pairedDevice, pendingDevice } from "../results/devices.ts";
import { epochMs } from "../results/fields.ts";

const resolved = z.object({
  id: z.string(),
  decision,
  resolvedBy: z.unknown().describe("null: it expired"),
  ts: epochMs,
  request: z.looseObject({}),
});

export const approvalsPayloads = {
  "exec.approval.requested": approval,
  "exec.approval.resolved": resolved,
  "plugin.approval.requested": approval,
  "plugin.approval.resolved": resolved,
  "device.pair.requested": pendingDevice,
  "device.pair.resolved": z.object({
    requestId: z.string(),
    deviceId: pairedDevice.shape.deviceId,
    decision: z.enum(["approved", "rejected", "expired"]),
    ts: epochMs,
  }),
};
