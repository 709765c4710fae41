import { rootSchema, type SvcConfigInput } from "svc/sdk";
import { afterEach, expect, test } from "vitest";
import { createMemoryService, type MemoryHost, type MemoryService } from "./service.ts";
import { resolveMemorySettings } from "./settings.ts";

let memory: MemoryService;
afterEach(() => memory.close());

const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined, child: () => logger };
const host: MemoryHost = {
  logger,
  timers: {
    setTimeout: () => ({ dispose: () => undefined }),
    setInterval: () => ({ dispose: () => undefined }),
  } as unknown as MemoryHost["timers"],
  signal: new AbortController().signal,
  clock: { now: Date.now, monotonic: () => performance.now() },
  contributions: () => ({
    get: () => undefined,
    ready: async () => undefined,
    watch: () => ({ dispose: () => undefined }),
    [Symbol.iterator]: () => [][Symbol.iterator](),
  }),
  secret: () => undefined,
  snapshot: () => rootSchema.parse({}),
  emit: () => undefined,
  isHookUsed: () => false,
  runHook: async (_hook, event) => event as never,
};

const settings = (agents: SvcConfigInput["agents"], more: SvcConfigInput = {}) =>
  resolveMemorySettings(rootSchema.parse({ ...more, agents }), "/nowhere");
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
