import { definePlugin, type MemoryBackend, type MemoryHit } from "svc/sdk";
import { createTestGateway, eventually, type InlinePlugin, type TestGateway } from "svc/sdk/testing";
import { afterEach, expect, test } from "vitest";

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

const hit: MemoryHit = { path: "attic/box.md", startLine: 1, endLine: 2, score: 0.5, snippet: "an old lamp", source: "memory" };

/** A plugin from elsewhere with a backend of its own. */
function attic(calls: string[], over: Partial<MemoryBackend> = {}): InlinePlugin {
  const backend: MemoryBackend = {
    id: "attic",
    async search(agentId, query, { maxResults, sources }) {
      calls.push(`search ${agentId} ${query} ${maxResults} ${sources?.join()}`);
      return [hit];
    },
    get: async (_agentId, path) => ({ path, text: "an old lamp\nand dust" }),
    status: async (agentId) => ({ agentId, backend: "attic", files: 1 }),
    async sync(_agentId, { reason } = {}) {
      calls.push(`sync ${reason}`);
    },
    close: async () => undefined,
    ...over,
  };
  const base = { id: "attic", version: "1.0.0", svc: { api: "^1.0.0" } };
  return {
    definition: definePlugin({ ...base, setup: (ctx) => void ctx.registerMemoryBackend(backend) }),
    manifest: { ...base, contributes: { memoryBackends: ["attic"] } },
  };
}

async function boot(plugin: InlinePlugin): Promise<TestGateway> {
  gateway = await createTestGateway({
    plugins: ["memory-core", plugin],
    workspace: { "MEMORY.md": "The lamp is in the hall.\n" },
    config: { memory: { backend: "attic" }, plugins: { entries: { attic: { enabled: true } } } },
  });
  return gateway;
}

test("a backend of another plugin is made ready, searched, read and shown, under the limits of the memory search", async () => {
  const calls: string[] = [];
  const { service, rpc } = await boot(attic(calls));
  const memory = service("memory@1");
  await eventually(() => calls.includes("sync start"));
  expect(await memory.search("main", "lamp")).toMatchObject({
    results: [{ path: "attic/box.md", snippet: "an old lamp\n\nSource: attic/box.md#L1-L2" }],
    provider: "attic",
    fallback: null,
  });
  expect(calls).toContain("search main lamp 6 memory");
  expect(await memory.get("main", "attic/box.md")).toEqual({ path: "attic/box.md", text: "an old lamp\nand dust", from: 1, totalLines: 2 });
  expect(await rpc("memory.status")).toMatchObject({ backend: "attic", files: 1, chunks: 0, custom: { searchMode: "fts-only" } });
  await memory.sync("main", { reason: "note" });
  expect(calls.at(-1)).toBe("sync note");
  await expect(memory.reset("main")).rejects.toThrow('the memory backend "attic" cannot drop its index');
});

test("one that never answers is replaced within the limit, and its session rules hold all the same", async () => {
  const plugin = attic([], { search: () => new Promise(() => undefined), mayAnswer: (_agentId, key) => key !== "agent:main:secret" });
  const { service } = await boot(plugin);
  const startedAt = performance.now();
  expect(await service("memory@1").search("main", "lamp")).toMatchObject({ results: [{ path: "MEMORY.md" }], fallback: { from: "attic" } });
  expect(performance.now() - startedAt).toBeLessThan(9_000);
  expect((await service("memory@1").search("main", "lamp", { sessionKey: "agent:main:secret" })).results).toEqual([]);
});
