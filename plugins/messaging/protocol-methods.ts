import { methodSpec, z } from "svc/sdk";
import { idText } from "svc/sdk/internal";

const byUid = z.strictObject({ uid: idText(200) });

/** Methods of the protocol that this plugin serves: messages to channels that wait, or were not delivered. */
export const messagingMethods = {
  "messaging.queue.list": methodSpec(
    "read",
    "messages to channels, newest first: waiting and undelivered ones, with `all` the others too",
    z.strictObject({
      all: z.boolean().optional(),
      before: z.number().int().min(1).optional(),
      limit: z.number().int().min(1).max(1_000).optional(),
    }),
  ),
  "messaging.queue.retry": methodSpec("write", "sends a message again now, with a fresh set of attempts", byUid),
  "messaging.queue.drop": methodSpec("write", "drops a waiting message", byUid),
} as const;
