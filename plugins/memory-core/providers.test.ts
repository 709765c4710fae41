import { EmbeddingError, type MemorySearchResult, type MemoryStatus, type SvcConfigInput } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway, type TestGatewayOptions } from "svc/sdk/testing";
import { afterEach, describe, expect, test } from "vitest";
import { createTestAdapter, failing, hang, type TestAdapter } from "./test-adapter.ts";

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

const notes = {
  "MEMORY.md": "# Garage\n\nmy car is fast\n",
  "memory/2026-10-02.md": "# Day\n\nThe boiler was serviced by Ana.\n",
};

type Search = NonNullable<NonNullable<NonNullable<SvcConfigInput["agents"]>["defaults"]>["memorySearch"]>;

async function boot(adapters: readonly TestAdapter[], memorySearch: Search, options: TestGatewayOptions = {}): Promise<TestGateway> {
  gateway = await createTestGateway({
    plugins: ["memory-core", ...adapters.map((one) => one.plugin)],
    workspace: notes,
    config: { agents: { defaults: { memorySearch: { ...memorySearch, query: { minScore: 0.1, ...memorySearch.query } } } } },
    ...options,
  });
  return gateway;
}

const status = (g: TestGateway, params = {}) => g.rpc<MemoryStatus & Record<string, unknown>>("memory.status", params);
const search = (g: TestGateway, query: string) => g.service("memory@1").search("main", query);
/** The index holds vectors of this model and nothing is left to do. */
const indexed = (g: TestGateway, provider: string) =>
  eventually(async () => {
    const now = await status(g);
    return !now.dirty && !now.syncing && now.provider === provider && now.custom.searchMode !== "fts-only";
  });

// The first boot of a run compiles the plugin and its thread.
test("a question without a shared word finds the passage by its vector, and says how", async () => {
  const g = await boot([createTestAdapter("acme")], { provider: "acme" });
  await indexed(g, "acme");
  const found = await search(g, "the automobile is quick");
  expect(found).toMatchObject({ provider: "acme", model: "acme-small", fallback: null, mode: "hybrid" });
  expect(found.results[0]).toMatchObject({ path: "MEMORY.md", vectorScore: expect.any(Number) });
  expect(await status(g)).toMatchObject({
    provider: "acme",
    model: "acme-small",
    requestedProvider: "acme",
    vector: { enabled: true, available: true, dims: 64 },
    custom: { searchMode: "hybrid" },
  });
});

test("without any adapter words are searched, and status says why there are no meanings", async () => {
  const g = await boot([], {});
  await eventually(async () => (await status(g)).dirty === false);
  expect(await search(g, "boiler")).toMatchObject({
    provider: "none",
    model: "fts-only",
    mode: "fts-only",
    results: [{ path: "memory/2026-10-02.md" }],
  });
  expect(await search(g, "zebra")).toEqual({
    results: [],
    provider: "none",
    model: "fts-only",
    fallback: null,
    citations: "auto",
    mode: "fts-only",
  });
  expect(await status(g)).toMatchObject({
    provider: "none",
    providerError: "no embedding provider is set up",
    requestedProvider: "auto",
  });
});

test("an adapter from outside is found without being named, when it asks for that", async () => {
  const g = await boot([createTestAdapter("quiet"), createTestAdapter("acme", { autoSelectPriority: 200 })], {});
  await indexed(g, "acme");
  expect(await status(g)).toMatchObject({ provider: "acme", requestedProvider: "auto" });
});

test("provider none searches words although there is an adapter", async () => {
  const acme = createTestAdapter("acme", { autoSelectPriority: 200 });
  const g = await boot([acme], { provider: "none" });
  await eventually(async () => (await status(g)).dirty === false);
  expect(await search(g, "boiler")).toMatchObject({ provider: "none", mode: "fts-only" });
  expect(await status(g)).not.toHaveProperty("providerError");
  expect(acme.created).toEqual([]);
});

test("without the words leg only vectors are compared", async () => {
  const g = await boot([createTestAdapter("acme")], { provider: "acme", query: { minScore: 0.05, hybrid: { enabled: false } } });
  await indexed(g, "acme");
  const found = await search(g, "automobile");
  expect(found).toMatchObject({ mode: "vector" });
  expect(found.results[0]).toMatchObject({ path: "MEMORY.md", vectorScore: expect.any(Number) });
  expect(found.results[0]).not.toHaveProperty("textScore");
});

