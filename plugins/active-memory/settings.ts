import { durationMs, z } from "svc/sdk";
import { agentIdPattern } from "svc/sdk/internal";

/** Kinds of conversations. */
export const chatTypes = ["direct", "group", "channel"] as const;
/** Part of the conversation that the search is about. */
export const queryModes = ["message", "recent", "full"] as const;
/** Wordings of the instructions. */
export const promptStyles = ["strict", "balanced", "contextual", "recall-heavy", "precision-heavy", "preference-only"] as const;

/** A name, or names with slashes between them; none begins with a dot, so that nothing leads out of the folder that they are below. */
const folderName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,3}$/;

const instructions = (what: string) => z.string().min(1).max(8_000).optional().describe(what);
const chars = (fallback: number, what: string) => z.int().min(40).max(1_000).default(fallback).describe(what);
const turns = (max: number, fallback: number, what: string) => z.int().min(0).max(max).default(fallback).describe(what);

/** `plugins.entries.active-memory.config`. */
export const settingsSchema = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("Off: no memory is searched ahead of an answer; the plugin stays loaded. `/active-memory on --global` writes it"),
  agents: z
    .array(z.string().regex(agentIdPattern))
    .max(1_000)
    .default([])
    .describe("Ids of the agents whose memory is searched; empty: none"),
  allowedChatTypes: z
    .array(z.enum(chatTypes))
    .max(chatTypes.length)
    .default(["direct"])
    .describe("Kinds of conversations in which it happens"),
  model: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe(
      "Model that searches: `provider/model`, a bare id or an alias; unset, or not offered: that of the run, then that of the agent",
    ),
  modelFallbackPolicy: z
    .enum(["default-remote", "resolved-only"])
    .default("default-remote")
    .describe("Where none of them is set: the first model that is ready, or no search"),
  queryMode: z
    .enum(queryModes)
    .default("recent")
    .describe("Part of the conversation that is read: the latest message, a tail of turns before it, or all turns"),
  promptStyle: z
    .enum(promptStyles)
    .optional()
    .describe("How readily something is passed on; unset: `strict` for `message`, `balanced` for `recent`, `contextual` for `full`"),
  thinking: z
    .enum(["off", "minimal", "low", "medium", "high", "xhigh"])
    .default("off")
    .describe("Thinking level of the model that searches"),
  promptOverride: instructions("Instructions in the place of the usual ones; the conversation follows them"),
  promptAppend: instructions("Instructions after the usual ones; the conversation follows them"),
  timeoutMs: durationMs(250, 60_000).default(15_000).describe("Time limit of a search; the answer goes on without it"),
  maxSummaryChars: chars(220, "Longest note for the model, cut at the end of a word"),
  recentUserTurns: turns(4, 2, "Earlier messages of the person that `recent` reads"),
  recentAssistantTurns: turns(3, 1, "Earlier answers that `recent` reads"),
  recentUserChars: chars(220, "Longest part of each of these messages"),
  recentAssistantChars: chars(180, "Longest part of each of these answers"),
  cacheTtlMs: durationMs(1_000, 120_000).default(15_000).describe("Time for which the outcome of a search serves the same question again"),
  logging: z.boolean().default(false).describe("A line in the log for each search"),
  persistTranscripts: z
    .boolean()
    .default(false)
    .describe("Keep what the model that searches read and said, as files below `transcriptDir`"),
  transcriptDir: z
    .string()
    .regex(folderName)
    .default("active-memory")
    .describe("Folder of these files below the data of the plugin; a relative name without `..`"),
});

export type Settings = z.output<typeof settingsSchema>;
export type ChatType = (typeof chatTypes)[number];
export type QueryMode = (typeof queryModes)[number];
export type PromptStyle = (typeof promptStyles)[number];

const styleOf: Readonly<Record<QueryMode, PromptStyle>> = { message: "strict", recent: "balanced", full: "contextual" };

/** The style that holds. */
export function promptStyle({ promptStyle, queryMode }: Pick<Settings, "promptStyle" | "queryMode">): PromptStyle {
  return promptStyle ?? styleOf[queryMode];
}
