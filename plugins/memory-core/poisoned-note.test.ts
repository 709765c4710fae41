import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type PluginKv, startWorker } from "svc/sdk";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { memoryHealth } from "./health.ts";
import { type IndexThreadOptions, startIndexThread } from "./index-worker-host.ts";
import { noHostHandlers } from "./no-host-handlers.ts";
import { type MemoryIndex, type MemoryIndexOptions, openMemoryIndex } from "./open-memory-index.ts";
import { createQuarantine, type Quarantine } from "./quarantine.ts";
import { createMemoryService } from "./service.ts";
import { resolveMemorySettings } from "./settings.ts";
import { parseTestConfig } from "./test-config.ts";
import { createMemoryHost } from "./test-memory-host.ts";
import { createTestWorkspace, type TestWorkspace } from "./test-workspace.ts";
import type { SearchRequest } from "./worker-protocol.ts";

const poisonedThread = new URL("../../test/fixtures/poisoned-index.worker.mjs", import.meta.url);
const threads: IndexThreadOptions = {
  startThread: (data) => startWorker(poisonedThread, { workerData: data, resourceLimits: { maxOldGenerationSizeMb: 64 } }),
  // Long enough for a thread that is only slow on a busy machine: it beats several times in each of these turns.
  stallLimits: { everyMs: 250, silentTurns: 4, documentTurns: 8, otherTurns: 240 },
};

let ws: TestWorkspace;
let rows: Map<string, unknown>;
let log: string[];
let open: MemoryIndex[];

beforeEach(() => {
  ws = createTestWorkspace({ "MEMORY.md": "The router stands in the hall cupboard." });
  rows = new Map();
  log = [];
  open = [];
});

afterEach(async () => {
  for (const index of open) await index.close();
  ws.remove();
});

/** The rows of a store, which outlive a process. */
const kv = (): PluginKv => ({
  get: async <T>(key: string) => rows.get(key) as T | undefined,
  set: async (key, value) => void rows.set(key, structuredClone(value)),
  delete: async (key) => void rows.delete(key),
  list: async () => [],
});
const quarantine = (): Quarantine => createQuarantine("main", { kv: kv(), warn: (message) => log.push(message) });

function start(over: Partial<MemoryIndexOptions> = {}): MemoryIndex {
  const note = (level: string, message: string) => void log.push(`${level} ${message}`);
  const index = openMemoryIndex({ ...ws.settings, threads, quarantine: quarantine(), log: note, ...over });
  open.push(index);
  return index;
}

const request: Omit<SearchRequest, "query"> = {
  maxResults: 6,
  minScore: 0.35,
  explicit: false,
  candidateMultiplier: 4,
  sources: ["memory", "sessions"],
  hybrid: { enabled: true, vectorWeight: 0.7, textWeight: 0.3 },
  mmr: { enabled: false, lambda: 0.7 },
  temporalDecay: { enabled: false, halfLifeDays: 30 },
  maxSnippetChars: 700,
  timeoutMs: 5_000,
  syncAfter: "never",
};
const paths = async (index: MemoryIndex, query: string) => {
  const found = await index.search({ ...request, query }).catch(() => undefined);
  return found?.hits.map((hit) => hit.path) ?? [];
};

test("a note on which indexing does not end stops the search of no other note, and is named, also by the next process", async () => {
  ws.write("memory/poisoned.md", "POISON LOOP");
  const outages: Array<string | undefined> = [];
  const index = start({ onState: ({ isDown, lastError }) => outages.push(isDown ? lastError : undefined) });
  void index.watch().catch(() => undefined);
  await eventually(async () => (await paths(index, "router")).length === 1, 60_000);

  await eventually(() => !index.state().dirty);
  const leftOut = { documents: [{ path: "memory/poisoned.md", code: "STALLED" }], total: 1 };
  expect(index.state()).toMatchObject({ leftOut });
  expect(outages).toContainEqual(expect.stringMatching(/^indexing memory\/poisoned\.md takes longer than/));
  expect(outages).toContainEqual(expect.stringMatching(/^indexing memory\/poisoned\.md did not finish within/));
  expect(outages.at(-1)).toBeUndefined();
  const told = /^error the thread of the memory index ended: indexing memory\/poisoned\.md did not finish/;
  expect(log).toContainEqual(expect.stringMatching(told));
  await index.close();

  log = [];
  const next = start();
  await next.sync();
  expect(await paths(next, "router")).toEqual(["MEMORY.md"]);
  expect(next.state()).toMatchObject({ leftOut });
  expect(log.filter((line) => line.startsWith("error"))).toEqual([]);

  ws.write("memory/poisoned.md", "The antidote.");
  await next.sync();
  expect(await paths(next, "antidote")).toEqual(["memory/poisoned.md"]);
  expect(next.state().leftOut).toBeUndefined();
}, 120_000);

test("a sync waits for the thread that leaves the note out; a forced one tries the note again first", async () => {
  ws.write("memory/poisoned.md", "POISON");
  const deaths = () => log.filter((line) => line.includes("did not finish")).length;
  const index = start();

  await index.sync();
  expect([await paths(index, "router"), deaths()]).toEqual([["MEMORY.md"], 1]);

  await index.sync({ force: true });
  expect([await paths(index, "router"), deaths()]).toEqual([["MEMORY.md"], 2]);
  expect(index.state().leftOut?.total).toBe(1);

  ws.write("memory/poisoned.md", "The antidote.");
  await index.sync({ force: true });
  expect(deaths()).toBe(2);
  await eventually(() => rows.size === 0);
}, 120_000);

