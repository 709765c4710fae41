import { afterEach, beforeEach, expect, test } from "vitest";
import type { IndexSettings, ProviderFacts } from "../index-settings.ts";
import { createTestEngine, type TestEngine } from "../test-engine.ts";
import { createTestHost, TEST_DIMS, type TestHost, testFacts } from "../test-host.ts";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";

let ws: TestWorkspace;
let host: TestHost;
let index: TestEngine;
let rebuilds: number;
beforeEach(() => {
  ws = createTestWorkspace({ "memory/car.md": "My car is fast." });
  host = createTestHost();
  index = createTestEngine(ws.settings, host);
  rebuilds = 0;
  index.step = (step) => void (step === "moved-in" && rebuilds++);
});
afterEach(async () => {
  await index.close();
  ws.remove();
});

interface Change {
  settings?: Partial<IndexSettings>;
  provider?: Partial<ProviderFacts> | null;
}

async function rebuildsAfter({ settings = {}, provider = {} }: Change): Promise<number> {
  await index.provide(testFacts());
  await index.sync();
  rebuilds = 0;
  host.dims = provider?.dims ?? TEST_DIMS;
  await index.reopen(provider === null ? null : testFacts(provider), settings);
  await index.sync();
  const first = rebuilds;
  await index.sync();
  expect(rebuilds).toBe(first);
  return first;
}

const media = (modalities: IndexSettings["multimodal"]["modalities"], maxFileBytes = 10_000_000) => ({
  multimodal: { modalities, maxFileBytes },
});

test.each<[string, Change]>([
  ["provider", { provider: { id: "other" } }],
  ["provider: none", { provider: null }],
  ["model", { provider: { model: "other" } }],
  ["outputDimensionality", { provider: { dims: 32, providerKey: "with other dimensions" } }],
  ["the length of vectors alone", { provider: { dims: 32 } }],
  ["remote.baseUrl, remote.headers, input types: whatever is in the identity of the adapter", { provider: { providerKey: "other" } }],
  ["fallback in use", { provider: { id: "second", fallbackFor: "test" } }],
  ["sources", { settings: { sources: ["memory", "sessions"] } }],
  ["extraPaths", { settings: { extraPaths: ["/nowhere"] } }],
  ["chunking.tokens", { settings: { chunking: { tokens: 100, overlap: 80 } } }],
  ["chunking.overlap", { settings: { chunking: { tokens: 400, overlap: 10 } } }],
  ["store.fts.tokenizer", { settings: { tokenizer: "trigram" } }],
  ["multimodal.enabled", { settings: media(["image"]) }],
])("a change of %s makes the index anew, once", async (_, change) => {
  expect(await rebuildsAfter(change)).toBe(1);
});

test.each<[string, Change]>([
  ["nothing", {}],
  ["remote.apiKey", { provider: {} }],
  ["limits of the provider", { provider: { maxInputTokens: 500, maxItemsPerRequest: 3, maxTokensPerRequest: 9 } }],
  ["cache.enabled, cache.maxEntries", { settings: { cache: { enabled: true, maxEntries: 7 } } }],
  [
    "remote.batch.*",
    { settings: { batch: { enabled: true, wait: false, concurrency: 9, pollIntervalMs: 1, timeoutMs: 1 } }, provider: { batch: true } },
  ],
  ["sync.sessions.*", { settings: { sessions: { deltaBytes: 1, deltaMessages: 1 } } }],
  ["sync.watchDebounceMs", { settings: { watchDebounceMs: 1 } }],
  ["store.vector.enabled", { settings: { vector: { enabled: false, extensionPath: undefined } } }],
  ["store.vector.extensionPath", { settings: { vector: { enabled: true, extensionPath: "/nowhere/vec0.so" } } }],
  ["multimodal.maxFileBytes while multimodal is off", { settings: media([], 5) }],
])("a change of %s keeps the index", async (_, change) => {
  expect(await rebuildsAfter(change)).toBe(0);
});

test("the order of extraPaths, sources and modalities does not matter", async () => {
  const some: Partial<IndexSettings> = { extraPaths: ["/a", "/b"], sources: ["memory", "sessions"], ...media(["image", "audio"]) };
  const same: Partial<IndexSettings> = { extraPaths: ["/b", "/a"], sources: ["sessions", "memory"], ...media(["audio", "image"]) };
  await index.reopen(testFacts(), some);
  await index.sync();
  rebuilds = 0;
  await index.reopen(testFacts(), same);
  await index.sync();
  expect(rebuilds).toBe(0);
  await index.reopen(testFacts(), { ...same, ...media(["audio", "image"], 9) });
  await index.sync();
  expect(rebuilds).toBe(1);
});

test("without a provider the index is made once, with the vector extension at hand", async () => {
  await index.provide(null);
  for (let i = 0; i < 3; i++) await index.sync();
  await index.reopen(null);
  await index.sync();
  expect(rebuilds).toBe(1);
  expect(await index.status()).toMatchObject({ vector: { available: true, backend: "sqlite-vec" } });
});

test("a provider that is away for the moment leaves index and vectors as they are", async () => {
  await index.provide(testFacts());
  await index.sync();
  rebuilds = 0;
  await index.reopen();
  await index.provide(null, true);
  await index.sync();
  expect(rebuilds).toBe(0);
  expect(await index.search("car")).toMatchObject({ mode: "fts-only", degraded: expect.any(String), hits: [{ path: "memory/car.md" }] });
  await index.provide(testFacts());
  await index.sync();
  expect(rebuilds).toBe(0);
  expect(await index.search("car")).toMatchObject({ mode: "hybrid" });
});

test("before anybody has said who embeds, an index with vectors is not rebuilt", async () => {
  await index.provide(testFacts());
  await index.sync();
  rebuilds = 0;
  await index.reopen();
  await index.sync();
  expect(rebuilds).toBe(0);
  expect((await index.status()).vectors).toMatchObject({ provider: "test" });
});
