import { z } from "zod";
import { approval, decision, terminalReason } from "../results/approvals.ts";
import { epochMs } from "../results/fields.ts";

const resolved = z.object({
  id: z.string(),
  decision,
  resolvedBy: z.unknown().describe("null: nobody decided"),
  terminalReason: terminalReason.exactOptional(),
  ts: epochMs,
  request: z.looseObject({}),
});

/** Events about questions to a person. */
export const approvalsPayloads = {
  "exec.approval.requested": approval,
  "exec.approval.resolved": resolved,
  "plugin.approval.requested": approval,
  "plugin.approval.resolved": resolved,
};