describe("an explicit provider that cannot be had", () => {
  test("makes the tools unavailable with its message and what to do; notes can still be read", async () => {
    const acme = createTestAdapter("acme");
    acme.createFault = new EmbeddingError("no-credentials", "acme: no key; set ACME_API_KEY");
    const g = await boot([acme, createTestAdapter("other", { autoSelectPriority: 200 })], { provider: "acme" });
    expect(await search(g, "boiler")).toEqual({
      results: [],
      provider: "none",
      model: "fts-only",
      fallback: null,
      citations: "auto",
      mode: "fts-only",
      disabled: true,
      unavailable: true,
      error: "acme: no key; set ACME_API_KEY",
      warning: "Memory search is not available; the answer is given without it.",
      action: "see: svc memory status --deep",
    } satisfies MemorySearchResult);
    expect(await g.rpc("memory.get", { path: "MEMORY.md" })).toMatchObject({ totalLines: 3 });
    const health = await g.rpc<Record<string, unknown>>("health", { probe: true });
    expect(health.ok).toBe(true);
  });
});

describe("an outage", () => {
  test("leaves the hits of words, flagged and with the reason; without a hit the answer is unavailable", async () => {
    const acme = createTestAdapter("acme");
    const g = await boot([acme], { provider: "acme" });
    await indexed(g, "acme");
    acme.fault = failing("overloaded", "acme: 503 Service Unavailable");
    expect(await search(g, "boiler")).toMatchObject({
      provider: "acme",
      mode: "fts-only",
      degraded: true,
      warning: expect.stringContaining("acme: 503 Service Unavailable"),
      results: [{ path: "memory/2026-10-02.md" }],
    });
    expect(await search(g, "zebra")).toMatchObject({
      results: [],
      degraded: true,
      unavailable: true,
      error: "acme: 503 Service Unavailable",
      action: "see: svc memory status --deep",
    });
    await search(g, "third");
    expect(await search(g, "boiler")).toMatchObject({ mode: "fts-only", degraded: true, results: [{ path: "memory/2026-10-02.md" }] });
    expect(acme.queries).toHaveLength(3);
    expect(await status(g)).toMatchObject({
      provider: "acme",
      providerError: "acme: 503 Service Unavailable",
      custom: { searchMode: "fts-only" },
    });
    expect(await g.rpc("memory.search", { query: "boiler" })).toMatchObject({ degraded: true, searchMode: "fts-only" });

    acme.fault = undefined;
    expect((await status(g, { deep: true })).probe).toMatchObject({ ok: true, dims: 64 });
    await eventually(async () => (await search(g, "automobile")).mode === "hybrid");
  });

  test("of a vendor that never answers costs a search no more than its time limit", async () => {
    const acme = createTestAdapter("acme");
    const g = await boot([acme], { provider: "acme", limits: { timeoutMs: 300 } });
    await indexed(g, "acme");
    acme.fault = hang;
    expect(await search(g, "boiler")).toMatchObject({ results: [{ path: "memory/2026-10-02.md" }], warning: expect.any(String) });
  });
});

test("a provider that fails while indexing is replaced by its fallback, whose model makes a new index", async () => {
  const acme = createTestAdapter("acme");
  const spare = createTestAdapter("spare", { dims: 32 });
  acme.fault = failing("auth", "acme: key rejected", { status: 401 });
  const g = await boot([acme, spare], { provider: "acme", model: "acme-large", fallback: "spare" });
  await indexed(g, "spare");
  expect(await status(g)).toMatchObject({
    provider: "spare",
    model: "spare-small",
    requestedProvider: "acme",
    fallback: { from: "acme", reason: expect.stringContaining("acme: key rejected") },
    vector: { dims: 32 },
  });
  const found = await search(g, "automobile");
  expect(found).toMatchObject({ provider: "spare", fallback: "acme", mode: "hybrid" });
  expect(found.results[0]).toMatchObject({ path: "MEMORY.md", vectorScore: expect.any(Number) });

  acme.fault = undefined;
  await g.rpc("memory.index", { force: true });
  await indexed(g, "acme");
  expect(await status(g)).not.toHaveProperty("fallback");
  expect((await status(g)).vector).toMatchObject({ dims: 64 });
});

test("a changed model and a changed length make a new index by themselves; a changed key does not", async () => {
  const acme = createTestAdapter("acme");
  const g = await boot([acme], { provider: "acme" });
  await indexed(g, "acme");
  const config = (memorySearch: Search) => ({ agents: { defaults: { memorySearch: { provider: "acme", ...memorySearch } } } });
  await g.reload(config({ model: "acme-large" }));
  await eventually(async () => (await status(g)).model === "acme-large" && (await status(g)).custom.searchMode === "hybrid");
  await g.reload(config({ model: "acme-large", outputDimensionality: 16 }));
  await eventually(async () => (await status(g)).vector.dims === 16);
  await indexed(g, "acme");
  const embedded = acme.documents.length;
  await g.reload(config({ model: "acme-large", outputDimensionality: 16, remote: { apiKey: "another" } }));
  await eventually(async () => acme.created.at(-1)?.remote?.apiKey === "another");
  await g.rpc("memory.index", {});
  expect(acme.documents).toHaveLength(embedded);
});

