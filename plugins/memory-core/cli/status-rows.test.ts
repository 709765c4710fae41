import type { MemoryStatus } from "svc/sdk";
import { expect, test } from "vitest";
import { skippedRows, statusRows } from "./status-rows.ts";

const keywords: MemoryStatus = {
  agentId: "main",
  backend: "builtin",
  workspace: "/w",
  files: 1,
  chunks: 2,
  dirty: false,
  syncing: false,
  dbPath: "/db",
  provider: "none",
  model: "fts-only",
  requestedProvider: "auto",
  sources: ["memory"],
  sourceCounts: [{ source: "memory", files: 1, chunks: 2 }],
  fts: { enabled: true, available: true },
  vector: { enabled: true, available: false, backend: "in-process" },
  cache: { enabled: false, entries: 0, maxEntries: 50_000 },
  batch: { enabled: false, failures: 0, limit: 2 },
  custom: { searchMode: "fts-only" },
  lastSyncAt: 0,
};
const hybrid: MemoryStatus = {
  ...keywords,
  provider: "openai",
  model: "text-embedding-3-small",
  vector: { enabled: true, available: true, backend: "sqlite-vec", dims: 1_536 },
  custom: { searchMode: "hybrid" },
};
const rows = (status: MemoryStatus) => Object.fromEntries(statusRows(status));

test("what says nothing has no row", () => {
  expect(Object.keys(rows(keywords))).toEqual(["Search", "Index", "Workspace", "Database", "Last sync"]);
  expect(rows(keywords)).toMatchObject({
    Search: "keywords only (no embedding provider is set up; see svc memory status --deep)",
    Index: "1 file, 2 chunks; up to date",
  });
  expect(rows({ ...keywords, requestedProvider: "none" }).Search).toBe("keywords only");
});

test("provider, model and vectors are told, and where they come from", () => {
  expect(rows(hybrid)).toMatchObject({
    Search: "words and vectors",
    Provider: "openai (auto-detected), text-embedding-3-small",
    Vectors: "1536 dimensions, sqlite-vec",
  });
  expect(rows({ ...hybrid, requestedProvider: "openai" }).Provider).toBe("openai, text-embedding-3-small");
  expect(rows({ ...hybrid, custom: { searchMode: "vector" } }).Search).toBe("vectors only");
});

test.each([
  [{ requestedProvider: "openai", providerError: "no key" }, "Provider", "none: no key"],
  [{ provider: "openai", model: "m", providerError: "429" }, "Provider", "openai (auto-detected), m; last answer: 429"],
  [{ provider: "openai", model: "m", providerError: "429" }, "Search", "keywords only for now"],
  [{ fallback: { from: "local", reason: "broken" } }, "Fallback", "is used instead of local: broken"],
  [{ probe: { ok: true, ms: 12, dims: 64 } }, "Probe", "answered in 12 ms with 64 dimensions"],
  [{ probe: { ok: false, ms: 12, error: "refused" } }, "Probe", "failed after 12 ms: refused"],
  [{ fts: { enabled: true, available: false, error: "no FTS5" } }, "Words", "not searched: no FTS5"],
  [{ cache: { enabled: true, entries: 3, maxEntries: 9 } }, "Cache", "on, 3 of 9 embeddings"],
  [{ cache: { enabled: false, entries: 3, maxEntries: 9 } }, "Cache", "off, 3 of 9 embeddings"],
  [{ batch: { enabled: true, failures: 1, limit: 2, lastError: "slow" } }, "Batch", "on, 1 of 2 failures; last: slow"],
  [{ batch: { enabled: true, failures: 2, limit: 2 } }, "Batch", "off after failures, 2 of 2 failures"],
  [{ sources: ["memory", "sessions"] }, "Sources", "memory 1 file, 2 chunks; sessions 0 files, 0 chunks"],
  [{ leftOut: { documents: [{ path: "a.md", reason: "EACCES" }], total: 1 } }, "Left out", "a.md: EACCES"],
  [{ leftOut: { documents: [{ path: "a.md", reason: "EACCES" }], total: 3 } }, "Left out", "2 more files"],
  [{ syncing: true }, "Index", "1 file, 2 chunks; a sync is running"],
  [{ dirty: true }, "Index", "1 file, 2 chunks; notes have changed since the last sync"],
] as const)("%j is shown as %s", (over, name, value) => {
  expect(rows({ ...keywords, ...(over as Partial<MemoryStatus>) })[name]).toBe(value);
});

test("how vectors are compared without the extension, and why", () => {
  const vector = { ...hybrid.vector, available: false, backend: "in-process" as const, loadError: "no such file" };
  expect(rows({ ...hybrid, vector }).Vectors).toBe("1536 dimensions, compared in the process: no such file");
  expect(rows({ ...hybrid, vector: { ...vector, enabled: false } }).Vectors).toBe(
    "1536 dimensions, compared in the process (store.vector.enabled is false)",
  );
});

test("what each embedding provider lacks is listed once for all agents that lack the same", () => {
  const skipped = [
    { provider: "openai", reason: 'embedding adapter "openai": no API key; set OPENAI_API_KEY' },
    { provider: "bedrock", reason: "no credentials" },
  ];
  const none = { ...keywords, providerError: "no embedding provider is set up", skipped };
  expect(Object.keys(rows(none))).not.toContain("Provider");
  expect(skippedRows([none, { ...none, agentId: "work" }, hybrid])).toEqual([
    ["openai", "no API key; set OPENAI_API_KEY"],
    ["bedrock", "no credentials"],
  ]);
  expect(skippedRows([hybrid])).toEqual([]);
});
