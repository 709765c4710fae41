import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProviderFacts } from "../index-settings.ts";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import type { HostMethods, SearchRequest } from "../worker-protocol.ts";
import { IndexEngine } from "./engine.ts";
import { EmbedFault, type Host } from "./host.ts";

let ws: TestWorkspace;
let engines: IndexEngine[];
let log: string[];
beforeEach(() => {
  ws = createTestWorkspace({
    "MEMORY.md": "The router stands in the hall cupboard.",
    "memory/car.md": "My car is fast.",
    "memory/food.md": "Bread, onions, garlic.",
  });
  engines = [];
  log = [];
});
afterEach(async () => {
  for (const engine of engines) await engine.close();
  ws.remove();
});

const facts: ProviderFacts = { id: "fake", model: "m1", providerKey: "k1", pace: "remote", multimodal: false, batch: false };

/** Two subjects: cars, and everything else. */
function vectorOf(text: string): Float32Array {
  return /car|automobile/i.test(text) ? Float32Array.from([1, 0.1, 0]) : Float32Array.from([0.1, 1, 0]);
}

interface Embedding {
  query?(signal: AbortSignal | undefined): Promise<Float32Array> | undefined;
  documents?(texts: string[]): Promise<Float32Array[]>;
}

function hostOf({ query, documents }: Embedding = {}): Host {
  const call = async (method: string, params: unknown, { signal }: { signal?: AbortSignal | undefined }) => {
    if (method === "embedQuery") return (await query?.(signal)) ?? vectorOf((params as HostMethods["embedQuery"]["params"]).text);
    if (method === "embed") {
      const { texts } = params as HostMethods["embed"]["params"];
      return documents ? documents(texts) : texts.map(vectorOf);
    }
    throw new Error(`nobody asked for ${method}`);
  };
  return { call: call as Host["call"] };
}

function open(host: Host): IndexEngine {
  const engine = new IndexEngine(
    ws.settings,
    (news) => {
      if (news.news === "log") log.push(news.message);
    },
    { host },
  );
  engines.push(engine);
  return engine;
}

const request: SearchRequest = {
  query: "",
  maxResults: 6,
  minScore: 0.35,
  explicit: false,
  sources: ["memory"],
  candidateMultiplier: 4,
  maxSnippetChars: 700,
  hybrid: { enabled: true, vectorWeight: 0.7, textWeight: 0.3 },
  mmr: { enabled: false, lambda: 0.7 },
  temporalDecay: { enabled: false, halfLifeDays: 30 },
  timeoutMs: 10_000,
  syncAfter: "never",
};
const ask = (engine: IndexEngine, query: string, over: Partial<SearchRequest> = {}) =>
  engine.search({ ...request, ...over, query }, () => undefined);

test("meaning finds what shares no word with the question", async () => {
  const engine = open(hostOf());
  await engine.setProvider({ provider: facts, keepVectors: true });
  await engine.sync({ force: false, reason: "test" });

  const found = await ask(engine, "the automobile is quick");

  expect(found).toMatchObject({ mode: "hybrid", partial: false, embedder: { provider: facts.id, model: facts.model } });
  expect(found.hits[0]).toMatchObject({ path: "memory/car.md", vectorScore: expect.any(Number) });
  expect(found.hits[0]?.textScore).toBeUndefined();
});

describe("without an index", () => {
  test("that can be made at once, it is made first", async () => {
    const found = await ask(open(hostOf()), "router");
    expect(found).toMatchObject({ mode: "fts-only", partial: false, hits: [{ path: "MEMORY.md" }] });
    expect(found.degraded).toBeUndefined();
  });

  test("while it is being made, the files are searched and the answer says so", async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const documents = async (texts: string[]) => {
      await gate;
      return texts.map(vectorOf);
    };
    const engine = open(hostOf({ documents }));
    await engine.setProvider({ provider: facts, keepVectors: true });

    const found = await ask(engine, "router", { timeoutMs: 2_000 });

    expect(found).toMatchObject({
      mode: "fts-only",
      hits: [{ path: "MEMORY.md" }],
      degraded: expect.stringContaining("the index is being made"),
    });
    release();
  });

  test("when the database is damaged while it is open, the files answer and it is rebuilt", async () => {
    const engine = open(hostOf());
    await engine.sync({ force: false, reason: "test" });
    await ask(engine, "router");
    const other = new Sqlite(ws.settings.dbPath);
    other.unsafeMode(true);
    other.exec("UPDATE chunks_fts_data SET block = x'ffffffffffffffffff'");
    other.close();

    const found = await ask(engine, "router");

    expect(found).toMatchObject({ hits: [{ path: "MEMORY.md" }], degraded: expect.stringContaining("damaged") });
    await eventually(async () => (await ask(engine, "router")).degraded === undefined);
  });

  test("when its file cannot be read, the files answer and say why", async () => {
    const engine = open(hostOf());
    await engine.sync({ force: false, reason: "test" });
    await engine.reset();
    mkdirSync(dirname(ws.settings.dbPath), { recursive: true });
    writeFileSync(ws.settings.dbPath, "this is no database, but it is long enough to look like one ".repeat(100));
    const found = await ask(engine, "router");
    expect(found.hits[0]?.path).toBe("MEMORY.md");
  });
});

