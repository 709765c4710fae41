import { z } from "svc/sdk";

const count = z.number().int().min(0);
const epochMs = count;

const text = z.string();
const json = z.record(z.string(), z.unknown());

const mapping = z.object({
  id: text,
  preset: text.exactOptional().describe("which preset brought it; absent: the operator's own"),
  path: text.exactOptional().describe("below the path of the hooks; absent: any"),
  source: text.exactOptional().describe("what `source` in the payload must be"),
  action: z.enum(["wake", "agent"]),
  agentId: text.exactOptional(),
  forEach: text.exactOptional(),
  transform: text.exactOptional().describe("its module"),
  verify: z.object({ provider: text, mode: z.enum(["with-token", "instead"]) }).exactOptional(),
  isUnsafe: z.boolean().describe("payloads reach the agent unframed"),
  broken: text.exactOptional().describe("why it cannot serve"),
});

const delivery = z.object({
  uid: text.describe("of an agent action also the id of its run"),
  kind: z.enum(["agent", "wake"]),
  state: z.enum(["accepted", "running", "sending", "uncertain", "done", "failed", "expired"]),
  attempt: count.describe("tries begun"),
  path: text,
  mapping: text.exactOptional(),
  name: text.exactOptional(),
  agentId: text,
  lane: text.describe("canonical session key"),
  createdAt: epochMs,
  updatedAt: epochMs,
  expiresAt: epochMs,
  notBefore: epochMs.exactOptional().describe("of the next try"),
  steps: z.record(z.string(), json).describe("what was done, by name"),
  result: json.exactOptional().describe("how it ended, or why the last try did not"),
});

const tried = z.object({
  path: text,
  outcome: z
    .enum(["actions", "nothing", "answered", "unmapped"])
    .describe("what a sender would get: 200 or an error, 204, an answer of its scheme, 404"),
  mapping: text.exactOptional(),
  preset: text.exactOptional(),
  verify: z
    .object({ provider: text, mode: z.enum(["with-token", "instead"]) })
    .exactOptional()
    .describe("a real request needs this signature"),
  items: z.array(
    z.object({
      action: json.exactOptional().describe("with every field resolved"),
      refusal: z
        .object({
          status: z.number().int(),
          message: text.describe("message for the sender"),
          reason: text.exactOptional().describe("for the operator: file, line and column where there are any"),
          retryAfterMs: count.exactOptional(),
        })
        .exactOptional(),
    }),
  ),
  warnings: z.array(text),
  broken: text.exactOptional().describe("what is wrong with the mapping"),
});

const changed = z.object({ ok: z.literal(true), uid: text });

const figures = z.object({ accepted: count, running: count, failed: count, expired: count });

/** Payloads of the answers of these methods; for documents, types and tests: the running plugin never loads them. */
export const webhooksResults = {
  "webhooks.list": z.object({
    enabled: z.boolean(),
    path: text.exactOptional().describe("where they arrive; absent: nowhere"),
    presets: z.array(z.object({ id: text, isKnown: z.boolean() })),
    mappings: z.array(mapping).describe("in the order in which they are checked"),
    isolation: z.enum(["process", "worker", "off"]).describe("where transforms run"),
    problems: z.array(text).describe("what keeps a part from working"),
    counts: figures,
  }),
  "webhooks.recent": z.object({ deliveries: z.array(delivery), counts: figures }),
  "webhooks.show": z.object({
    delivery,
    action: json.exactOptional().describe("what is to be done, its text in its frame; absent once it is done"),
  }),
  "webhooks.retry": changed,
  "webhooks.drop": changed,
  "webhooks.test": tried,
};
