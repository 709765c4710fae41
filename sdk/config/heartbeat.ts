import { z } from "zod";
import { isTimeZone } from "../time-zone.ts";
import { duration, intervalMinutes } from "./amounts.ts";
import { documented } from "./fields.ts";

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'expected a time such as "08:30", up to "24:00"');

const timezone = z.string().refine(isTimeZone, { error: 'expected the name of a time zone such as "Europe/Berlin"' });

/** `heartbeat.*`, of the defaults and of one agent. Once an agent has a block, only agents with a block have a heartbeat. */
export const heartbeatSchema = z
  .strictObject({
    every: documented(intervalMinutes(), "30m").describe("Time between heartbeats; a bare number means minutes, 0 = off"),
    target: documented(z.string().min(1), "none").describe(
      "Where the answer goes: `none`, `last` (the session's last channel) or a channel id",
    ),
    to: z.string().min(1).optional().describe("Recipient on that channel"),
    accountId: z.string().min(1).optional().describe("Account of that channel"),
    model: z.string().min(1).optional().describe("Model of these runs, `provider/model`; unset: the agent's"),
    prompt: z.string().min(1).optional().describe("Prompt of the heartbeat; unset: a built-in text"),
    session: documented(z.string().min(1), "main").describe("Session of the heartbeat"),
    ackMaxChars: documented(z.number().int().min(0).max(100_000), 300).describe(
      "An acknowledgement with at most this many further characters is not delivered",
    ),
    activeHours: z
      .strictObject({
        start: timeOfDay.describe("Start of the active hours, inclusive"),
        end: timeOfDay.describe("End of the active hours, exclusive; the same as `start` means never"),
        timezone: timezone.optional().describe("Time zone of both; unset: the machine's"),
      })
      .optional(),
    lightContext: documented(z.boolean(), false).describe("Leave the transcript out of the prompt"),
    isolatedSession: documented(z.boolean(), false).describe("A fresh transcript for each heartbeat"),
    timeoutSeconds: duration("s", 1, 86_400).optional().describe("Time limit of the run; unset: the agent's"),
    directPolicy: documented(z.enum(["allow", "block"]), "allow").describe("Whether answers may go to direct chats"),
  })
  .meta({ reload: "hot" });
