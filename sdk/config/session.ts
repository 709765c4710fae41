import { z } from "zod";
import { duration, durationText, sizeBytes, sizeOrShare } from "./amounts.ts";
import { defaulted } from "./fields.ts";
import { sendPolicySchema } from "./send-policy.ts";

const mode = z.enum(["none", "daily", "idle"]);
const modeText = "When the next message of a session starts a new transcript: never, daily, or after `idleMinutes` of silence";
const atHour = z.number().int().min(0).max(23);
const atHourText = "Hour of the daily reset, in the time zone of the machine";
const idleMinutes = duration("m", 1, 525_600)
  .optional()
  .describe("Silence after which a session is reset; with a daily reset as well, whichever comes first");

const ownReset = z.strictObject({
  mode: mode.optional().describe(modeText),
  atHour: atHour.optional().describe(atHourText),
  idleMinutes,
});

/** `session.*`: which messages share a transcript, and how long it lives. */
export const sessionSchema = z
  .strictObject({
    scope: z.enum(["per-sender", "global"]).default("per-sender").describe("One session for each sender, or one for everybody"),
    dmScope: z
      .enum(["main", "per-peer", "per-channel-peer", "per-account-channel-peer"])
      .default("main")
      .describe("Session of direct chats: the main one, or one for each peer, channel or account"),
    identityLinks: z
      .record(z.string().min(1), z.array(z.string().regex(/^[^:\s]+:.+$/, 'expected channel and peer, such as "irc:alice"')))
      .default({})
      .describe("By name: peers that are one person, as `channel:peer`; for the per-peer scopes"),
    reset: z
      .strictObject({
        mode: mode.default("daily").describe(modeText),
        atHour: atHour.default(4).describe(atHourText),
        idleMinutes,
      })
      .prefault({}),
    resetByType: z.strictObject({ direct: ownReset.optional(), group: ownReset.optional(), thread: ownReset.optional() }).prefault({}),
    resetByChannel: z.record(z.string().min(1), ownReset).default({}),
    resetTriggers: z.array(z.string().min(1)).default(["/new", "/reset"]).describe("Messages that reset a session"),
    maintenance: z
      .strictObject({
        mode: z.enum(["enforce", "warn", "off"]).default("enforce").describe("Delete what exceeds the limits, only report it, or neither"),
        pruneAfter: defaulted(durationText(3_600_000), 30 * 86_400_000, "30d").describe(
          "Sessions unused for this long are deleted, but for main and pinned ones; single HTTP requests after a day",
        ),
        maxEntries: z
          .number()
          .int()
          .min(1)
          .max(1_000_000)
          .default(500)
          .describe("Maximum number of sessions; beyond it the least recently used are deleted"),
        resetArchiveRetention: defaulted(durationText(), 30 * 86_400_000, "30d").describe(
          "How long transcripts from before a reset are kept",
        ),
        maxDiskBytes: defaulted(sizeBytes(1_000_000, 1e15), 2_000_000_000, "2gb").describe(
          "Disk space of all sessions and transcripts; above it the oldest archives are deleted first, then the least recently used sessions",
        ),
        highWaterBytes: defaulted(sizeOrShare(1_000_000, 1e15), "80%").describe(
          "Target of a clean-up: a size, or a share of `maxDiskBytes`",
        ),
      })
      .prefault({}),
    sendPolicy: sendPolicySchema("allow").prefault({}),
  })
  .meta({ reload: "none" });
