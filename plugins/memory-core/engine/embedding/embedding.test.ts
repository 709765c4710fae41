import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestEngine, type TestEngine } from "../../test-engine.ts";
import { createTestHost, embedFault, TEST_DIMS, type TestHost, testFacts, wordVector } from "../../test-host.ts";
import { createTestWorkspace, type TestWorkspace } from "../../test-workspace.ts";

let ws: TestWorkspace;
let host: TestHost;
let index: TestEngine;
beforeEach(() => {
  ws = createTestWorkspace({ "MEMORY.md": "# Home\n\nThe router stands in the hall.\n", "memory/car.md": "My car is fast.\n" });
  host = createTestHost();
  index = createTestEngine(ws.settings, host);
});
afterEach(async () => {
  await index.close();
  ws.remove();
});

const texts = () => host.groups.flat();
const failures = () => index.news.filter((item) => item.news === "embedding-failed");
const hitOf = async (path: string, query: string) => (await index.search(query)).hits.find((hit) => hit.path === path);

test("a search finds by meaning and by words once the documents are embedded", async () => {
  await index.provide(testFacts());
  await index.sync();
  expect(await index.search("hall router")).toMatchObject({ mode: "hybrid" });
  expect((await index.search("hall router")).hits[0]).toMatchObject({ path: "MEMORY.md", vectorScore: expect.any(Number) });
  expect(await index.status()).toMatchObject({
    vectors: { provider: "test", model: "words", dims: TEST_DIMS },
    vector: { dims: TEST_DIMS },
  });
});

test("the heading path is embedded with the text, and not stored with it", async () => {
  await index.provide(testFacts());
  ws.write("memory/deep.md", `# House\n\n## Cellar\n\n${"The boiler hums all night long.\n".repeat(80)}`);
  await index.sync();
  const pieces = texts().filter((text) => text.includes("boiler"));
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.every((text) => text.startsWith("House"))).toBe(true);
  expect(pieces.slice(1).every((text) => text.startsWith("House > Cellar\n\n"))).toBe(true);
});

test("only what changed is embedded again", async () => {
  await index.provide(testFacts());
  await index.sync();
  host.groups.length = 0;
  await index.sync();
  expect(texts()).toEqual([]);
  ws.write("memory/car.md", "My bicycle is slow.\n");
  await index.sync();
  expect(texts()).toEqual(["My bicycle is slow."]);
});

test("texts of many files share a request, within the limits of the provider", async () => {
  for (let i = 0; i < 300; i++) ws.write(`memory/${i}.md`, `note number ${i}`);
  await index.provide(testFacts({ maxTokensPerRequest: 100_000 }));
  await index.sync();
  expect(Math.max(...host.groups.map((group) => group.length))).toBe(128);
  await index.reopen(testFacts({ providerKey: "2", maxItemsPerRequest: 7, maxTokensPerRequest: 100_000 }));
  host.groups.length = 0;
  await index.sync();
  expect(Math.max(...host.groups.map((group) => group.length))).toBe(7);
});

