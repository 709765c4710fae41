import { methodSpec, z } from "svc/sdk";
import { idText } from "svc/sdk/internal";

const agentId = idText(64);
const thresholds = {
  agentId: agentId.optional(),
  limit: z.number().int().min(1).max(200).optional().describe("default 10"),
  minScore: z.number().min(0).max(1).optional().describe("default 0.75"),
  minRecallCount: z.number().int().min(0).max(1_000).optional().describe("least evidence, default 3"),
  minUniqueQueries: z.number().int().min(0).max(1_000).optional().describe("least number of different queries or days, default 2"),
};
const path = z.string().min(1).max(1_000).describe("a note `YYYY-MM-DD.md`, or a folder with some, below the workspace");

/** Methods of dreaming. */
export const dreamingMethods = {
  "memory.dreaming.status": methodSpec(
    "read",
    "whether the short-term memory is swept, when next, and what became of the last sweep of each workspace",
    z.strictObject({ agentId: agentId.optional() }),
  ),
  "memory.dreaming.run": methodSpec(
    "admin",
    "sweeps now: every workspace, or that of one agent, also while dreaming is off",
    z.strictObject({ agentId: agentId.optional() }),
  ),
  "memory.dreaming.candidates": methodSpec(
    "read",
    "statements of the short-term memory, the best first, with every part of their scores and what stands against a promotion; changes nothing",
    z.strictObject({
      ...thresholds,
      includePromoted: z.boolean().optional(),
      selector: z.string().min(1).max(1_000).optional().describe("a key, a path or words of a statement: only those, promoted ones too"),
    }),
  ),
  "memory.dreaming.promote": methodSpec(
    "admin",
    "moves what these thresholds let through into the long-term memory",
    z.strictObject(thresholds),
  ),
  "memory.dreaming.preview": methodSpec(
    "read",
    "what a sweep would find; changes nothing",
    z.strictObject({ agentId: agentId.optional(), path: path.optional(), grounded: z.boolean().optional() }),
  ),
  "memory.dreaming.backfill": methodSpec(
    "admin",
    "writes historical daily notes into the diary and stages their candidates, or takes either back",
    z.strictObject({
      agentId: agentId.optional(),
      path: path.optional().describe("default `memory`"),
      action: z.enum(["write", "stage", "rollback", "rollback-staged"]).describe("`stage`: into the short-term memory as well"),
    }),
  ),
  "memory.dreaming.repair": methodSpec(
    "admin",
    "removes a lock that was left behind and puts broken state aside",
    z.strictObject({ agentId: agentId.optional() }),
  ),
} as const;

const count = z.number().int().min(0);
const text = z.string();
const moment = count.describe("epoch ms");

const promotion = z.object({ key: text, score: z.number(), text, source: text });
const skipped = z.object({ key: text, reason: text });

const lastSweep = z.object({
  at: moment,
  staged: count,
  themes: count,
  truths: count,
  promoted: count,
  skipped: count,
  diary: text.describe("who wrote the entry: `model`, `plain` or `none`"),
  ms: count,
  problem: text.exactOptional(),
});

const job = z.object({
  state: z.enum(["off", "scheduled", "missing"]),
  id: text.exactOptional(),
  nextRunAt: moment.exactOptional(),
  problem: text.exactOptional().describe("why no sweep will run by itself"),
});

const status = z.object({
  enabled: z.boolean(),
  frequency: text,
  timezone: text.exactOptional(),
  job,
  workspaces: z.array(
    z.object({
      workspace: text,
      agentIds: z.array(text),
      running: z.boolean(),
      entries: count.describe("statements in the short-term memory"),
      promoted: count,
      untrusted: count.describe("from groups or from outside; never promoted by themselves"),
      invalid: count,
      diary: text,
      lastSweep: lastSweep.exactOptional(),
      staleLock: count.exactOptional().describe("process that left its lock behind"),
      problem: text.exactOptional(),
    }),
  ),
});

const sweepResult = z.object({
  at: moment,
  day: text,
  ingested: z.object({ notes: count, messages: count }),
  staged: count,
  themes: z.array(z.object({ tag: text, count, strength: z.number() })),
  truths: count,
  promoted: z.array(promotion),
  skipped: z.array(skipped),
  diary: z.enum(["model", "plain", "none"]),
  problem: text.exactOptional(),
  ms: count,
});

const run = z.object({
  workspaces: z.array(
    z.object({ workspace: text, agentIds: z.array(text), result: sweepResult.exactOptional(), error: text.exactOptional() }),
  ),
});

const components = z.object({
  relevance: z.number(),
  frequency: z.number(),
  diversity: z.number(),
  recency: z.number(),
  consolidation: z.number(),
  richness: z.number(),
  phaseBoost: z.number(),
});

const candidates = z.object({
  agentId,
  total: count,
  candidates: z.array(
    z.object({
      key: text,
      path: text,
      startLine: count,
      endLine: count,
      snippet: text,
      score: z.number(),
      components: components.describe("each 0 to 1 before its weight"),
      recallCount: count,
      dailyCount: count,
      groundedCount: count,
      signals: count,
      variety: count.describe("different queries or days, whichever is more"),
      days: z.array(text),
      conceptTags: z.array(text),
      lastRecalledAt: text,
      promotedAt: text.exactOptional(),
      blockedBy: z.array(text).describe("empty: it may be promoted"),
    }),
  ),
});

const preview = z.object({
  agentId,
  entries: count,
  themes: z.array(z.object({ tag: text, count, strength: z.number() })),
  truths: z.array(z.object({ snippet: text, confidence: z.number(), source: text })),
  promotions: z.array(z.object({ snippet: text, score: z.number(), source: text })),
  narrative: text,
  grounded: z.array(text).exactOptional(),
});

/** Payloads of the answers of these methods. */
export const dreamingResults = {
  "memory.dreaming.status": status,
  "memory.dreaming.run": z.union([
    z
      .object({ status: z.literal("accepted"), workspaces: z.array(text) })
      .describe("first answer; the final one follows under the same id"),
    run,
  ]),
  "memory.dreaming.candidates": candidates,
  "memory.dreaming.promote": z.object({ agentId, applied: z.array(promotion), skipped: z.array(skipped) }),
  "memory.dreaming.preview": preview,
  "memory.dreaming.backfill": z.object({
    agentId,
    entries: count.exactOptional(),
    staged: count.exactOptional(),
    removed: count.exactOptional(),
  }),
  "memory.dreaming.repair": z.object({ agentId, done: z.array(text) }),
};
