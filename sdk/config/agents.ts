import { z } from "zod";
import { durationMs } from "./fields.ts";

/** `provider/model`, or the first to try and those to fall back on. */
const modelChoice = z.union([
  z.string().min(1),
  z.strictObject({ primary: z.string().min(1), fallbacks: z.array(z.string().min(1)).default([]) }),
]);

/** `agents.defaults.memorySearch`: keyword search; the embedding keys arrive with the adapters. */
export const memorySearchSchema = z.strictObject({
  enabled: z.boolean().optional(),
  provider: z.enum(["none"]).optional(),
  extraPaths: z.array(z.string().min(1)).optional(),
  chunking: z
    .strictObject({ tokens: z.number().int().min(1).max(8000).optional(), overlap: z.number().int().min(0).max(8000).optional() })
    .optional(),
  store: z
    .strictObject({
      path: z.string().min(1).optional(),
      fts: z.strictObject({ tokenizer: z.enum(["unicode61", "trigram"]).optional() }).optional(),
    })
    .optional(),
  query: z
    .strictObject({
      maxResults: z.number().int().min(1).max(200).optional(),
      minScore: z.number().min(0).max(1).optional(),
      hybrid: z.strictObject({ candidateMultiplier: z.number().int().min(1).max(20).optional() }).optional(),
    })
    .optional(),
  limits: z
    .strictObject({
      maxResults: z.number().int().min(1).max(200).optional(),
      maxSnippetChars: z.number().int().min(1).optional(),
      maxInjectedChars: z.number().int().min(1).optional(),
      timeoutMs: durationMs(1, 600_000).optional(),
    })
    .optional(),
  sync: z
    .strictObject({
      watch: z.boolean().optional(),
      watchDebounceMs: durationMs(0, 600_000).optional(),
      onSessionStart: z.boolean().optional(),
      onSearch: z.boolean().optional(),
      intervalMinutes: z.number().int().min(0).max(10_080).optional(),
    })
    .optional(),
});

const toolPolicy = z.strictObject({
  profile: z.enum(["minimal", "coding", "messaging", "full"]).optional(),
  allow: z.array(z.string()).optional(),
  deny: z.array(z.string()).optional(),
});

/** What an agent may override of the defaults. */
const perAgent = {
  workspace: z.string().min(1).optional(),
  skipBootstrap: z.boolean().optional(),
  bootstrapMaxChars: z.number().int().min(100).optional(),
  bootstrapTotalMaxChars: z.number().int().min(100).optional(),
  model: modelChoice.optional(),
  thinkingDefault: z.enum(["off", "minimal", "low", "medium", "high"]).optional(),
  timeoutSeconds: z.number().int().min(1).max(86_400).optional(),
  tools: toolPolicy.optional(),
  memorySearch: memorySearchSchema.optional(),
};

/** Agent ids: also the last part of `svc/<agentId>` and of session keys. */
export const agentIdPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** `agents.*`: who answers, with which model, where its files are. */
export const agentsSchema = z.strictObject({
  defaults: z
    .strictObject({
      ...perAgent,
      models: z.record(z.string(), z.strictObject({ alias: z.string().min(1).optional() })).optional(),
      maxConcurrent: z.number().int().min(1).max(256).default(4),
    })
    .prefault({}),
  list: z
    .array(
      z.strictObject({
        id: z.string().regex(agentIdPattern, "expected lower-case letters, digits, _ or -, at most 64, starting with a letter or digit"),
        name: z.string().min(1).optional(),
        default: z.boolean().optional(),
        identity: z.strictObject({ name: z.string().optional(), emoji: z.string().optional(), avatar: z.string().optional() }).optional(),
        ...perAgent,
      }),
    )
    .default([]),
});
