import type { SvcConfigInput } from "svc/sdk";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createMemoryService, type MemoryHost, type MemoryService } from "./service.ts";
import { resolveMemorySettings } from "./settings.ts";
import { createTestAdapter } from "./test-adapter.ts";
import { parseTestConfig } from "./test-config.ts";
import { createMemoryHost } from "./test-memory-host.ts";
import { createTestWorkspace, type TestWorkspace } from "./test-workspace.ts";

let memory: MemoryService;
let ws: TestWorkspace;
let intervals: number[];
let host: MemoryHost;
beforeEach(() => {
  ws = createTestWorkspace({ "MEMORY.md": "The router stands in the hall cupboard." });
  intervals = [];
  host = createMemoryHost(intervals);
});
afterEach(async () => {
  await memory.close();
  ws.remove();
});

const settings = (agents: SvcConfigInput["agents"], more: SvcConfigInput = {}) =>
  resolveMemorySettings(parseTestConfig({ ...more, agents }), "/nowhere");
const list = [{ id: "main" }, { id: "ops" }];
const agent = (id: string) => memory.agents.find((one) => one.settings.agentId === id);

test("an agent whose index settings changed gets another memory, the others keep theirs", () => {
  memory = createMemoryService(host, settings({ list }));
  const [main, ops] = [agent("main"), agent("ops")];

  memory.reconfigure(settings({ list: [{ id: "main" }, { id: "ops", memorySearch: { chunking: { tokens: 200, overlap: 20 } } }] }));

  expect(agent("main")).toBe(main);
  expect(agent("ops")).not.toBe(ops);
  expect(agent("ops")?.settings.index.chunking.tokens).toBe(200);
});

test.each<[string, SvcConfigInput["agents"], SvcConfigInput]>([
  ["limits", { list, defaults: { memorySearch: { limits: { maxResults: 3 } } } }, {}],
  ["query", { list, defaults: { memorySearch: { query: { minScore: 0.5 } } } }, {}],
  ["citations", { list }, { memory: { citations: "off" } }],
])("%s are taken over by the memories that are open", (_, agents, more) => {
  memory = createMemoryService(host, settings({ list }));
  const before = memory.agents.map((one) => one.settings);
  const [main, ops] = [agent("main"), agent("ops")];

  memory.reconfigure(settings(agents, more));

  expect([agent("main"), agent("ops")]).toEqual([main, ops]);
  expect(agent("main")).toBe(main);
  expect(memory.agents.map((one) => one.settings)).not.toEqual(before);
});

test("agents come and go", async () => {
  memory = createMemoryService(host, settings({ list }));
  memory.reconfigure(settings({ list: [{ id: "main" }, { id: "new" }] }));
  expect(memory.agents.map((one) => one.settings.agentId)).toEqual(["main", "new"]);
  await expect(memory.status("ops")).rejects.toMatchObject({ code: "unknown-agent" });
});

/** One agent whose notes and index stand in the test workspace. */
const inWorkspace = (tokens: number) =>
  resolveMemorySettings(
    parseTestConfig({
      agents: {
        defaults: {
          workspace: ws.root,
          memorySearch: { chunking: { tokens }, sync: { watch: false, intervalMinutes: 1 }, limits: { timeoutMs: 60_000 } },
        },
        list: [{ id: "main" }],
      },
    }),
    ws.folder,
  );

test("an agent that goes during its first sync leaves no periodic sync behind", async () => {
  memory = createMemoryService(host, inWorkspace(400));
  const started = memory.startBackground();
  const first = agent("main");
  await eventually(() => first?.state() !== undefined);
  memory.reconfigure([]);
  await started;
  expect(intervals).toEqual([]);
});

test.each<[string, () => Promise<unknown>, object]>([
  ["search", () => memory.search("main", "router"), { results: [{ path: "MEMORY.md" }] }],
  ["sync", () => memory.sync("main"), { started: true }],
  ["status", () => memory.status("main"), { backend: "builtin" }],
])("a %s that waited for a provider is answered by the memory that is there by then", async (_name, ask, answer) => {
  const adapter = createTestAdapter("acme");
  let go: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const { create } = adapter.adapter;
  const contribution = { id: "acme", owner: "embed-acme", isOutside: true, value: { ...adapter.adapter, create } };
  contribution.value.create = async (context) => {
    await gate;
    return create(context);
  };
  const contributions = (() => ({ ...host.contributions("embeddingAdapter"), get: () => contribution })) as MemoryHost["contributions"];
  const settings = (tokens: number) => inWorkspace(tokens).map((one) => ({ ...one, provider: { ...one.provider, requested: "acme" } }));
  memory = createMemoryService({ ...host, contributions }, settings(400));
  const before = agent("main");
  const asked = ask();
  memory.reconfigure(settings(200));
  go();
  expect(await asked).toMatchObject(answer);
  expect(before?.state()).toBeUndefined();
});

test("a memory that was closed before it was used stays closed", async () => {
  memory = createMemoryService(host, inWorkspace(400));
  await memory.close();
  expect(() => agent("main")?.index()).toThrow(expect.objectContaining({ code: "memory-worker-down" }));
});
