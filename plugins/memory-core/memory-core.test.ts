import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MemorySearchResult } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway, type TestGatewayOptions } from "svc/sdk/testing";
import { afterEach, describe, expect, test } from "vitest";

let gateway: TestGateway | undefined;
const stateDirs: string[] = [];
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  for (const dir of stateDirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const notes = {
  "MEMORY.md": "# Home\n\nThe router stands in the hall cupboard.\n",
  "memory/2026-10-02.md": "# Day\n\nThe boiler was serviced by Ana.\n",
};

async function boot(options: TestGatewayOptions = {}): Promise<TestGateway> {
  gateway = await createTestGateway({ plugins: ["memory-core"], workspace: notes, ...options });
  return gateway;
}

/** A plugin that taps hooks and hands out tools, as `agents` does. */
function probe(g: { stateDir: string }, body: string): string {
  const folder = join(g.stateDir, "probe");
  mkdirSync(folder, { recursive: true });
  const manifest = {
    id: "probe",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    permissions: ["hooks.conversation", "hooks.prompt"],
    contributes: { rpc: ["probe.run"] },
  };
  writeFileSync(join(folder, "svc.plugin.json"), JSON.stringify(manifest));
  writeFileSync(
    join(folder, "index.ts"),
    `import { definePlugin, z } from "svc/sdk";\nexport default definePlugin({ id: "probe", version: "1.0.0", svc: { api: "^1.0.0" }, setup(ctx) {\n${body}\n} });\n`,
  );
  return folder;
}

async function bootWithProbe(body: string, options: TestGatewayOptions = {}): Promise<TestGateway> {
  const stateDir = mkdtempSync(join(tmpdir(), "svc-memory-probe-"));
  stateDirs.push(stateDir);
  const config = options.config ?? {};
  return boot({
    ...options,
    stateDir,
    plugins: ["memory-core", probe({ stateDir }, body)],
    config: { ...config, plugins: { entries: { probe: { enabled: true, grants: ["hooks.conversation", "hooks.prompt"] } } } },
  });
}

const runTools = `
  ctx.registerRpc({ method: "probe.run", scope: "write", params: z.object({ tool: z.string(), args: z.record(z.string(), z.unknown()), sessionKey: z.string().optional(), agentId: z.string().optional() }), async handler(p) {
    const tool = [...ctx.contributions("tool")].find((c) => c.id === p.tool);
    if (!tool) return { missing: true };
    const args = await tool.value.input["~standard"].validate(p.args);
    if (args.issues) return { issues: args.issues.map((i) => i.message) };
    return { value: await tool.value.run(args.value, { agentId: p.agentId ?? "main", sessionKey: p.sessionKey ?? "agent:main:main", runId: "r", toolCallId: "t", signal: ctx.signal, update: () => undefined }) };
  } });`;

async function tool<T>(name: string, args: object, over: { sessionKey?: string } = {}): Promise<T> {
  const found = await (gateway as TestGateway).rpc<{ value: T }>("probe.run", { tool: name, args, ...over });
  return found.value;
}

describe("tools", () => {
  test("memory_search answers with cited passages in the documented shape", async () => {
    await bootWithProbe(runTools);
    expect(await tool("memory_search", { query: "router" })).toEqual({
      results: [
        {
          path: "MEMORY.md",
          startLine: 1,
          endLine: 3,
          score: expect.any(Number),
          textScore: expect.any(Number),
          snippet: "# Home\n\nThe router stands in the hall cupboard.\n\nSource: MEMORY.md#L1-L3",
          source: "memory",
          citation: "MEMORY.md#L1-L3",
        },
      ],
      provider: "none",
      model: "fts-only",
      fallback: null,
      citations: "auto",
      mode: "fts-only",
    });
  });

  test("a group sees passages without their places, and a blank query finds nothing", async () => {
    await bootWithProbe(runTools);
    const found = await tool<MemorySearchResult>("memory_search", { query: "router" }, { sessionKey: "agent:main:telegram:group:1" });
    expect(found.results[0]?.citation).toBeUndefined();
    expect(found.results[0]?.snippet).not.toContain("Source:");
    expect(await tool("memory_search", { query: "  " })).toEqual({ results: [] });
  });

  test("out-of-range limits are brought into range, session transcripts are said to be missing", async () => {
    await bootWithProbe(runTools);
    expect((await tool<MemorySearchResult>("memory_search", { query: "the", maxResults: 9_999, minScore: -3 })).results).toHaveLength(2);
    expect((await tool<MemorySearchResult>("memory_search", { query: "the", maxResults: -1, minScore: 0 })).results).toHaveLength(1);
    expect(await tool("memory_search", { query: "router", corpus: "sessions" })).toMatchObject({
      results: [],
      warning: expect.stringContaining("session"),
    });
  });

  test("memory_get reads the place of a hit and nothing outside", async () => {
    await bootWithProbe(runTools);
    expect(await tool("memory_get", { path: "MEMORY.md" })).toEqual({
      path: "MEMORY.md",
      text: "# Home\n\nThe router stands in the hall cupboard.",
    });
    expect(await tool("memory_get", { path: "MEMORY.md", from: 3, lines: 1 })).toEqual({
      path: "MEMORY.md",
      text: "The router stands in the hall cupboard.",
    });
    expect(await tool("memory_get", { path: "memory/none.md" })).toEqual({ path: "memory/none.md", text: "" });
    expect(await tool("memory_get", { path: "../svc.json" })).toEqual({
      path: "../svc.json",
      text: "",
      disabled: true,
      error: "path required",
    });
  });

  test("are missing when memory is off, and no database is opened", async () => {
    const g = await bootWithProbe(runTools, { config: { agents: { defaults: { memorySearch: { enabled: false } } } } });
    expect(await g.rpc("probe.run", { tool: "memory_search", args: {} })).toEqual({ missing: true });
    expect(await g.rpc("memory.search", { query: "router" })).toMatchObject({
      results: [],
      unavailable: true,
      error: expect.stringContaining("memory search is off"),
    });
    expect(existsSync(join(g.stateDir, "memory"))).toBe(false);
  });

  test("are taken from the one agent whose memory is off", async () => {
    const body = `ctx.registerRpc({ method: "probe.run", scope: "write", params: z.object({ agentId: z.string() }), handler: ({ agentId }) => ctx.runHook("prompt.build", { agentId, sessionKey: "k", trigger: "user", system: [], context: [], tools: ["memory_search", "read", "memory_get"] }) });`;
    const g = await bootWithProbe(body, {
      config: { agents: { list: [{ id: "main" }, { id: "quiet", memorySearch: { enabled: false } }] } },
    });
    expect(await g.rpc("probe.run", { agentId: "quiet" })).toMatchObject({ tools: ["read"] });
    expect(await g.rpc("probe.run", { agentId: "main" })).toMatchObject({ tools: ["memory_search", "read", "memory_get"] });
  });
});

describe("methods", () => {
  test("memory.search gives plain passages of the default agent", async () => {
    const g = await boot();
    expect(await g.rpc("memory.search", { query: "boiler" })).toEqual({
      agentId: "main",
      provider: "none",
      searchMode: "fts-only",
      results: [
        {
          path: "memory/2026-10-02.md",
          startLine: 1,
          endLine: 3,
          score: expect.any(Number),
          textScore: expect.any(Number),
          snippet: "# Day\n\nThe boiler was serviced by Ana.",
          source: "memory",
        },
      ],
    });
  });

  test("a blank query and an unknown agent are refused by name", async () => {
    const g = await boot();
    await expect(g.rpc("memory.search", { query: "  " })).rejects.toThrow("query must be a non-empty string");
    await expect(g.rpc("memory.search", { query: "x", agentId: "nobody" })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      details: { code: "UNKNOWN_AGENT_ID" },
    });
    await expect(g.rpc("memory.status", { agentId: "nobody" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("memory.get tells the lines it read and how many there are", async () => {
    const g = await boot();
    expect(await g.rpc("memory.get", { path: "MEMORY.md", from: 3 })).toEqual({
      path: "MEMORY.md",
      text: "The router stands in the hall cupboard.",
      from: 3,
      totalLines: 3,
    });
  });

  test("memory.files.set writes a note that the next search finds, and refuses one over another state", async () => {
    const g = await boot();
    const path = "memory/garden.md";
    const set = (content: string, expectedHash: string | null) =>
      g.rpc<{ file: { hash: string } }>("memory.files.set", { path, content, expectedHash });
    const { file: made } = await set("The roses are cut in March.\n", null);
    expect(await g.rpc("memory.files.get", { path })).toMatchObject({
      agentId: "main",
      file: { path, missing: false, hash: made.hash, content: "The roses are cut in March.\n" },
    });
    expect((await g.rpc<{ results: unknown[] }>("memory.search", { query: "roses" })).results).toMatchObject([{ path }]);
    const refusal = { code: "INVALID_REQUEST", details: { type: "memory_note_conflict", currentHash: made.hash } };
    await expect(set("mine", null)).rejects.toMatchObject(refusal);
    expect(await set("The tulips come in April.\n", made.hash)).toMatchObject({ ok: true, agentId: "main", indexed: true });
    expect((await g.rpc<{ results: unknown[] }>("memory.search", { query: "tulips" })).results).toMatchObject([{ path }]);
    await expect(g.rpc("memory.files.get", { path: "svc.json" })).rejects.toMatchObject({ message: expect.stringContaining("is no note") });
    const writer = await g.client({ scopes: ["operator.write"] });
    const forbidden = { code: "FORBIDDEN", details: { missingScope: "operator.admin" } };
    await expect(writer.request("memory.files.set", { path, content: "x", expectedHash: null })).rejects.toMatchObject(forbidden);
  });

  test("memory.index answers twice, at the start and at the end, and tells its progress", async () => {
    const g = await boot();
    const client = await g.client();
    const phases: string[] = [];
    client.on("memory.progress", (event) => phases.push(String((event as { phase?: unknown }).phase)));
    await eventually(async () => (await g.rpc<{ dirty: boolean }>("memory.status")).dirty === false);
    const accepted: unknown[] = [];
    const done = await client.request("memory.index", { force: true }, { onAccepted: (payload) => accepted.push(payload) });
    expect(accepted).toEqual([{ status: "accepted", agentId: "main", started: true, joined: false }]);
    expect(done).toEqual({ agentId: "main", started: true, joined: false });
    await eventually(() => phases.at(-1) === "done");
  });

  test("memory.reset drops the index, and a search makes it anew", async () => {
    const g = await boot();
    await eventually(async () => (await g.rpc<{ files: number }>("memory.status")).files === 2);
    expect(await g.rpc("memory.reset")).toEqual({ agentId: "main", removed: true });
    expect((await g.rpc<{ results: unknown[] }>("memory.search", { query: "router" })).results).toHaveLength(1);
  });

  test("memory.status has the documented shape", async () => {
    const g = await boot();
    await eventually(async () => (await g.rpc<{ dirty: boolean; files: number }>("memory.status")).files === 2);
    expect(await g.rpc("memory.status")).toEqual({
      agentId: "main",
      backend: "builtin",
      workspace: g.workspace,
      files: 2,
      chunks: 2,
      dirty: expect.any(Boolean),
      syncing: expect.any(Boolean),
      dbPath: join(g.stateDir, "memory", "main.sqlite"),
      provider: "none",
      model: "fts-only",
      requestedProvider: "auto",
      sources: ["memory"],
      sourceCounts: [{ source: "memory", files: 2, chunks: 2 }],
      fts: { enabled: true, available: true },
      vector: { enabled: true, available: expect.any(Boolean), backend: expect.stringMatching(/^(sqlite-vec|in-process)$/) },
      cache: { enabled: false, entries: 0, maxEntries: 50_000 },
      batch: { enabled: false, failures: 0, limit: 2 },
      providerError: "no embedding provider is set up",
      skipped: [{ provider: "local", reason: expect.stringContaining("modelPath") }],
      custom: { searchMode: "fts-only" },
      lastSyncAt: expect.any(Number),
      lastSyncMs: expect.any(Number),
      fileList: [
        { path: "MEMORY.md", source: "memory", chunks: 1, mtime: expect.any(Number) },
        { path: "memory/2026-10-02.md", source: "memory", chunks: 1, mtime: expect.any(Number) },
      ],
    });
  });
});

test("an edited note is found while the gateway runs", async () => {
  const g = await boot();
  await eventually(async () => (await g.rpc<{ dirty: boolean }>("memory.status")).dirty === false);
  writeFileSync(join(g.workspace, "memory/2026-10-02.md"), "# Day\n\nThe xylophone arrived.\n");
  await eventually(async () => (await g.rpc<{ results: unknown[] }>("memory.search", { query: "xylophone" })).results.length === 1);
});

test("hooks see a query and its hits and may change both", async () => {
  const g = await bootWithProbe(`
    let synced = 0;
    ctx.on("memory.query", (e) => ({ ...e, query: e.query.replace("WLAN box", "router"), limit: 1 }));
    ctx.on("memory.results", (e) => ({ ...e, hits: [...e.hits.map((h) => ({ ...h, snippet: h.snippet.toUpperCase() })), "no hit", { path: 1 }] }));
    ctx.on("memory.synced", () => { synced++; });
    ctx.registerRpc({ method: "probe.run", scope: "read", params: z.object({}), handler: () => ({ synced }) });`);
  const found = await g.rpc<{ results: Array<{ snippet: string }> }>("memory.search", { query: "WLAN box" });
  expect(found.results.map((hit) => hit.snippet)).toEqual(["# HOME\n\nTHE ROUTER STANDS IN THE HALL CUPBOARD."]);
  await eventually(async () => (await g.rpc<{ synced: number }>("probe.run")).synced > 0);
});

test("health names the files and chunks of each agent", async () => {
  const g = await boot();
  await eventually(async () => {
    const health = await g.rpc<{ memoryIndex: Record<string, unknown> }>("health", { probe: true });
    expect(health.memoryIndex).toEqual({ main: { files: 2, chunks: 2, dirty: false, provider: "none" } });
    return true;
  });
});

test("two agents with one database are reported and refused, and the gateway runs", async () => {
  const g = await boot({
    config: { agents: { defaults: { memorySearch: { store: { path: "all.sqlite" } } }, list: [{ id: "main" }, { id: "work" }] } },
  });
  expect(g.logs.map((record) => record.message).join("\n")).toMatch(/agents main, work share the memory index/);
  expect(await g.rpc("memory.status", { agentId: "work" })).toMatchObject({ files: 0, lastError: expect.stringContaining("{agentId}") });
  expect(await g.rpc("memory.search", { query: "router" })).toMatchObject({ results: [], unavailable: true });
  await expect(g.rpc("memory.index", {})).rejects.toThrow("share the memory index");
  expect(existsSync(join(g.stateDir, "all.sqlite"))).toBe(false);
});

test("each agent has its own notes and its own index", async () => {
  const g = await boot({ config: { agents: { list: [{ id: "main" }, { id: "work" }] } } });
  mkdirSync(join(g.stateDir, "workspace-work"));
  writeFileSync(join(g.stateDir, "workspace-work/MEMORY.md"), "the invoice of the client");
  const found = (agentId: string, query: string) =>
    g.rpc<{ results: unknown[] }>("memory.search", { agentId, query }).then((r) => r.results.length);
  await eventually(async () => (await found("work", "invoice")) === 1);
  expect([await found("main", "invoice"), await found("work", "router")]).toEqual([0, 0]);
});
