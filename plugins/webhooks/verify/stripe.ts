import { digestOf } from "./digest-text.ts";
import { member, present, type Scheme, textKey } from "./scheme.ts";

const HEADER = "stripe-signature";

/** `Stripe-Signature: t=<unix>,v1=<hex>[,v1=…]` over `t.body`; the key is the whole text, `whsec_` included. */
export const stripe: Scheme = {
  secretHeaders: [HEADER],
  keyOf: textKey,
  claimOf(headers) {
    const value = present(headers, HEADER);
    if (value === undefined) return undefined;
    const parts = value.split(",").map((part) => part.trim());
    const all = (name: string) => parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1));
    // Two times leave open which of them was signed.
    const [timestamp = "", ...others] = new Set(all("t"));
    return {
      before: `${timestamp}.`,
      signatures: others.length > 0 ? [] : all("v1").flatMap((text) => digestOf(text, "hex")),
      timestamp,
    };
  },
  deliveryId: ({ payload }) => member(payload, "id"),
};
