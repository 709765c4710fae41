import { digestOf } from "./digest-text.ts";
import { present, type Scheme, textKey } from "./scheme.ts";

const HEADER = "x-hub-signature-256";
const PREFIX = "sha256=";

/** `X-Hub-Signature-256: sha256=<hex>` over the body. The older header beside it is SHA-1 and proves nothing here. */
export const github: Scheme = {
  secretHeaders: [HEADER, "x-hub-signature"],
  keyOf: textKey,
  claimOf(headers) {
    const value = present(headers, HEADER);
    if (value === undefined) return undefined;
    return { before: "", signatures: value.startsWith(PREFIX) ? digestOf(value.slice(PREFIX.length), "hex") : [] };
  },
  answer: ({ headers }) => (present(headers, "x-github-event") === "ping" ? { status: 204 } : undefined),
  deliveryId: ({ headers }) => present(headers, "x-github-delivery"),
};
