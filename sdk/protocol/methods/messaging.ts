import { z } from "zod";
import { idText } from "./fields.ts";
import { method } from "./spec.ts";

const byUid = z.strictObject({ uid: idText(200) });

/** Messages to channels that wait, or were not delivered. */
export const messagingMethods = {
  "messaging.queue.list": method(
    "read",
    "messages to channels, newest first: waiting and undelivered ones, with `all` the others too",
    z.strictObject({
      all: z.boolean().optional(),
      before: z.number().int().min(1).optional(),
      limit: z.number().int().min(1).max(1_000).optional(),
    }),
  ),
  "messaging.queue.retry": method("write", "sends a message again now, with a fresh set of attempts", byUid),
  "messaging.queue.drop": method("write", "drops a waiting message", byUid),
} as const;
