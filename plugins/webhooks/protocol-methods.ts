import { methodSpec, z } from "svc/sdk";
import { idText } from "svc/sdk/internal";

const uid = idText(200);
const state = z.enum(["accepted", "running", "done", "failed", "expired"]);

/** Methods of the protocol that this plugin serves. */
export const webhooksMethods = {
  "webhooks.list": methodSpec("read", "where hooks arrive, and what each path does; no secrets", z.strictObject({})),
  "webhooks.recent": methodSpec(
    "read",
    "accepted hook actions, newest first, without their payloads",
    z.strictObject({
      limit: z.number().int().min(1).max(200).optional().describe("default 50"),
      states: z.array(state).min(1).max(5).optional().describe("default: all"),
    }),
  ),
  "webhooks.show": methodSpec(
    "read",
    "one hook action; its text only on request",
    z.strictObject({ uid, payload: z.boolean().optional().describe("with the text, as long as it is kept") }),
  ),
  "webhooks.retry": methodSpec("write", "retries a failed or expired action, with a fresh set of attempts", z.strictObject({ uid })),
  "webhooks.drop": methodSpec("write", "drops a waiting action; a note says so", z.strictObject({ uid })),
  "webhooks.test": methodSpec(
    "write",
    "what a request would result in: match, transform, templates and rules; nothing is stored and nobody is woken",
    z.strictObject({
      name: z.string().min(1).max(2_048).describe("path below `hooks.path`, or the id of a mapping"),
      payload: z.unknown().optional().describe("any JSON value; absent: an empty object"),
      headers: z.record(z.string().min(1).max(256), z.string().max(8_192)).optional(),
    }),
  ),
} as const;
