import { z } from "zod";
import { done, epochMs } from "./fields.ts";

const text = z.string();
const id = text.min(1);

/** What may be answered (`protocol.md` 9). */
export const decision = z.enum(["allow-once", "allow-always", "deny"]);

const times = { createdAtMs: epochMs, expiresAtMs: epochMs };

/** A question that waits for somebody. `request` repeats what was asked. */
export const approval = z
  .object({ approvalKind: z.enum(["exec", "plugin"]), id, request: z.looseObject({}), ...times })
  .meta({ id: "Approval" });

const decided = z
  .object({
    id,
    decision: decision.nullable().describe("null: nobody decided; to be treated as `deny`"),
    ...times,
    terminalReason: text.exactOptional().describe("`no-route`: there was nobody to ask"),
  })
  .describe("final answer");

const requested = z.union([z.object({ status: z.literal("accepted"), id, ...times }).describe("first answer, with `twoPhase`"), decided]);

const policy = z.object({ path: text, exists: z.boolean(), hash: text, file: z.looseObject({}) });

/** Answers about questions to a person. */
export const approvalsResults = {
  "exec.approval.request": requested,
  "exec.approval.get": approval,
  "exec.approval.list": z.array(approval),
  "exec.approval.waitDecision": decided,
  "exec.approval.resolve": done,
  "plugin.approval.request": requested,
  "plugin.approval.get": approval,
  "plugin.approval.list": z.array(approval),
  "plugin.approval.waitDecision": decided,
  "plugin.approval.resolve": done,
  "exec.approvals.get": policy,
  "exec.approvals.set": policy,
};