test("a provider that tells no limit gets 8,000 bytes at a time", async () => {
  for (let i = 0; i < 40; i++) ws.write(`memory/${i}.md`, `${i} ${"x".repeat(1_000)}`);
  await index.provide(testFacts());
  await index.sync();
  const sizes = host.groups.map((group) => group.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(8_000);
  expect(Math.max(...sizes)).toBeGreaterThan(7_000);
});

test("at most four requests are under way at a time", async () => {
  for (let i = 0; i < 60; i++) ws.write(`memory/${i}.md`, `note ${i}`);
  let open = 0;
  let most = 0;
  host.embed = async () => {
    most = Math.max(most, ++open);
    await new Promise((resolve) => setImmediate(resolve));
    open--;
    return undefined;
  };
  await index.provide(testFacts({ maxItemsPerRequest: 2 }));
  await index.sync();
  expect(most).toBe(4);
});

test("a text is never longer than the provider takes, pieces keep their lines", async () => {
  ws.write("memory/long.md", `# Title\n\n${"é".repeat(900)}\n`);
  await index.provide(testFacts({ maxInputTokens: 256 }));
  await index.sync();
  expect(Math.max(...texts().map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(256);
  expect(
    texts()
      .filter((text) => text.includes("é"))
      .join("")
      .match(/é/g),
  ).toHaveLength(900);
});

test("passing faults are tried four times, with growing delays", async () => {
  await index.provide(testFacts());
  host.embed = (_texts, nth) => {
    if (nth <= 3) throw embedFault("overloaded");
    return undefined;
  };
  await index.sync();
  expect(index.waits.map((ms) => Math.floor(ms / 500))).toEqual([1, 2, 4]);
  expect(await index.search("router")).toMatchObject({ mode: "hybrid" });
});

test("a Retry-After is obeyed, and never longer than a minute", async () => {
  await index.provide(testFacts());
  host.embed = (_texts, nth) => {
    if (nth === 1) throw embedFault("rate-limit", "slow down", 1_234);
    if (nth === 2) throw embedFault("rate-limit", "slow down", 3_600_000);
    return undefined;
  };
  await index.sync();
  expect(index.waits).toEqual([1_234, 60_000]);
});

test.each(["auth", "quota", "model", "no-credentials"] as const)(
  "%s is not tried again: words are indexed, the owner is told, vectors come later",
  async (fault) => {
    await index.provide(testFacts());
    host.embed = () => {
      throw embedFault(fault, "key rejected by test");
    };
    await index.sync();
    expect([host.groups.length, index.waits]).toEqual([1, []]);
    expect(failures()).toEqual([{ news: "embedding-failed", provider: "test", fault, message: "key rejected by test" }]);
    expect(await index.search("router")).toMatchObject({ mode: "fts-only", hits: [{ path: "MEMORY.md" }], degraded: expect.any(String) });
    expect((await index.status()).lastError).toContain("key rejected by test");

    host.embed = () => undefined;
    await index.sync({ reason: "request" });
    expect(await index.search("router")).toMatchObject({ mode: "hybrid" });
    expect((await index.status()).lastError).toBeUndefined();
  },
);

test("while the provider pauses nobody calls it, and changes are searchable by their words", async () => {
  await index.provide(testFacts());
  await index.sync();
  host.groups.length = 0;
  host.embed = () => {
    throw embedFault("auth");
  };
  ws.write("memory/one.md", "a walrus");
  await index.sync();
  ws.write("memory/two.md", "a penguin");
  await index.sync();
  expect(host.groups).toHaveLength(1);
  expect(await hitOf("memory/two.md", "penguin")).toMatchObject({ textScore: expect.any(Number) });
  expect(await hitOf("memory/one.md", "walrus")).toMatchObject({ textScore: expect.any(Number) });

  host.embed = () => undefined;
  host.groups.length = 0;
  await index.sync({ reason: "request" });
  expect(texts().sort()).toEqual(["a penguin", "a walrus"]);
  expect(await hitOf("memory/two.md", "penguin")).toMatchObject({ vectorScore: expect.any(Number) });
});

test("a group that is too long is halved, a single text that is too long is left out with a warning", async () => {
  for (let i = 0; i < 8; i++) ws.write(`memory/${i}.md`, i === 5 ? "the walrus essay" : `note ${i}`);
  host.embed = (group) => {
    if (group.length > 2 || group.some((text) => text.includes("walrus"))) throw embedFault("too-long", "too many tokens");
    return undefined;
  };
  await index.provide(testFacts());
  await index.sync();
  expect(index.logs().filter((message) => message.includes("memory/5.md"))).toEqual([
    "memory file memory/5.md was skipped: too many tokens",
  ]);
  expect(await hitOf("memory/5.md", "walrus")).toMatchObject({ textScore: expect.any(Number) });
  expect(await hitOf("memory/7.md", "note 7")).toMatchObject({ vectorScore: expect.any(Number) });
  expect(failures()).toEqual([]);
  host.groups.length = 0;
  await index.sync();
  expect(host.groups).toEqual([]);
});

test("the text that makes a request invalid is found and left out", async () => {
  for (let i = 0; i < 16; i++) ws.write(`memory/${i}.md`, i === 3 ? "poison" : `note ${i}`);
  host.embed = (group) => {
    if (group.some((text) => text.includes("poison"))) throw embedFault("invalid-request", "bad input");
    return undefined;
  };
  await index.provide(testFacts());
  await index.sync();
  expect(index.logs().filter((message) => message.includes("bad input"))).toEqual(["memory file memory/3.md was skipped: bad input"]);
  expect(host.groups.length).toBeLessThan(14);
  expect(failures()).toEqual([]);
});

test("when every request is invalid the request itself is wrong: nothing is marked as done", async () => {
  host.embed = () => {
    throw embedFault("invalid-request", "unknown parameter");
  };
  await index.provide(testFacts());
  await index.sync();
  expect(failures()).toHaveLength(1);
  host.embed = () => undefined;
  await index.sync({ reason: "request" });
  expect(await index.search("router")).toMatchObject({ mode: "hybrid" });
});

test.each([
  ["too few vectors", (group: string[]) => group.slice(1).map((text) => wordVector(text))],
  ["another length", (group: string[]) => group.map((text) => wordVector(text, 8))],
  ["a NaN", (group: string[]) => group.map(() => new Float32Array(TEST_DIMS).fill(Number.NaN))],
  ["an infinite number", (group: string[]) => group.map(() => new Float32Array(TEST_DIMS).fill(Number.POSITIVE_INFINITY))],
  ["empty vectors", (group: string[]) => group.map(() => new Float32Array(0))],
])("an answer with %s is asked for once more and never stored", async (_, wrong) => {
  await index.provide(testFacts());
  host.embed = (group) => wrong(group);
  await index.sync();
  expect(host.groups).toHaveLength(2);
  expect(failures()).toMatchObject([{ fault: "bad-response" }]);
  expect((await index.status()).vectors).toBeUndefined();
  expect(await hitOf("MEMORY.md", "router")).toMatchObject({ textScore: expect.any(Number) });
});

test("a text that has no sound vector is found and left out, once the provider has shown that others have", async () => {
  await index.provide(testFacts());
  await index.sync();
  for (let i = 0; i < 16; i++) ws.write(`memory/${i}.md`, i === 3 ? "poison" : `note ${i}`);
  host.embed = (group) => group.map((text) => (text.includes("poison") ? new Float32Array(TEST_DIMS).fill(Number.NaN) : wordVector(text)));
  await index.sync();
  expect(index.logs().filter((message) => message.includes("was skipped"))).toEqual([
    expect.stringContaining("memory/3.md was skipped: the provider answered with a vector with a number that is none"),
  ]);
  expect(failures()).toEqual([]);
  expect(await hitOf("memory/9.md", "note 9")).toMatchObject({ vectorScore: expect.any(Number) });
  expect(await hitOf("memory/3.md", "poison")).toMatchObject({ textScore: expect.any(Number) });
});

test("a provider that has answered well and then has no sound vector for anything is left alone, and no text is blamed", async () => {
  await index.provide(testFacts());
  await index.sync();
  for (let i = 0; i < 16; i++) ws.write(`memory/${i}.md`, `note ${i}`);
  host.groups.length = 0;
  host.embed = (group) => group.map(() => new Float32Array(0));
  await index.sync();
  expect(host.groups).toHaveLength(4);
  expect(failures()).toMatchObject([{ fault: "bad-response" }]);
  expect(index.logs()).toEqual([]);
});

test("a vector without a direction is not indexed, its words are", async () => {
  host.embed = (group) => group.map((text) => (text.includes("car") ? new Float32Array(TEST_DIMS) : wordVector(text)));
  await index.provide(testFacts());
  await index.sync();
  expect(await hitOf("memory/car.md", "car")).toMatchObject({ textScore: expect.any(Number) });
  host.groups.length = 0;
  await index.sync();
  expect(host.groups).toEqual([]);
});

test("a provider that does not tell its length is taken at its first vector", async () => {
  const { dims: _, ...facts } = testFacts();
  await index.provide(facts);
  await index.sync();
  expect((await index.status()).vectors).toMatchObject({ dims: TEST_DIMS });
  await index.reopen(facts);
  host.groups.length = 0;
  await index.sync();
  expect(host.groups).toEqual([]);
});

test("progress of embedding is told", async () => {
  await index.provide(testFacts());
  await index.sync();
  const phases = index.news.flatMap((item) => (item.news === "progress" ? [item.progress.phase] : []));
  expect(new Set(phases)).toEqual(new Set(["scan", "embed", "write", "swap", "done"]));
});