test("keys reach the adapter they are for and nobody else: no log, no status, no config of an adapter has them", async () => {
  const acme = createTestAdapter("acme");
  const spare = createTestAdapter("spare");
  acme.createFault = new EmbeddingError("auth", "acme: key rejected");
  const g = await boot([acme, spare], {
    provider: "acme",
    fallback: "spare",
    remote: { apiKey: "sk-canary-77812", headers: { "X-Org": "org-canary-5531" } },
  });
  await indexed(g, "spare");
  expect(acme.created[0]?.remote).toEqual({ apiKey: "sk-canary-77812", headers: { "X-Org": "org-canary-5531" } });
  expect(spare.created[0]).not.toHaveProperty("remote");
  const seen = JSON.stringify([
    g.logs,
    await status(g, { deep: true }),
    await search(g, "boiler"),
    acme.created[0]?.config,
    spare.created[0]?.config,
  ]);
  expect(seen).not.toMatch(/canary/);
});

describe("doctor.memory.status", () => {
  test("calls the provider only when it is asked to", async () => {
    const acme = createTestAdapter("acme");
    const g = await boot([acme], { provider: "acme" });
    await indexed(g, "acme");
    expect(await g.rpc("doctor.memory.status")).toEqual({ agentId: "main", provider: "acme", embedding: { ok: false, checked: false } });
    expect(acme.queries).toEqual([]);
    expect(await g.rpc("doctor.memory.status", { probe: true })).toEqual({
      agentId: "main",
      provider: "acme",
      embedding: { ok: true, checked: true },
    });
    acme.fault = failing("overloaded", "acme: 503");
    expect(await g.rpc("doctor.memory.status", { probe: true })).toMatchObject({
      embedding: { ok: false, checked: true, error: "acme: 503" },
    });
    await expect(g.rpc("doctor.memory.status", { agentId: "nobody" })).rejects.toMatchObject({ details: { code: "UNKNOWN_AGENT_ID" } });
  });

  test("names no provider where there is none", async () => {
    const g = await boot([], {});
    expect(await g.rpc("doctor.memory.status", { probe: true })).toEqual({
      agentId: "main",
      embedding: { ok: false, checked: true, error: "no embedding provider is set up" },
    });
  });
});

test("texts of others are embedded with the agent's provider, also while its memory is off", async () => {
  const acme = createTestAdapter("acme");
  const g = await boot([acme], { provider: "acme", enabled: false });
  const { embed } = g.service("memory@1");
  expect(await embed("main", ["one", "two"])).toMatchObject({ provider: "acme", tokens: 2, vectors: [{ length: 64 }, { length: 64 }] });
  await expect(embed("nobody", ["x"])).rejects.toMatchObject({ code: "unknown-agent" });
});

test("an agent keeps its provider when only another agent's changes", async () => {
  const acme = createTestAdapter("acme");
  const spare = createTestAdapter("spare");
  const list = (provider: string) => ({
    agents: { defaults: { memorySearch: { provider: "acme" } }, list: [{ id: "main" }, { id: "ops", memorySearch: { provider } }] },
  });
  const g = await boot([acme, spare], {}, { config: list("acme") });
  await eventually(() => acme.created.length === 2);
  await g.reload(list("spare"));
  await eventually(async () => (await status(g, { agentId: "ops" })).provider === "spare");
  expect([acme.created.length, spare.created.length]).toEqual([2, 1]);
  expect(await g.rpc("memory.status", { agentId: "main" })).toMatchObject({ provider: "acme" });
});

test("while the store is rebuilt progress tells of embedding", async () => {
  const g = await boot([createTestAdapter("acme")], { provider: "acme" });
  await indexed(g, "acme");
  const client = await g.client();
  const phases = new Set<string>();
  client.on("memory.progress", (event) => void phases.add(event.phase));
  await client.request("memory.index", { force: true }, { onAccepted: () => undefined });
  await eventually(() => phases.has("done"));
  expect(await g.rpc("health", { probe: true })).toMatchObject({ memoryIndex: { main: { provider: "acme", dirty: false } } });
});

test("with auto, a plugin that is switched on is found, and one that is switched off is left", async () => {
  const search: Search = { remote: { baseUrl: "http://127.0.0.1:9" }, sync: { watch: false } };
  const config = (isOn: boolean): SvcConfigInput => ({
    agents: { defaults: { memorySearch: search } },
    plugins: { entries: { "embed-voyage": { enabled: isOn } } },
    models: { providers: { voyage: { apiKey: "pa-canary-2291", baseUrl: "http://127.0.0.1:9" } } },
  });
  const g = await boot([], {}, { plugins: ["memory-core", "embed-voyage", "embed-mistral"], config: config(false) });
  await eventually(async () => (await status(g)).skipped?.some(({ provider }) => provider === "mistral"));
  await g.reload(config(true));
  await eventually(async () => (await status(g)).provider === "voyage");
  await g.reload(config(false));
  await eventually(async () => (await status(g)).provider === "none");
  expect(JSON.stringify(g.logs)).not.toContain("canary");
});
