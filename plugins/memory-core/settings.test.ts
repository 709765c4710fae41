import { homedir } from "node:os";
import { join } from "node:path";
import type { SvcConfigInput } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { resolveMemorySettings, sharedStoreIssues } from "./settings.ts";
import { parseTestConfig } from "./test-config.ts";

const resolve = (config: SvcConfigInput = {}) => resolveMemorySettings(parseTestConfig(config), "/state");
type MemorySearch = NonNullable<NonNullable<SvcConfigInput["agents"]>["defaults"]>["memorySearch"];
const one = (memorySearch: MemorySearch) => resolve({ agents: { defaults: { memorySearch } } })[0];

test("without any config there is one agent with the documented defaults", () => {
  expect(resolve()).toEqual([
    {
      agentId: "main",
      isDefault: true,
      enabled: true,
      provider: {
        requested: "auto",
        model: undefined,
        outputDimensionality: undefined,
        inputTypes: undefined,
        fallback: undefined,
        remote: { baseUrl: undefined, apiKeyPaths: ["agents.defaults.memorySearch.remote.apiKey"], headerPaths: {} },
        local: { modelPath: undefined, modelCacheDir: undefined, sha256: undefined },
        multimodal: false,
      },
      index: {
        agentId: "main",
        workspace: "/state/workspace",
        dbPath: "/state/memory/main.sqlite",
        extraPaths: [],
        sources: ["memory"],
        chunking: { tokens: 400, overlap: 80 },
        tokenizer: "unicode61",
        vector: { enabled: true, extensionPath: undefined },
        multimodal: { modalities: [], maxFileBytes: 10_000_000 },
        cache: { enabled: false, maxEntries: 50_000 },
        batch: { enabled: false, wait: true, concurrency: 2, pollIntervalMs: 2_000, timeoutMs: 3_600_000 },
        sessions: { deltaBytes: 100_000, deltaMessages: 50 },
        watchDebounceMs: 1500,
      },
      query: {
        maxResults: 6,
        minScore: 0.35,
        candidateMultiplier: 4,
        hybrid: { enabled: true, vectorWeight: 0.7, textWeight: 0.3 },
        mmr: { enabled: false, lambda: 0.7 },
        temporalDecay: { enabled: false, halfLifeDays: 30 },
      },
      limits: { maxSnippetChars: 700, maxInjectedChars: undefined, timeoutMs: 4000 },
      sync: { watch: true, onSessionStart: true, onSearch: true, intervalMinutes: 0 },
      backend: "builtin",
      citations: "auto",
      sharedWith: [],
    },
  ]);
});

test("an agent's value wins field by field, extra paths are those of both without repeats", () => {
  const [, work] = resolve({
    agents: {
      defaults: { memorySearch: { query: { minScore: 0.5 }, sync: { watch: false, onSearch: false }, extraPaths: ["docs", " /team "] } },
      list: [
        { id: "main", default: true },
        { id: "work", memorySearch: { query: { maxResults: 9 }, sync: { onSearch: true }, extraPaths: ["/team/", "~/more", "docs"] } },
      ],
    },
  });
  expect(work?.query).toMatchObject({ maxResults: 9, minScore: 0.5, candidateMultiplier: 4 });
  expect(work?.sync).toMatchObject({ watch: false, onSearch: true });
  expect(work?.index.extraPaths).toEqual(["/state/workspace-work/docs", "/team", join(homedir(), "more")]);
});

test("the specified name of a limit wins over its alias", () => {
  expect(one({ query: { maxResults: 3 } })?.query.maxResults).toBe(3);
  expect(one({ query: { maxResults: 3 }, limits: { maxResults: 8 } })?.query.maxResults).toBe(8);
});