describe("an outage", () => {
  test.each(["auth", "quota", "network"] as const)("of kind %s leaves the words and says why", async (fault) => {
    const engine = open(hostOf({ query: () => Promise.reject(new EmbedFault(fault, `fake: ${fault}`)) }));
    await engine.setProvider({ provider: facts, keepVectors: true });
    await engine.sync({ force: false, reason: "test" });
    const found = await ask(engine, "router");
    expect(found).toMatchObject({ mode: "fts-only", hits: [{ path: "MEMORY.md" }], degraded: expect.stringContaining(`fake: ${fault}`) });
  });

  test("that lasts longer than the search ends the call and leaves the words", async () => {
    const signals: Array<AbortSignal | undefined> = [];
    const query = (signal: AbortSignal | undefined) => {
      signals.push(signal);
      return new Promise<Float32Array>(() => undefined);
    };
    const engine = open(hostOf({ query }));
    await engine.setProvider({ provider: facts, keepVectors: true });
    await engine.sync({ force: false, reason: "test" });
    const found = await ask(engine, "router", { timeoutMs: 200 });
    expect(found).toMatchObject({ mode: "fts-only", partial: true, hits: [{ path: "MEMORY.md" }] });
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  test("before anything could be asked keeps the vectors and says why", async () => {
    const engine = open(hostOf());
    await engine.setProvider({ provider: facts, keepVectors: true });
    await engine.sync({ force: false, reason: "test" });
    await engine.setProvider({ provider: null, keepVectors: true, reason: "OPENAI_API_KEY is not set" });
    expect((await ask(engine, "router")).degraded).toBe("only words were searched: OPENAI_API_KEY is not set");

    await engine.setProvider({ provider: facts, keepVectors: true });
    expect((await ask(engine, "automobile")).mode).toBe("hybrid");
  });
});

test("vectors of another model are never compared: words answer until the index is rebuilt", async () => {
  const gates: Array<() => void> = [];
  let isSlow = false;
  const documents = async (texts: string[]) => {
    if (isSlow) await new Promise<void>((resolve) => gates.push(resolve));
    return texts.map(vectorOf);
  };
  const engine = open(hostOf({ documents }));
  await engine.setProvider({ provider: facts, keepVectors: true });
  await engine.sync({ force: false, reason: "test" });

  isSlow = true;
  await engine.setProvider({ provider: { ...facts, model: "m2", providerKey: "k2" }, keepVectors: true });
  const meanwhile = await ask(engine, "router");
  expect(meanwhile).toMatchObject({ mode: "fts-only", degraded: expect.stringContaining("fake/m1"), hits: [{ path: "MEMORY.md" }] });

  isSlow = false;
  await eventually(async () => {
    for (const open of gates.splice(0)) open();
    return (await ask(engine, "automobile")).mode === "hybrid";
  });
});

test("a choice of no provider is not a lack", async () => {
  const engine = open(hostOf());
  await engine.setProvider({ provider: null, keepVectors: false });
  await engine.sync({ force: false, reason: "test" });
  const found = await ask(engine, "router");
  expect(found.mode).toBe("fts-only");
  expect(found.degraded).toBeUndefined();
});

test("a question that was embedded by one provider is never compared with the index of the next one, whose vectors have the same length", async () => {
  let answer: ((vector: Float32Array) => void) | undefined;
  const query = () =>
    new Promise<Float32Array>((resolve) => {
      answer = resolve;
    });
  const engine = open(hostOf({ query }));
  await engine.setProvider({ provider: facts, keepVectors: true });
  await engine.sync({ force: false, reason: "test" });

  const asked = ask(engine, "router");
  await eventually(() => answer !== undefined);
  await engine.setProvider({ provider: { ...facts, model: "m2", providerKey: "k2" }, keepVectors: true });
  await eventually(async () => (await engine.status(false)).vectors?.model === "m2");
  answer?.(vectorOf("car"));

  expect(await asked).toMatchObject({
    mode: "fts-only",
    hits: [{ path: "MEMORY.md" }],
    degraded: "only words were searched: the embedding provider changed meanwhile",
  });
});

test("a question that was embedded before the provider was given up is compared all the same", async () => {
  let answer: ((vector: Float32Array) => void) | undefined;
  const query = () =>
    new Promise<Float32Array>((resolve) => {
      answer = resolve;
    });
  const engine = open(hostOf({ query }));
  await engine.setProvider({ provider: facts, keepVectors: true });
  await engine.sync({ force: false, reason: "test" });

  const asked = ask(engine, "automobile");
  await eventually(() => answer !== undefined);
  await engine.setProvider({ provider: null, keepVectors: true, reason: "fake: 503" });
  answer?.(vectorOf("car"));

  expect(await asked).toMatchObject({ mode: "hybrid", hits: [{ path: "memory/car.md" }] });
});
