import { z } from "zod";
import { approval, decision } from "../results/approvals.ts";
import { epochMs } from "../results/fields.ts";

const resolved = z.object({
  id: z.string(),
  decision,
  resolvedBy: z.unknown().describe("null: it expired"),
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
