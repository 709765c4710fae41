import { z } from "svc/sdk";
import { agentId, count, runId, sessionKey, usage } from "../results/fields.ts";
import { shownText } from "../results/message.ts";

const common = { runId, sessionKey, agentId, seq: count.describe("`seq` of the run; 0 for an injected note") };

const short = z.string().max(300);

/** Events of a run for a chat view, by `state`; exactly one of the last three ends it. */
export const chatPayload = z.discriminatedUnion("state", [
  z.object({
    ...common,
    state: z.literal("status"),
    phase: z
      .string()
      .describe(
        "`queued`: all places for runs are taken; `preparing_context`, `starting_model`; `waiting_for_model`: it has said nothing for 15 s or more",
      ),
    position: count.exactOptional().describe("of a run that is queued; 1: it is the next one"),
  }),
  z.object({
    ...common,
    state: z.literal("delta"),
    deltaText: z.string(),
    message: shownText.describe("everything so far"),
    replace: z.literal(true).exactOptional(),
  }),
  z.object({
    ...common,
    state: z.literal("final"),
    message: shownText.exactOptional().describe("absent when there was nothing to show"),
    stopReason: z.string().exactOptional(),
    usage: usage.exactOptional(),
  }),
  z.object({
    ...common,
    state: z.literal("aborted"),
    message: shownText.exactOptional().describe("the text written until then"),
    stopReason: z.string().exactOptional(),
  }),
  z.object({
    ...common,
    state: z.literal("error"),
    errorMessage: z.string(),
    errorKind: z.enum(["refusal", "timeout", "rate_limit", "context_length", "unknown"]).exactOptional(),
    errorDetail: z.record(z.string(), short).exactOptional().describe("provider, model, failoverReason, httpStatus"),
  }),
]);