test("a type of its own for questions or documents wins over the common one, an agent's over that of all", () => {
  const all = { inputType: "text", documentInputType: "passage" };
  expect(one(all)?.provider.inputTypes).toEqual({ query: "text", document: "passage" });
  const [own] = resolve({ agents: { defaults: { memorySearch: all }, list: [{ id: "a", memorySearch: { queryInputType: "question" } }] } });
  expect(own?.provider.inputTypes).toEqual({ query: "question", document: "passage" });
});

test("the overlap stays below the chunk size", () => {
  expect(one({ chunking: { tokens: 10, overlap: 50 } })?.index.chunking).toEqual({ tokens: 10, overlap: 9 });
});

describe("store.path", () => {
  const list = [{ id: "main" }, { id: "work" }];
  const paths = (path: string) => resolve({ agents: { defaults: { memorySearch: { store: { path } } }, list } }).map((s) => s.index.dbPath);

  test.each([
    ["/x/{agentId}/{agentId}.db", ["/x/main/main.db", "/x/work/work.db"]],
    ["~/m/{agentId}.db", [join(homedir(), "m/main.db"), join(homedir(), "m/work.db")]],
    ["m/{agentId}.db", ["/state/m/main.db", "/state/m/work.db"]],
  ])("%s", (path, wanted) => expect(paths(path)).toEqual(wanted));

  test("shared by two agents is one issue that names both and the way out", () => {
    const shared = resolve({ agents: { defaults: { memorySearch: { store: { path: "/x/all.db" } } }, list } });
    expect(shared.map((s) => s.sharedWith)).toEqual([["work"], ["main"]]);
    expect(sharedStoreIssues(shared)).toEqual([
      { path: "agents.defaults.memorySearch.store.path", message: expect.stringMatching(/main, work share .*\/x\/all\.db.*\{agentId\}/) },
    ]);
  });

  test("may be shared when one of them has memory off", () => {
    const settings = resolve({
      agents: {
        defaults: { memorySearch: { store: { path: "/x/all.db" } } },
        list: [{ id: "main" }, { id: "work", memorySearch: { enabled: false } }],
      },
    });
    expect(sharedStoreIssues(settings)).toEqual([]);
  });
});

