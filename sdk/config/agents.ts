import { z } from "zod";
import { duration } from "./amounts.ts";
import { agentId, defaulted, documented, pathText, pattern } from "./fields.ts";
import { heartbeatSchema } from "./heartbeat.ts";
import { memorySearchSchema } from "./memory-search.ts";
import { agentToolsSchema } from "./tools.ts";

/** `provider/model`, or the first to try and those to fall back on. */
const modelChoice = z
  .union([
    z.string().min(1),
    z.strictObject({
      primary: z.string().min(1).describe("Model that is tried first"),
      fallbacks: z.array(z.string().min(1)).default([]).describe("Models tried after it, in order"),
    }),
  ])
  .meta({ reload: "hot" });

const skipBootstrap = z.boolean();
const bootstrapChars = z.number().int().min(100).max(10_000_000);
const thinkingLevel = z.enum(["off", "minimal", "low", "medium", "high"]);
const maxTurns = z.number().int().min(1).max(1_000);
const runTimeout = duration("s", 1, 86_400);

const texts = {
  workspace: "Folder of the agent's files; unique to one gateway",
  skipBootstrap: "Do not create the workspace's first files",
  bootstrapMaxChars: "Maximum length of one workspace file in a prompt; longer ones are cut in the middle",
  bootstrapTotalMaxChars: "Maximum length of all workspace files in a prompt",
  model: "`provider/model`, or a first choice with fallbacks",
  thinkingDefault: "Thinking level of runs that name none",
  timeoutSeconds: "Longest run, counted from its start",
  contextTokens: "Longest prompt and answer in tokens; unset, or longer: the model's window",
  maxTurns: "Answers of the model in one run; the last one has to do without tools",
};

/** Settings that an agent may override. */
const perAgent = {
  workspace: pathText().optional().meta({ reload: "hot" }).describe(texts.workspace),
  skipBootstrap: skipBootstrap.optional().describe(texts.skipBootstrap),
  bootstrapMaxChars: bootstrapChars.optional().describe(texts.bootstrapMaxChars),
  bootstrapTotalMaxChars: bootstrapChars.optional().describe(texts.bootstrapTotalMaxChars),
  model: modelChoice.optional().describe(texts.model),
  thinkingDefault: thinkingLevel.optional().describe(texts.thinkingDefault),
  timeoutSeconds: runTimeout.optional().describe(texts.timeoutSeconds),
  contextTokens: z.number().int().min(1).optional().describe(texts.contextTokens),
  maxTurns: maxTurns.optional().describe(texts.maxTurns),
  tools: agentToolsSchema.optional(),
  skills: z
    .strictObject({
      deny: z.array(z.string().min(1)).optional().meta({ default: [] }).describe("Skills that are not offered: names, `*` globs"),
    })
    .optional(),
  heartbeat: heartbeatSchema.optional(),
  memorySearch: memorySearchSchema.optional(),
};

const listedModel = z.strictObject({
  alias: z.string().min(1).optional().describe("Short name"),
  params: z.record(z.string(), z.unknown()).optional().describe("Free parameters for this model's requests"),
});

const defaults = z
  .strictObject({
    ...perAgent,
    workspace: documented(pathText(), "<state dir>/workspace").meta({ reload: "hot" }).describe(texts.workspace),
    skipBootstrap: skipBootstrap.default(false).describe(texts.skipBootstrap),
    bootstrapMaxChars: bootstrapChars.default(20_000).describe(texts.bootstrapMaxChars),
    bootstrapTotalMaxChars: bootstrapChars.default(150_000).describe(texts.bootstrapTotalMaxChars),
    thinkingDefault: thinkingLevel.default("low").describe(texts.thinkingDefault),
    timeoutSeconds: defaulted(runTimeout, 600, 600).describe(texts.timeoutSeconds),
    maxTurns: maxTurns.default(50).describe(texts.maxTurns),
    models: documented(z.record(z.string().min(1), listedModel), {})
      .meta({ reload: "hot" })
      .describe("By `provider/model`; when not empty, only these may replace the agent's own model"),
    maxConcurrent: z
      .number()
      .int()
      .min(1)
      .max(256)
      .default(4)
      .describe("Runs at a time over all sessions; programs on /v1 leave one to people"),
  })
  .meta({ reload: "none" });

const agent = z.strictObject({
  id: agentId().describe("Name in session keys and in `svc/<agentId>`"),
  name: z.string().min(1).optional().describe("Name shown to people"),
  default: documented(z.boolean(), false).describe("Used where no agent is named; at most one, otherwise the first of the list"),
  agentDir: documented(pathText(), "<state dir>/agents/<agentId>").describe("Folder of the agent's own state"),
  identity: z
    .strictObject({
      name: z.string().optional().describe("Name the agent goes by"),
      emoji: z.string().optional().describe("Emoji beside the agent's name"),
      avatar: z.string().optional().describe("Picture: a URL, or a file in the workspace"),
    })
    .optional(),
  groupChat: z
    .strictObject({
      mentionPatterns: documented(z.array(pattern()).max(100), []).describe(
        "Regular expressions, in any case of letters, that count as a mention of the agent in a group",
      ),
    })
    .optional(),
  ...perAgent,
});

/** `agents.*`: who answers, with which model, where its files are. */
export const agentsSchema = z.strictObject({
  defaults: defaults.prefault({}),
  list: z.array(agent).default([]).meta({ reload: "hot" }).describe("The agents; an empty list means one agent `main`"),
});
