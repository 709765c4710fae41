import { durationMs, z } from "svc/sdk";
import { defaulted, duration, intervalMinutes, pathText, sendPolicySchema } from "svc/sdk/internal";

const collection = z.strictObject({
  name: z.string().min(1).describe("Name of the collection"),
  path: pathText().describe("Folder, relative to the workspace; `~` is expanded"),
  pattern: z.string().min(1).default("**/*.md").describe("Files of the folder"),
});

const commandTimeoutMs = (value: number, shown: string) => defaulted(durationMs(1, 86_400_000), value, shown);

const update = z.strictObject({
  interval: defaulted(intervalMinutes(), 300_000, "5m").describe("Time between refreshes; a bare number means minutes, 0 = off"),
  debounceMs: defaulted(durationMs(0, 3_600_000), 15_000, "15s").describe("No refresh within this time after the last one"),
  onBoot: z.boolean().default(true).describe("Refresh at start"),
  waitForBootSync: z.boolean().default(false).describe("Wait for that refresh at the start"),
  embedInterval: intervalMinutes()
    .optional()
    .describe("Time between embed runs; unset: none in search mode `search`, else 60 minutes; 0 = forced runs only"),
  commandTimeoutMs: commandTimeoutMs(30_000, "30s").describe("Time limit of one command of the engine"),
  updateTimeoutMs: commandTimeoutMs(120_000, "2m").describe("Time limit of a refresh"),
  embedTimeoutMs: commandTimeoutMs(120_000, "2m").describe("Time limit of an embed run"),
});

const sidecar = z.strictObject({
  command: z.string().min(1).default("qmd").describe("Program of the engine: name or path; never run through a shell"),
  searchMode: z.enum(["search", "vsearch", "query"]).default("search").describe("Keywords, vectors, or query expansion with re-ranking"),
  includeDefaultMemory: z.boolean().default(true).describe("Index `MEMORY.md` and `memory/**/*.md`"),
  paths: z.array(collection).default([]).describe("Further folders"),
  sessions: z
    .strictObject({
      enabled: z.boolean().default(false).describe("Index session transcripts"),
      retentionDays: duration("d", 1, 36_500).optional().describe("Transcripts older than this are left out; unset keeps all"),
      exportDir: pathText().optional().describe("Folder in the agent's state where transcripts are written for the engine"),
    })
    .prefault({}),
  update: update.prefault({}),
  limits: z
    .strictObject({
      maxResults: z
        .number()
        .int()
        .min(1)
        .max(200)
        .optional()
        .meta({ default: 6 })
        .describe("Results of a search; unset takes `memorySearch.limits`"),
      maxSnippetChars: z
        .number()
        .int()
        .min(1)
        .optional()
        .meta({ default: 700 })
        .describe("Maximum length of a snippet in UTF-16 units; unset takes `memorySearch.limits`"),
      maxInjectedChars: z
        .number()
        .int()
        .min(1)
        .optional()
        .meta({ default: 4_000 })
        .describe("All snippets together; unset takes `memorySearch.limits`"),
      timeoutMs: durationMs(1, 600_000)
        .optional()
        .meta({ default: 4_000 })
        .describe("Time limit of a search; unset takes `memorySearch.limits`"),
    })
    .prefault({}),
  scope: sendPolicySchema("deny", [
    { action: "allow", match: { chatType: "direct" } },
    { action: "allow", match: { chatType: "channel" } },
  ]).prefault({}),
});

/** `memory.*`: which engine searches, and how sources are cited. */
const memorySchema = z
  .strictObject({
    // Plugins bring others than these two, so no list of names is complete.
    backend: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,63}$/, 'expected "builtin", "sidecar" or the id of a memory backend')
      .default("builtin")
      .describe("Search engine: `builtin`, `sidecar` (also `qmd`), or the id of another plugin's memory backend"),
    citations: z.enum(["auto", "on", "off"]).default("auto").describe("`Source:` line below snippets; `auto`: in direct chats"),
    sidecar: sidecar.prefault({}),
  })
  .meta({ reload: "hot" });

/** Sections of the config that this plugin owns. The manifest names this module; `svc.sections.json` is written from it. */
export default { memory: memorySchema.prefault({}) };
