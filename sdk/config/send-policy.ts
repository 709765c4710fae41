import { z } from "zod";

const verdict = z.enum(["allow", "deny"]);

const rule = z.strictObject({
  action: verdict.describe("Action of the rule"),
  match: z
    .strictObject({
      channel: z.string().min(1).optional().describe("Channel id"),
      chatType: z.enum(["direct", "group", "channel"]).optional().describe("Kind of chat"),
      keyPrefix: z.string().min(1).optional().describe("Prefix of the session key without `agent:<id>:`, lower-case"),
      rawKeyPrefix: z.string().min(1).optional().describe("Prefix of the whole session key"),
    })
    .prefault({}),
});

/** A list of rules over sessions: the first whose every given field matches decides, else `default`. */
export const sendPolicySchema = (fallback: "allow" | "deny", rules: z.input<typeof rule>[] = []) =>
  z.strictObject({
    default: verdict.default(fallback).describe("Action when no rule matches"),
    rules: z
      .array(rule)
      .default(rules as z.output<typeof rule>[])
      .describe("Checked in order; every field given must match"),
  });
