import { durationMs, z } from "svc/sdk";
import { defaulted, toolProfiles, toolTexts } from "svc/sdk/internal";

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

const queueMode = z.enum(["collect", "followup", "steer", "interrupt"]);

/** `messages.*`: what happens to messages that arrive while an agent is busy, and how answers look. */
const messagesSchema = z
  .strictObject({
    queue: z
      .strictObject({
        mode: queueMode
          .default("collect")
          .describe(
            "What a message during a run does: join the waiting ones, wait for a turn of its own, go before the next model call, or stop the run",
          ),
        debounceMs: defaulted(durationMs(0, 600_000), 1_000).describe("Quiet time before waiting messages are joined"),
        cap: z.number().int().min(1).max(1_000).default(20).describe("Maximum number of waiting messages"),
        drop: z
          .enum(["summarize", "old", "new"])
          .default("summarize")
          .describe("Above the maximum: summarise them, or drop the oldest or the newest"),
        byChannel: z.record(z.string().min(1), queueMode).default({}).describe("Mode by channel id"),
      })
      .prefault({}),
    inbound: z
      .strictObject({
        debounceMs: defaulted(durationMs(0, 600_000), 2_000).describe("Texts of one sender within this time become one message; 0 = off"),
        byChannel: z.record(z.string().min(1), durationMs(0, 600_000)).default({}).describe("Quiet time by channel id"),
      })
      .prefault({}),
    responsePrefix: z.string().min(1).max(200).optional().describe("Text before every answer"),
    ackReaction: z.string().min(1).max(64).optional().describe("Reaction that shows a message was seen"),
    ackReactionScope: z
      .enum(["group-mentions", "group-all", "direct", "all", "off"])
      .default("group-mentions")
      .describe("Messages that get the reaction"),
  })
  .meta({ reload: "none" });

/** `tools.*`: what every agent may use at most. */
const toolsSchema = z
  .strictObject({
    profile: toolProfiles.default("full").describe(toolTexts.profile),
    allow: z.array(z.string().min(1)).default([]).describe(toolTexts.allow),
    deny: z.array(z.string().min(1)).default([]).describe(toolTexts.deny),
    sessions: z
      .strictObject({
        visibility: z
          .enum(["self", "tree", "agent", "all"])
          .default("tree")
          .describe("Sessions that session tools see: their own, those it started as well, all of the agent, or all"),
      })
      .prefault({}),
  })
  .meta({ reload: "none" });

/** Sections of the config that this plugin owns. The manifest names this module; `svc.sections.json` is written from it. */
export default { bindings: bindingsSchema.default([]), messages: messagesSchema.prefault({}), tools: toolsSchema.prefault({}) };