test("a note that takes all memory twice is left out", async () => {
  ws.write("memory/glutton.md", "GLUTTON");
  const index = start();
  void index.watch().catch(() => undefined);

  await eventually(async () => (await paths(index, "router")).length === 1, 60_000);
  await eventually(() => index.state().leftOut?.total === 1);
}, 120_000);

test("a transcript on which indexing does not end stops the search of no note", async () => {
  const sessions = ["good", "poisoned"];
  const texts = { good: "The boiler is in the cellar.", poisoned: "POISON" };
  const index = start({
    sources: ["memory", "sessions"],
    sessions: { deltaBytes: 1, deltaMessages: 1 },
    handlers: {
      ...noHostHandlers,
      listSessions: async () => sessions.map((sessionId) => ({ sessionId, messages: 1 })),
      readSession: async ({ sessionId }) => {
        const text = texts[sessionId as keyof typeof texts];
        return { messages: [{ seq: 1, role: "user", text, ts: 1 }], total: 1 };
      },
    },
  });

  await index.sync();

  expect([await paths(index, "router"), await paths(index, "boiler")]).toEqual([["MEMORY.md"], ["sessions/good"]]);
  const leftOut = { documents: [{ path: "sessions/poisoned", code: "STALLED_TRANSCRIPT" }], total: 1 };
  expect(index.state()).toMatchObject({ leftOut, dirty: false });
  await index.sync();
  expect(index.state()).toMatchObject({ leftOut });
});

test("a thread that cannot be ended makes requests fail at once, and the next one starts when it has ended", async () => {
  const pipe = join(ws.folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const stuck = `require("node:fs").openSync(require("node:worker_threads").workerData, "r")`;
  const stallLimits = { everyMs: 50, silentTurns: 2, documentTurns: 4, otherTurns: 4 };
  let started = 0;
  const startThread: IndexThreadOptions["startThread"] = (data) => {
    if (started++ === 0) return new Worker(stuck, { eval: true, workerData: pipe });
    // The next thread is a whole one, and is slow on a busy machine: it may be silent for longer than the first.
    Object.assign(stallLimits, { silentTurns: 600, documentTurns: 600, otherTurns: 2_000 });
    return startIndexThread(data);
  };
  const index = start({ threads: { startThread, stallLimits } });

  await expect(index.status()).rejects.toMatchObject({ code: "memory-worker-down" });
  await expect(index.status()).rejects.toMatchObject({ code: "memory-worker-down" });
  expect(index.state()).toMatchObject({ isDown: true, lastError: expect.stringContaining("did not answer") });
  expect(started).toBe(1);

  // Open for both ends: one for writing alone would wait for ever where the thread was ended before it came to read.
  const end = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(end));
  await eventually(() => index.state().isDown === undefined);
  await eventually(async () => (await paths(index, "router")).length === 1);
}, 90_000);

test("the entries of a quarantine fit into a row of the store; the newest stay", async () => {
  const kept = quarantine();
  for (let i = 0; i < 60; i++) kept.add({ path: `memory/${i}-${"€".repeat(400)}.md`, stamp: "1 1" });
  await eventually(() => JSON.stringify([...rows.values()]).includes("memory/59-"));

  expect(Buffer.byteLength(JSON.stringify([...rows.values()]))).toBeLessThan(64 * 1_024);
  expect(kept.entries().at(-1)?.path).toContain("memory/59-");
});

test("an index that does not work makes the gateway not ready until it does; what is left out stays in health and status", async () => {
  ws.write("memory/poisoned.md", "POISON");
  const outages: Array<string | undefined> = [];
  const config = { agents: { list: [{ id: "main", workspace: ws.root, memorySearch: { store: { path: ws.settings.dbPath } } }] } };
  const settings = resolveMemorySettings(parseTestConfig(config), ws.folder);
  const onOutage = (problem: string | undefined) => void outages.push(problem);
  const memory = createMemoryService({ ...createMemoryHost(), kv: kv() }, settings, { onOutage, threads });
  try {
    void memory.startBackground();
    await eventually(() => outages.at(-1)?.includes("poisoned.md") === true, 60_000);
    expect(await memory.search("main", "router")).toMatchObject({
      unavailable: true,
      error: expect.stringContaining("memory/poisoned.md"),
    });
    await eventually(() => memory.agents[0]?.state()?.leftOut !== undefined, 60_000);

    const about = 'the memory cannot be searched: agent "main": indexing memory/poisoned.md';
    expect(outages.filter((problem) => problem?.includes("poisoned.md"))).toEqual([
      expect.stringContaining(`${about} takes longer than`),
      expect.stringContaining(`${about} did not finish within`),
    ]);
    expect(outages.at(-1)).toBeUndefined();
    expect(memoryHealth(memory)).toMatchObject({ ok: false, message: expect.stringContaining("not in the index: memory/poisoned.md (") });
    expect((await memory.status("main")).leftOut).toMatchObject({ total: 1, documents: [{ path: "memory/poisoned.md" }] });
  } finally {
    await memory.close();
  }
}, 120_000);

test("an index that is taken out of the config no longer makes the gateway not ready", async () => {
  ws.write("memory/poisoned.md", "POISON");
  const outages: Array<string | undefined> = [];
  const config = { agents: { list: [{ id: "main", workspace: ws.root, memorySearch: { store: { path: ws.settings.dbPath } } }] } };
  const settings = resolveMemorySettings(parseTestConfig(config), ws.folder);
  const onOutage = (problem: string | undefined) => void outages.push(problem);
  const memory = createMemoryService({ ...createMemoryHost(), kv: kv() }, settings, { onOutage, threads });
  try {
    void memory.startBackground();
    await eventually(() => outages.at(-1) !== undefined, 60_000);
    memory.reconfigure([]);
    expect(outages.at(-1)).toBeUndefined();
  } finally {
    await memory.close();
  }
});
