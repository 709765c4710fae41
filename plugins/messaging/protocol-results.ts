import { z } from "svc/sdk";

const count = z.number().int().min(0);
const epochMs = count;

const state = z.enum(["accepted", "sending", "uncertain", "done", "failed", "expired"]);

const message = z.object({
  uid: z.string(),
  id: count.describe("for `before`"),
  lane: z.string().describe("`channel:account:to`"),
  state: state.describe("`uncertain`: whether the platform has it is unknown"),
  attempt: count.describe("tries begun"),
  createdAt: epochMs,
  updatedAt: epochMs,
  expiresAt: epochMs,
  notBefore: epochMs.exactOptional().describe("of the next try"),
  reason: z.string().exactOptional().describe("why it was not delivered, or why the last try did not succeed"),
  messageId: z.string().exactOptional().describe("that the platform gave it"),
});

const changed = z.object({ ok: z.literal(true), uid: z.string() });

/** Payloads of the answers of these methods; for documents, types and tests: the running plugin never loads them. */
export const messagingResults = {
  "messaging.queue.list": z.object({ messages: z.array(message), counts: z.record(state, count) }),
  "messaging.queue.retry": changed,
  "messaging.queue.drop": changed,
};
