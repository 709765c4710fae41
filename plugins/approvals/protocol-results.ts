import { z } from "svc/sdk";

/** Milliseconds since the Unix epoch. */
export const epochMs = z.number().int().min(0);
const text = z.string();
const done = z.object({
  ok: z.literal(true),
  warning: text.exactOptional().describe("an `allow-always` that could not be stored: it counts once"),
});
const id = text.min(1);

/** Possible answers. */
export const decision = z.enum(["allow-once", "allow-always", "deny"]);

const times = { createdAtMs: epochMs, expiresAtMs: epochMs };

/** A question that waits for somebody. `request` repeats what was asked. */
export const approval = z
  .object({ approvalKind: z.enum(["exec", "plugin"]), id, request: z.looseObject({}), ...times })
  .meta({ id: "Approval" });

/** Reason why nobody decided. */
export const terminalReason = z
  .enum(["no-route", "expired", "cancelled", "stopping"])
  .describe("why nobody decided: no approver was connected, time ran out, the requester gave up, or the gateway stopped");

const lookedUp = approval.extend({
  decision: decision.nullable().exactOptional().describe("once it has ended, for 15 s"),
  resolvedBy: text.nullable().exactOptional().describe("who decided; null: nobody"),
  terminalReason: terminalReason.exactOptional(),
  endedAtMs: epochMs.exactOptional(),
});

const decided = z
  .object({
    id,
    decision: decision.nullable().describe("null: nobody decided; to be treated as `deny`"),
    ...times,
    terminalReason: terminalReason.exactOptional(),
    message: text.exactOptional().describe("the same as a sentence, with what to do"),
  })
  .describe("final answer");

const requested = z.union([z.object({ status: z.literal("accepted"), id, ...times }).describe("first answer, with `twoPhase`"), decided]);

/** Answers about questions to a person. */
export const approvalsResults = {
  "exec.approval.request": requested,
  "exec.approval.get": lookedUp,
  "exec.approval.list": z.array(lookedUp),
  "exec.approval.waitDecision": decided,
  "exec.approval.resolve": done,
  "plugin.approval.request": requested,
  "plugin.approval.get": lookedUp,
  "plugin.approval.list": z.array(lookedUp),
  "plugin.approval.waitDecision": decided,
  "plugin.approval.resolve": done,
};
