import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestEngine, type TestEngine } from "../../test-engine.ts";
import { createTestHost, type TestHost, testFacts } from "../../test-host.ts";
import { createTestWorkspace, type TestWorkspace } from "../../test-workspace.ts";
import { createPacer } from "../pacer.ts";
import { schemaSql } from "../schema.ts";
import { createEmbeddingCache, evictCache } from "./cache.ts";

let ws: TestWorkspace;
let host: TestHost;
let index: TestEngine;
beforeEach(() => {
  ws = createTestWorkspace({ "memory/car.md": "My car is fast." }, { cache: { enabled: true, maxEntries: 50_000 } });
  host = createTestHost();
  index = createTestEngine(ws.settings, host);
});
afterEach(async () => {
  await index.close();
  ws.remove();
});

const asked = () => host.groups.splice(0).flat();

test("a text that was embedded before is not embedded again, also in a new index", async () => {
  await index.provide(testFacts());
  await index.sync();
  expect(asked()).toEqual(["My car is fast."]);
  await index.sync({ force: true });
  ws.write("memory/copy.md", "My car is fast.");
  await index.sync();
  expect(asked()).toEqual([]);
  expect(await index.search("car")).toMatchObject({
    mode: "hybrid",
    hits: [{ vectorScore: expect.any(Number) }, { vectorScore: expect.any(Number) }],
  });
});

test("the heading path belongs to what is remembered", async () => {
  await index.provide(testFacts());
  await index.sync();
  asked();
  ws.write("memory/car.md", "# Garage\n\nMy car is fast.");
  await index.sync();
  expect(asked()).toHaveLength(1);
});

test("switched off it is neither read nor written, and its rows stay for later", async () => {
  await index.provide(testFacts());
  await index.sync();
  await index.reopen(testFacts(), { cache: { enabled: false, maxEntries: 1 } });
  asked();
  await index.sync({ force: true });
  expect(asked()).toEqual(["My car is fast."]);
  expect(await index.status()).toMatchObject({ cacheEntries: 1 });
  await index.reopen(testFacts());
  await index.sync({ force: true });
  expect(asked()).toEqual([]);
});

test.each([
  ["provider", { id: "other" }],
  ["model", { model: "other" }],
  ["key", { providerKey: "other" }],
])("vectors of another %s are of no use", async (_, over) => {
  await index.provide(testFacts());
  await index.sync();
  asked();
  await index.provide(testFacts(over));
  await index.sync();
  expect(asked()).toEqual(["My car is fast."]);
});

test("the least recently used entries go after a sync", async () => {
  await index.reopen(testFacts(), { cache: { enabled: true, maxEntries: 2 } });
  await index.sync();
  for (const name of ["a", "b"]) {
    ws.write(`memory/${name}.md`, `note ${name}`);
    await index.sync();
  }
  expect(await index.status()).toMatchObject({ cacheEntries: 2 });
  asked();
  await index.sync({ force: true });
  expect(asked()).toEqual(["My car is fast."]);
});

test("a hit refreshes an entry, so it outlives newer ones that nobody asked for", async () => {
  const db = new Sqlite(":memory:");
  db.exec(schemaSql("unicode61"));
  let now = 1;
  const cache = createEmbeddingCache(db, testFacts(), () => now++);
  for (const hash of ["a", "b", "c"]) cache.store(hash, Float32Array.of(1, 0));
  expect([...cache.lookup(["a"], 2).keys()]).toEqual(["a"]);
  await evictCache(db, 2, createPacer(new AbortController().signal));
  expect([...cache.lookup(["a", "b", "c"], 2).keys()].sort()).toEqual(["a", "c"]);
});

test("an entry of another length is none, and more than 400 are looked up", () => {
  const db = new Sqlite(":memory:");
  db.exec(schemaSql("unicode61"));
  const cache = createEmbeddingCache(db, testFacts(), Date.now);
  const hashes = Array.from({ length: 1_001 }, (_, i) => `h${i}`);
  for (const hash of hashes) cache.store(hash, Float32Array.of(1, 2, 3));
  expect(cache.lookup(hashes, 3).size).toBe(1_001);
  expect(cache.lookup(hashes, undefined).get("h7")).toEqual(Float32Array.of(1, 2, 3));
  expect(cache.lookup(hashes, 2).size).toBe(0);
});
