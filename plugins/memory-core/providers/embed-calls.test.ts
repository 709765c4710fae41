import type { EmbeddingBatchResult } from "svc/sdk";
import { fakeClock } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { testFacts } from "../test-host.ts";
import { createEmbedCalls } from "./embed-calls.ts";
import type { OpenedProvider } from "./open-provider.ts";

function callsWith(lines: Iterable<EmbeddingBatchResult>) {
  const batch = {
    async *results() {
      yield* lines;
    },
  };
  const opened = { provider: {}, batch, facts: testFacts({ batch: true, dims: 2 }) } as unknown as OpenedProvider;
  return createEmbedCalls({ timers: fakeClock() as never }, opened);
}

test("results of a job stand where their texts stood, each failure at its own place", async () => {
  const calls = callsWith([
    { index: 2, vector: Float32Array.of(0, 2) },
    { index: 0, error: "blocked" },
    { index: 3, vector: Float32Array.of(1, 2, 3) },
    { index: 7, vector: Float32Array.of(1, 0) },
  ]);
  expect(await calls.batchResults({ job: "j", count: 4 }, new AbortController().signal)).toEqual([
    "blocked",
    "the batch holds no result for it",
    Float32Array.of(0, 1),
    expect.stringContaining("expected 2 dimensions, got 3"),
  ]);
});

test("results of a job share few pieces of memory, none of them the vendor's", async () => {
  const vectors = Array.from({ length: 3_000 }, () => Float32Array.of(1, 0));
  const results = await callsWith(vectors.map((vector, index) => ({ index, vector }))).batchResults(
    { job: "j", count: 3_000 },
    new AbortController().signal,
  );
  const memory = new Set(results.map((one) => (typeof one === "string" ? one : one.buffer)));
  expect(memory.size).toBe(1);
  expect(vectors.every(({ buffer }) => !memory.has(buffer))).toBe(true);
});

test("vectors of texts share one piece of memory, which is not the vendor's", async () => {
  const vectors = [Float32Array.of(1, 0), Float32Array.of(0, 2)];
  const provider = { embedBatch: async () => vectors };
  const opened = { provider, batch: undefined, facts: testFacts({ dims: 2 }) } as unknown as OpenedProvider;
  const found = await createEmbedCalls({ timers: fakeClock() as never }, opened).embed({ texts: ["a", "b"] }, new AbortController().signal);
  expect(found).toEqual([Float32Array.of(1, 0), Float32Array.of(0, 1)]);
  expect(new Set(found.map(({ buffer }) => buffer)).size).toBe(1);
  expect(vectors.some(({ buffer }) => buffer === found[0]?.buffer)).toBe(false);
});

test("vectors that fill much of a large piece of memory stay in it, and others beside them are copied", async () => {
  const slab = new Float32Array(32_768).fill(2);
  const vectors = [slab.subarray(0, 16_384), slab.subarray(16_384), new Float32Array(70_000).subarray(0, 16_384).fill(2)];
  const provider = { embedBatch: async () => vectors, normalized: true };
  const opened = { provider, batch: undefined, facts: testFacts({ dims: 16_384 }) } as unknown as OpenedProvider;
  const found = await createEmbedCalls({ timers: fakeClock() as never }, opened).embed(
    { texts: ["a", "b", "c"] },
    new AbortController().signal,
  );
  expect(found).toEqual(vectors);
  expect(found.map(({ buffer }) => buffer === slab.buffer)).toEqual([true, true, false]);
  expect(found[2]?.buffer.byteLength).toBe(16_384 * 4);
});

test("a model that another one replaced under its name may have another length: what holds is what its index was made with", async () => {
  let length = 2;
  const provider = { embedBatch: async (texts: readonly string[]) => texts.map(() => new Float32Array(length).fill(1)) };
  const { dims: _told, ...facts } = testFacts();
  const calls = createEmbedCalls({ timers: fakeClock() as never }, { provider, batch: undefined, facts } as unknown as OpenedProvider);
  const embed = async () => (await calls.embed({ texts: ["a"] }, new AbortController().signal))[0]?.length;
  expect(await embed()).toBe(2);
  length = 3;
  expect(await embed()).toBe(3);
});
