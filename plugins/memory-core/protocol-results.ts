import { z } from "svc/sdk";

const count = z.number().int().min(0);
const epochMs = count;
const agentId = z.string().min(1);

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
  degraded: z.boolean().exactOptional().describe("found with less than is configured; `warning` says why"),
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

const note = z.object({
  path: text,
  missing: z.boolean(),
  size: count.exactOptional().describe("bytes"),
  updatedAtMs: epochMs.exactOptional(),
  hash: text.exactOptional().describe("SHA-256 of the bytes, hex; absent for a missing file"),
  content: text.exactOptional(),
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
  vector: z.object({
    enabled: z.boolean(),
    available: z.boolean(),
    backend: z.enum(["sqlite-vec", "in-process"]),
    loadError: text.exactOptional(),
    dims: count.exactOptional(),
  }),
  cache: z.object({ enabled: z.boolean(), entries: count, maxEntries: count }),
  batch: z.object({ enabled: z.boolean(), failures: count, limit: count, lastError: text.exactOptional() }),
  fallback: z.object({ from: text, reason: text }).exactOptional().describe("adapter that failed and is replaced by another one"),
  providerError: text.exactOptional().describe("why there is no provider, or what its last call failed with"),
  skipped: z
    .array(z.object({ provider: text, reason: text }))
    .exactOptional()
    .describe("where detection found no provider: the ones it checked, and what each lacks"),
  probe: z
    .object({ ok: z.boolean(), ms: z.number(), dims: count.exactOptional(), error: text.exactOptional() })
    .exactOptional()
    .describe("`deep` only"),
  custom: z.object({ searchMode: text }),
  lastSyncAt: epochMs.exactOptional(),
  lastError: text.exactOptional(),
  leftOut: z
    .object({ documents: z.array(z.object({ path: text, reason: text })).max(100), total: count })
    .exactOptional()
    .describe("notes and transcripts that are not in the index, and why"),
  fileList: z
    .array(z.object({ path: text, source: text, chunks: count, mtime: z.number() }))
    .max(1_000)
    .exactOptional(),
  truncated: z.boolean().exactOptional(),
});

const doctor = z.object({
  agentId,
  provider: text.exactOptional().describe("absent: text only"),
  embedding: z.object({
    ok: z.boolean(),
    checked: z.boolean().exactOptional().describe("false: nobody was asked"),
    error: text.exactOptional(),
  }),
});

const sync = { agentId, started: z.boolean(), joined: z.boolean() };

/** Payloads of the answers of these methods; for documents, types and tests: the running plugin never loads them. */
export const memoryResults = {
  "memory.search": search,
  "memory.get": passage,
  "memory.files.get": z.object({ agentId, file: note }),
  "memory.files.set": z.object({
    ok: z.literal(true),
    agentId,
    file: note.describe("without its text"),
    indexed: z.boolean().describe("false: the search finds it a little later"),
  }),
  "memory.status": status,
  "memory.index": z.union([
    z.object({ ...sync, status: z.literal("accepted") }).describe("first answer; the final one follows under the same id"),
    z.object(sync),
  ]),
  "doctor.memory.status": doctor,
  "memory.prepare": z.union([
    z.object({ agentId, provider: text, status: z.literal("accepted") }).describe("first answer; the final one follows under the same id"),
    z.object({ agentId, provider: text }),
  ]),
  "memory.reset": z.object({ agentId, removed: z.boolean() }),
};
