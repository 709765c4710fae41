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
          .describe("A message during a run: join those that wait, one turn each, put it before the next model call, or stop the run"),
        debounceMs: defaulted(durationMs(0, 600_000), 1_000).describe("Quiet time before messages that wait are joined"),
        cap: z.number().int().min(1).max(1_000).default(20).describe("Messages that may wait"),
        drop: z
          .enum(["summarize", "old", "new"])
          .default("summarize")
          .describe("Beyond that: sum them up, or drop the oldest or the newest"),
        byChannel: z.record(z.string().min(1), queueMode).default({}).describe("Mode by channel id"),
      })
      .prefault({}),
    inbound: z
      .strictObject({
        debounceMs: defaulted(durationMs(0, 600_000), 2_000).describe("Text of one sender within this time is one message; 0 = off"),
        byChannel: z.record(z.string().min(1), durationMs(0, 600_000)).default({}).describe("The same by channel id"),
      })
      .prefault({}),
    responsePrefix: z.string().min(1).max(200).optional().describe("Text before every answer"),
    ackReaction: z.string().min(1).max(64).optional().describe("Reaction that shows a message was seen"),
    ackReactionScope: z
      .enum(["group-mentions", "group-all", "direct", "all", "off"])
      .default("group-mentions")
      .describe("Messages that get it"),
  })
  .meta({ reload: "none" });
