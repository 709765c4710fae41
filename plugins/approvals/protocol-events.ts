import { type PluginProtocol, z } from "svc/sdk";
import { approval, decision, epochMs, terminalReason } from "./protocol-results.ts";

const resolved = z.object({
  id: z.string(),
  decision,
  resolvedBy: z.unknown().describe("null: nobody decided"),
  terminalReason: terminalReason.exactOptional(),
  ts: epochMs,
  request: z.looseObject({}),
});

const notice = { scope: "approvals", droppable: true } as const;

/** Events about questions to a person. */
export const approvalsEvents = {
  "exec.approval.requested": { ...notice, about: "a request to run a command is waiting for a decision", payload: approval },
  "exec.approval.resolved": { ...notice, about: "a request to run a command was decided, or it expired", payload: resolved },
  "plugin.approval.requested": { ...notice, about: "a request of a plugin is waiting for a decision", payload: approval },
  "plugin.approval.resolved": { ...notice, about: "a request of a plugin was decided, or it expired", payload: resolved },
} as const satisfies NonNullable<PluginProtocol["events"]>;
