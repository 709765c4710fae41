import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MemoryStatus } from "svc/sdk";
import { expect, test } from "vitest";
import { memoryFindings, withoutProvider } from "./doctor.ts";
import { leftoversOf } from "./index-leftovers.ts";

const status: MemoryStatus = {
  agentId: "main",
  backend: "builtin",
  workspace: "/w",
  files: 1,
  chunks: 1,
  dirty: false,
  syncing: false,
  dbPath: "/state/memory/main.sqlite",
  provider: "openai",
  model: "text-embedding-3-small",
  requestedProvider: "auto",
  sources: ["memory"],
  sourceCounts: [],
  fts: { enabled: true, available: true },
  vector: { enabled: true, available: true, backend: "sqlite-vec" },
  cache: { enabled: false, entries: 0, maxEntries: 50_000 },
  batch: { enabled: false, failures: 0, limit: 2 },
  custom: { searchMode: "hybrid" },
};
const own = { provider: status.provider, model: status.model };

function findings(over: Partial<MemoryStatus>, vectors: { provider: string; model: string } | undefined = own) {
  return memoryFindings({ backend: "builtin", status: { ...status, ...over }, vectors, lockedBy: undefined, orphans: [] });
}

test("an extension that does not load is a finding, one that is switched off is not", () => {
  const loadError = "sqlite-vec could not be loaded from /x/vec0.so: no such file";
  const vector = { enabled: true, available: false, backend: "in-process" as const, loadError };

  expect(findings({ vector })).toMatchObject([
    {
      id: "memory/sqlite-vec",
      severity: "warning",
      message: `agent "main": ${loadError}; vectors are compared in the process instead`,
    },
  ]);
  expect(findings({ vector: { ...vector, enabled: false } })).toEqual([]);
});

test("a memory in order has no findings, one without a single vector neither", () => {
  expect(findings({})).toEqual([]);
  expect(memoryFindings({ backend: "builtin", status, vectors: undefined, lockedBy: undefined, orphans: [] })).toEqual([]);
});

test("an index of another model is found, unless it is being rebuilt or nobody embeds", () => {
  const other = { provider: "local", model: "tiny.gguf" };
  expect(findings({}, other)).toEqual([
    {
      id: "memory/index-identity",
      severity: "warning",
      path: "agents.list[id=main].memorySearch",
      message:
        'agent "main": the index holds vectors of local tiny.gguf, and the provider is openai text-embedding-3-small; only words are searched',
      fix: "svc doctor --fix rebuilds it, and so does: svc memory index --force --agent main",
      fixable: true,
    },
  ]);
  expect(findings({ model: "text-embedding-3-large" })).toMatchObject([{ id: "memory/index-identity" }]);
  expect(findings({ syncing: true }, other)).toEqual([]);
  expect(findings({ provider: "none", model: "fts-only" }, other)).toEqual([]);
});

test("notes that are not in the index are one finding with the first name and its reason", () => {
  const leftOut = { documents: [{ path: "memory/a.md", reason: "it stopped the index" }], total: 3 };
  expect(findings({ leftOut })).toEqual([
    {
      id: "memory/left-out",
      severity: "warning",
      path: "agents.list[id=main].memorySearch",
      message: 'agent "main": memory/a.md and 2 more are not in the index: it stopped the index',
      fix: "svc memory status --agent main lists everything that is left out",
    },
  ]);
});

test.each([
  [{ provider: "none", requestedProvider: "openai", providerError: "openai: no key" }, "warning", "openai: no key"],
  [{ providerError: "openai: the key was rejected" }, "warning", "the key was rejected"],
  [{ fallback: { from: "local", reason: "the model is broken" } }, "warning", "openai is used instead of local: the model is broken"],
  [{ probe: { ok: false, ms: 3, error: "quota" }, providerError: "quota" }, "warning", "openai gave no vector: quota"],
] as const)("embeddings: %j is a finding of severity %s", (over, severity, message) => {
  expect(findings(over)).toMatchObject([{ id: "memory/embeddings", severity, message: expect.stringContaining(message) }]);
});

test("that nobody embeds is one short finding for all agents, with the details in one place", () => {
  const none = { ...status, provider: "none", providerError: "no embedding provider is set up", probe: { ok: false, ms: 0 } };
  const skipped = [{ provider: "openai", reason: "no API key; set OPENAI_API_KEY" }];

  expect(findings({ ...none, skipped })).toEqual([]);
  expect(withoutProvider([{ ...none, skipped }, { ...none, agentId: "work", skipped }, status])).toEqual([
    {
      id: "memory/embeddings",
      severity: "info",
      path: "agents.defaults.memorySearch.provider",
      message: "no embedding provider is set up (agents main, work), so only words are searched",
      fix: "set the key of a vendor, or memorySearch.provider; svc memory status --deep says what each one lacks",
    },
  ]);
  expect(withoutProvider([status, { ...none, requestedProvider: "openai" }])).toEqual([]);
});

test("a probe that worked is no finding", () => {
  expect(findings({ probe: { ok: true, ms: 3, dims: 8 } })).toEqual([]);
});

test("leftovers: unfinished databases of an hour and more are orphans, a rebuild of another process is told by its pid instead", async () => {
  const dir = await mkdtemp(join(tmpdir(), "svc-leftovers-"));
  const dbPath = join(dir, "main.sqlite");
  const [old, wal, young, backup] = ["tmp-1", "tmp-1-wal", "tmp-2", "backup-1"].map((name) => `${dbPath}.${name}`) as [
    string,
    string,
    string,
    string,
  ];
  for (const path of [dbPath, old, wal, young, backup]) await writeFile(path, "");
  const hourAgo = new Date(Date.now() - 3_700_000);
  for (const path of [old, wal, backup]) await utimes(path, hourAgo, hourAgo);
  const found = await leftoversOf(dbPath);
  expect({ ...found, orphans: found.orphans.sort() }).toEqual({ lockedBy: undefined, orphans: [old, wal] });
  const orphans = memoryFindings({ backend: "builtin", status, vectors: own, ...found });
  expect(orphans).toMatchObject([
    { id: "memory/orphan-temp", path: old, fixable: true },
    { id: "memory/orphan-temp", path: wal },
  ]);

  await writeFile(`${dbPath}.reindex-lock`, JSON.stringify({ pid: process.ppid, startTime: null }));
  const locked = await leftoversOf(dbPath);
  expect(locked).toEqual({ lockedBy: process.ppid, orphans: [] });
  expect(memoryFindings({ backend: "builtin", status, vectors: own, ...locked })).toMatchObject([
    { id: "memory/locked", path: status.dbPath, message: expect.stringContaining(`process ${process.ppid}`) },
  ]);
  expect(await leftoversOf(join(dir, "nowhere/main.sqlite"))).toEqual({ lockedBy: undefined, orphans: [] });
  await rm(dir, { recursive: true });
});