/** Every key of the memory tables: a value that is not its default, and where it shows. */
const keys: Array<[key: string, value: unknown, at: string, shown: unknown]> = [
  ["enabled", false, "enabled", false],
  ["provider", "openai", "provider.requested", "openai"],
  ["provider", "none", "provider.requested", "none"],
  ["model", "text-embedding-3-large", "provider.model", "text-embedding-3-large"],
  ["fallback", "voyage", "provider.fallback", "voyage"],
  ["fallback", "none", "provider.fallback", undefined],
  ["outputDimensionality", 256, "provider.outputDimensionality", 256],
  ["inputType", "x", "provider.inputTypes", { query: "x", document: "x" }],
  ["queryInputType", "q", "provider.inputTypes", { query: "q" }],
  ["documentInputType", "d", "provider.inputTypes", { document: "d" }],
  ["remote.baseUrl", "https://e.example/v1", "provider.remote.baseUrl", "https://e.example/v1"],
  ["remote.headers", { "X-A": "1" }, "provider.remote.headerPaths", { "X-A": 'agents.defaults.memorySearch.remote.headers["X-A"]' }],
  ["remote.batch.enabled", true, "index.batch.enabled", true],
  ["remote.batch.wait", false, "index.batch.wait", false],
  ["remote.batch.concurrency", 5, "index.batch.concurrency", 5],
  ["remote.batch.pollIntervalMs", 500, "index.batch.pollIntervalMs", 500],
  ["remote.batch.timeoutMinutes", 90, "index.batch.timeoutMs", 5_400_000],
  ["local.modelPath", "~/m.gguf", "provider.local.modelPath", "~/m.gguf"],
  ["local.modelCacheDir", "/cache", "provider.local.modelCacheDir", "/cache"],
  ["local.sha256", "ab".repeat(32), "provider.local.sha256", "ab".repeat(32)],
  ["extraPaths", ["/team"], "index.extraPaths", ["/team"]],
  ["chunking.tokens", 200, "index.chunking.tokens", 200],
  ["chunking.overlap", 10, "index.chunking.overlap", 10],
  ["store.path", "/x/{agentId}.db", "index.dbPath", "/x/main.db"],
  ["store.vector.enabled", false, "index.vector.enabled", false],
  ["store.vector.extensionPath", "/lib/vec0.so", "index.vector.extensionPath", "/lib/vec0.so"],
  ["store.vector.extensionPath", "lib/vec0", "index.vector.extensionPath", "/state/lib/vec0"],
  ["store.fts.tokenizer", "trigram", "index.tokenizer", "trigram"],
  ["cache.enabled", true, "index.cache.enabled", true],
  ["cache.maxEntries", 7, "index.cache.maxEntries", 7],
  ["query.maxResults", 3, "query.maxResults", 3],
  ["query.minScore", 0.5, "query.minScore", 0.5],
  ["query.hybrid.enabled", false, "query.hybrid.enabled", false],
  ["query.hybrid.vectorWeight", 0.3, "query.hybrid.vectorWeight", 0.5],
  ["query.hybrid.textWeight", 0, "query.hybrid.textWeight", 0],
  ["query.hybrid.candidateMultiplier", 20, "query.candidateMultiplier", 20],
  ["query.hybrid.mmr.enabled", true, "query.mmr.enabled", true],
  ["query.hybrid.mmr.lambda", 0.2, "query.mmr.lambda", 0.2],
  ["query.hybrid.temporalDecay.enabled", true, "query.temporalDecay.enabled", true],
  ["query.hybrid.temporalDecay.halfLifeDays", 7, "query.temporalDecay.halfLifeDays", 7],
  ["limits.maxResults", 9, "query.maxResults", 9],
  ["limits.maxSnippetChars", 50, "limits.maxSnippetChars", 50],
  ["limits.maxInjectedChars", 900, "limits.maxInjectedChars", 900],
  ["limits.timeoutMs", 100, "limits.timeoutMs", 100],
  ["sync.watch", false, "sync.watch", false],
  ["sync.watchDebounceMs", 10, "index.watchDebounceMs", 10],
  ["sync.onSessionStart", false, "sync.onSessionStart", false],
  ["sync.onSearch", false, "sync.onSearch", false],
  ["sync.intervalMinutes", 15, "sync.intervalMinutes", 15],
  ["sync.sessions.deltaBytes", 0, "index.sessions.deltaBytes", 0],
  ["sync.sessions.deltaMessages", 3, "index.sessions.deltaMessages", 3],
  ["multimodal.maxFileBytes", 500, "index.multimodal.maxFileBytes", 500],
];

const nested = (path: string, value: unknown): unknown => path.split(".").reduceRight<unknown>((inner, step) => ({ [step]: inner }), value);
const valueAt = (tree: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], tree);

describe("every key shows where it is used, from the defaults and from an agent", () => {
  test.each(keys)("%s = %j", (key, value, at, shown) => {
    const memorySearch = nested(key, value) as MemorySearch;
    expect(valueAt(one(memorySearch), at)).toEqual(shown);
    const [own] = resolve({ agents: { list: [{ id: "main", memorySearch }] } });
    const expected = typeof shown === "object" || String(shown).startsWith("agents.") ? JSON.stringify(shown) : undefined;
    const mine = valueAt(own, at);
    if (expected === undefined) expect(mine).toEqual(shown);
    else expect(JSON.stringify(mine)).toBe(expected.replaceAll("agents.defaults", "agents.list.0"));
  });
});

