import { z } from "svc/sdk";

const text = z.string();
const seq = z.number().int().min(0);
const link = z.object({ seq, hash: text });

/** One act. */
const entry = z
  .object({
    seq,
    at: z.number().int().min(0).describe("milliseconds since 1970"),
    action: text.describe("a method, or `tool.called`, `message.sent`, `config.changed` …"),
    actor: z.object({ kind: z.enum(["operator", "agent", "gateway"]), id: text, remote: text.exactOptional() }),
    target: text.exactOptional(),
    outcome: z.enum(["ok", "error"]),
    details: z.record(text, z.union([text, z.number(), z.boolean()])).exactOptional(),
    hash: text.describe("sha256 over the hash before it and the entry as JSON with ordered keys"),
  })
  .meta({ id: "AuditEntry" });

/** Payloads of the answers of these methods; for documents, types and tests: the running plugin never loads them. */
export const auditResults = {
  "audit.list": z.object({ entries: z.array(entry), nextBefore: seq.exactOptional().describe("where to go on") }),
  "audit.verify": z.object({
    ok: z.boolean(),
    checked: seq,
    from: seq.describe("the last entry that was dropped for its age"),
    head: link.describe("the newest entry; note it elsewhere to find out later whether the log was written anew"),
    problem: z.object({ seq, reason: text }).exactOptional(),
  }),
};
