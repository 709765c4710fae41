import { digestOf } from "./digest-text.ts";
import { member, present, type Scheme, textKey } from "./scheme.ts";

const SIGNATURE = "x-slack-signature";
const PREFIX = "v0=";

/** `X-Slack-Signature: v0=<hex>` over `v0:ts:body`. */
export const slack: Scheme = {
  secretHeaders: [SIGNATURE],
  keyOf: textKey,
  claimOf(headers) {
    const value = present(headers, SIGNATURE);
    const timestamp = present(headers, "x-slack-request-timestamp");
    if (value === undefined || timestamp === undefined) return undefined;
    return {
      before: `v0:${timestamp}:`,
      signatures: value.startsWith(PREFIX) ? digestOf(value.slice(PREFIX.length), "hex") : [],
      timestamp,
    };
  },
  /** The sender asks once whether this address is meant; it wants its own word back and no run. */
  answer({ payload }) {
    if (member(payload, "type") !== "url_verification") return undefined;
    const challenge = member(payload, "challenge");
    return { status: 200, body: typeof challenge === "string" ? challenge : "" };
  },
  deliveryId: ({ payload }) => member(payload, "event_id"),
};
