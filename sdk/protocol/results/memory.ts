import { z } from "zod";
import { agentId, count, epochMs } from "./fields.ts";

const text = z.string();

const hit = z.object({
  path: text,
  startLine: count,
  endLine: count,
  score: z.number(),
  vectorScore: z.number().exactOptional(),
  textScore: z.number().exactOptional(),
  snippet: text,
  source: z.enum(["memory", "sessions"]),
});

const search = z.object({
  agentId,
  provider: text.describe("`none`: text only"),
  searchMode: z.enum(["hybrid", "vector", "fts-only"]),
  results: z.array(hit).describe("best first"),
  partial: z.boolean().exactOptional(),
  unavailable: z.boolean().exactOptional(),
  error: text.exactOptional(),
  warning: text.exactOptional(),
  action: text.exactOptional().describe("what to do about `error`"),
});

const passage = z.object({
  path: text,
  text: text,
  from: count.describe("first line, from 1"),
  totalLines: count,
  truncated: z.boolean().exactOptional(),
  disabled: z.boolean().exactOptional(),
  error: text.exactOptional(),
});

const status = z.object({
  agentId,
  backend: text,
  workspace: text,
  files: count,
  chunks: count,
  dirty: z.boolean(),
  syncing: z.boolean(),
  dbPath: text,
  provider: text,
  model: text,
  requestedProvider: text,
  sources: z.array(text),
  sourceCounts: z.array(z.object({ source: text, files: count, chunks: count })),
  fts: z.object({ enabled: z.boolean(), available: z.boolean(), error: text.exactOptional() }),
  custom: z.object({ searchMode: text }),
  lastSyncAt: epochMs.exactOptional(),
  lastError: text.exactOptional(),
  fileList: z
    .array(z.object({ path: text, source: text, chunks: count, mtime: z.number() }))
    .max(1_000)
    .exactOptional(),
  truncated: z.boolean().exactOptional(),
});

const sync = { agentId, started: z.boolean(), joined: z.boolean() };

/** Answers about memory. */
export const memoryResults = {
  "memory.search": search,
  "memory.get": passage,
  "memory.status": status,
  "memory.index": z.union([
    z.object({ ...sync, status: z.literal("accepted") }).describe("first answer; the final one follows under the same id"),
    z.object(sync),
  ]),
  "memory.reset": z.object({ agentId, removed: z.boolean() }),
};
