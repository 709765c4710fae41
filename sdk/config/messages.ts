import { z } from "zod";
import { durationMs } from "./amounts.ts";
import { defaulted } from "./fields.ts";

const queueMode = z.enum(["collect", "followup", "steer", "interrupt"]);

/** `messages.*`: what happens to messages that arrive while an agent is busy, and how answers look. */
export const messagesSchema = z
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
