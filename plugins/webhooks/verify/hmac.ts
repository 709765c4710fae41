import { digestOf } from "./digest-text.ts";
import { present, type Scheme, textKey, type VerifyConfig } from "./scheme.ts";

/** Any other sender that signs its body, or `ts.body`, by HMAC-SHA256. */
export function genericHmac(verify: VerifyConfig): Scheme {
  const { prefix = "", encoding = "hex" } = verify;
  const [header = "", timestampHeader, idHeader] = [verify.header, verify.timestampHeader, verify.idHeader].map((name) =>
    name?.toLowerCase(),
  );
  return {
    secretHeaders: [header],
    keyOf: textKey,
    claimOf(headers) {
      const value = present(headers, header);
      const timestamp = timestampHeader === undefined ? undefined : present(headers, timestampHeader);
      if (value === undefined || (timestampHeader !== undefined && timestamp === undefined)) return undefined;
      const signatures = partsOf(value, prefix)
        .filter((part) => part.startsWith(prefix))
        .flatMap((part) => digestOf(part.slice(prefix.length), encoding));
      return timestamp === undefined ? { before: "", signatures } : { before: `${timestamp}.`, signatures, timestamp };
    },
    deliveryId: ({ headers }) => (idHeader === undefined ? undefined : present(headers, idHeader)),
  };
}

/** Senders that change their key list both signatures, with commas or spaces between; a prefix that has such a character itself forbids to look for them. */
function partsOf(value: string, prefix: string): string[] {
  return /[\s,]/.test(prefix) ? [value] : value.split(/[\s,]+/);
}
