import { methodSpec, z } from "svc/sdk";

const seq = z.number().int().min(1);
/** A place in the chain, as `audit.verify` names its head. */
const link = z.strictObject({ seq, hash: z.string().regex(/^[0-9a-f]{64}$/, "expected a sha256 in hexadecimal") });

/** Methods of the protocol that this plugin serves. */
export const auditMethods = {
  "audit.list": methodSpec(
    "admin",
    "what agents and operators did, the newest first",
    z.strictObject({
      limit: z.number().int().min(1).max(500).optional(),
      before: seq.optional(),
      action: z.string().min(1).max(100).optional(),
      actor: z.string().min(1).max(200).optional(),
    }),
  ),
  "audit.verify": methodSpec(
    "admin",
    "checks that no entry of the audit log was changed or removed; `known` is a place that was noted earlier",
    z.strictObject({ known: link.optional() }),
  ),
} as const;