describe("defaults and clamps", () => {
  test("a fallback that is the primary is none", () => {
    expect(one({ provider: "openai", fallback: "openai" })?.provider.fallback).toBeUndefined();
  });

  test.each<[string, MemorySearch, string[]]>([
    ["sessions need the experiment", { sources: ["memory", "sessions"] }, ["memory"]],
    ["both, sorted", { sources: ["sessions", "memory", "sessions"], experimental: { sessionMemory: true } }, ["memory", "sessions"]],
    ["sessions alone", { sources: ["sessions"], experimental: { sessionMemory: true } }, ["sessions"]],
    ["sessions alone without the experiment", { sources: ["sessions"] }, ["memory"]],
    ["an empty list", { sources: [] }, ["memory"]],
    ["the experiment alone", { experimental: { sessionMemory: true } }, ["memory"]],
  ])("sources: %s", (_, memorySearch, wanted) => expect(one(memorySearch)?.index.sources).toEqual(wanted));

  test.each<[string, NonNullable<MemorySearch>["multimodal"], string[]]>([
    ["off", { enabled: false, modalities: ["image"] }, []],
    ["on without a list", { enabled: true }, ["audio", "image"]],
    ["all", { enabled: true, modalities: ["all"] }, ["audio", "image"]],
    ["one", { enabled: true, modalities: ["image"] }, ["image"]],
    ["both", { enabled: true, modalities: ["image", "audio"] }, ["audio", "image"]],
    ["an empty list is off", { enabled: true, modalities: [] }, []],
  ])("modalities: %s", (_, multimodal, wanted) => {
    const vision = { provider: "gemini", model: "gemini-embedding-2-preview", multimodal };
    expect(one(vision)?.index.multimodal.modalities).toEqual(wanted);
    expect(one(vision)?.provider.multimodal).toBe(wanted.length > 0);
  });

  test.each([
    [1, 1, 0.5, 0.5],
    [1, 0, 1, 0],
    [0.2, 0.6, 0.25, 0.75],
    [0, 0, 0.7, 0.3],
    [5, 1, 0.5, 0.5],
    [0.5, -2, 1, 0],
    [-1, -2, 0.7, 0.3],
  ])("weights %d and %d become %d and %d", (vectorWeight, textWeight, v, t) => {
    const { hybrid } = one({ query: { hybrid: { vectorWeight, textWeight } } })?.query ?? {};
    expect([hybrid?.vectorWeight, hybrid?.textWeight].map((weight) => weight?.toFixed(6))).toEqual([v.toFixed(6), t.toFixed(6)]);
  });
});

describe("an address and a key belong to the vendor they were written for", () => {
  const shared = { baseUrl: "https://e.example", apiKey: "k", headers: { "X-A": "1" } };
  const remoteOf = (defaults: MemorySearch, own: MemorySearch) =>
    resolve({ agents: { defaults: { memorySearch: defaults }, list: [{ id: "main", memorySearch: own }] } })[0]?.provider.remote;
  const keyAt = "agents.defaults.memorySearch.remote.apiKey";
  const ownAt = "agents.list.0.memorySearch.remote.apiKey";
  const none = { baseUrl: undefined, apiKeyPaths: [ownAt], headerPaths: {} };

  test("an agent with the same vendor has them, with its own headers joined", () => {
    expect(remoteOf({ provider: "openai", remote: shared }, { provider: "openai", remote: { headers: { "X-B": "2" } } })).toEqual({
      baseUrl: "https://e.example",
      apiKeyPaths: [ownAt, keyAt],
      headerPaths: {
        "X-A": 'agents.defaults.memorySearch.remote.headers["X-A"]',
        "X-B": 'agents.list.0.memorySearch.remote.headers["X-B"]',
      },
    });
  });

  test("an agent with another vendor has none of them", () => {
    expect(remoteOf({ provider: "openai", remote: shared }, { provider: "voyage" })).toEqual(none);
    expect(remoteOf({ remote: shared }, { provider: "voyage" })).toEqual(none);
  });

  test("an agent with another address has neither key nor headers of the first", () => {
    expect(remoteOf({ provider: "openai", remote: shared }, { remote: { baseUrl: "https://other.example" } })).toEqual({
      ...none,
      baseUrl: "https://other.example",
    });
  });
});
