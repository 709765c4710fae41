import { methodSpec, z } from "svc/sdk";
import { idText } from "svc/sdk/internal";
import { agentId, none, sessionKey } from "./fields.ts";

/** Longest text of a system event, in UTF-16 units. */
const eventText = z.string().max(32_768);
const mode = z.enum(["now", "next-heartbeat"]);
const word = z.string().min(1).max(256);
const words = z.array(word).max(32);

/** Heartbeats and what agents are told between them. */
export const systemMethods = {
  wake: methodSpec(
    "write",
    "adds an event for an agent; with `now` it reacts at once, otherwise with its next prompt",
    z.strictObject({ mode, text: eventText, sessionKey: sessionKey.optional(), agentId: agentId.optional() }),
  ),
  "system-event": methodSpec(
    "admin",
    "a presence beacon, and unless the text begins with `Node:` an event for an agent",
    z.strictObject({
      text: eventText,
      sessionKey: sessionKey.optional(),
      wake: z.union([z.boolean(), mode]).optional(),
      deviceId: idText(256).optional(),
      instanceId: idText(256).optional(),
      host: word.optional(),
      ip: word.optional(),
      mode: word.optional(),
      version: word.optional(),
      platform: word.optional(),
      lastInputSeconds: z.number().min(0).optional(),
      reason: word.optional(),
      roles: words.optional(),
      scopes: words.optional(),
      tags: words.optional(),
    }),
  ),
  "last-heartbeat": methodSpec("read", "report of the latest heartbeat of any agent, or null", none),
  "set-heartbeats": methodSpec(
    "admin",
    "switches all heartbeats off or on until the gateway ends",
    z.strictObject({ enabled: z.boolean() }),
  ),
} as const;
