import { z } from "svc/sdk";

const peer = z.strictObject({
  kind: z.enum(["direct", "group", "channel"]).describe("Kind of chat"),
  id: z.string().min(1).describe("Id of the chat, or `*`"),
});

/** `bindings[]`: which agent answers where. The most exact match wins, then the order of the list. */
const bindingsSchema = z
  .array(
    z.strictObject({
      agentId: z.string().min(1).describe("Agent that answers"),
      match: z.strictObject({
        channel: z.string().min(1).describe("Channel id"),
        accountId: z.string().min(1).optional().describe("Account of the channel"),
        peer: peer.optional(),
        parentPeer: peer.optional(),
        teamId: z.string().min(1).optional().describe("Team or server of the platform"),
        roles: z.array(z.string().min(1)).optional().describe("Roles of the sender there; one is enough"),
      }),
    }),
  )
  .meta({ reload: "none" })
  .describe("Which agent answers where; every field given must match");

/** Sections of the config that this plugin owns. The manifest names this module; `svc.sections.json` is written from it. */
export default { bindings: bindingsSchema.default([]) };
