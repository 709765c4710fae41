import { z } from "zod";
import { idText } from "./fields.ts";
import { method } from "./spec.ts";

const uid = idText(200);
const state = z.enum(["accepted", "running", "done", "failed", "expired"]);

/** Webhooks; answered by the plugin of that name. */
export const webhooksMethods = {
  "webhooks.list": method("read", "where hooks arrive, and what each path does; no secrets", z.strictObject({})),
  "webhooks.recent": method(
    "read",
    "accepted hook actions, newest first, without their payloads",
    z.strictObject({
      limit: z.number().int().min(1).max(200).optional().describe("default 50"),
      states: z.array(state).min(1).max(5).optional().describe("default: all"),
    }),
  ),
  "webhooks.show": method(
    "read",
    "one hook action; its text only on request",
    z.strictObject({ uid, payload: z.boolean().optional().describe("with the text, as long as it is kept") }),
  ),
  "webhooks.retry": method("write", "retries a failed or expired action, with a fresh set of attempts", z.strictObject({ uid })),
  "webhooks.drop": method("write", "drops a waiting action; a note says so", z.strictObject({ uid })),
  "webhooks.test": method(
    "write",
    "what a request would result in: match, transform, templates and rules; nothing is stored and nobody is woken",
    z.strictObject({
      name: z.string().min(1).max(2_048).describe("path below `hooks.path`, or the id of a mapping"),
      payload: z.unknown().optional().describe("any JSON value; absent: an empty object"),
      headers: z.record(z.string().min(1).max(256), z.string().max(8_192)).optional(),
    }),
  ),
} as const;
