import { expect, test } from "vitest";
import { createTextEmbedder, type EmbedRequest, type TextEmbedderOptions } from "./text-embedder.ts";

function create(own: Partial<TextEmbedderOptions> = {}) {
  const asked: EmbedRequest[] = [];
  const embedder = createTextEmbedder({
    adapter: "acme",
    maxItemsPerRequest: 3,
    limits: { queryMs: 1_000, batchMs: 2_000 },
    ask: async (request) => {
      asked.push(request);
      return { vectors: request.texts.map((text) => Float32Array.of(text.length, 1)), tokens: request.texts.length };
    },
    ...own,
  });
  return { ...embedder, asked };
}

test("calls are split by the number of texts and by their bytes; one that is too long alone goes alone", async () => {
  const many = create();
  expect(await many.embedBatch(["a", "bb", "ccc", "dddd"])).toHaveLength(4);
  expect(many.asked.map(({ texts }) => texts)).toEqual([["a", "bb", "ccc"], ["dddd"]]);

  const long = create({ maxBytesPerRequest: 6 });
  await long.embedBatch(["éé", "bb", "c", "0123456789", "d"]);
  expect(long.asked.map(({ texts }) => texts)).toEqual([["éé", "bb"], ["c"], ["0123456789"], ["d"]]);
});

test("questions and documents have their own limits, and the tokens of a call are told once", async () => {
  const { embedQuery, embedBatch, asked } = create();
  const told: number[] = [];
  await embedQuery("q", { onUsage: (tokens) => void told.push(tokens) });
  await embedBatch(["a", "b", "c", "d"], { onUsage: (tokens) => void told.push(tokens) });

  expect(asked.map(({ kind, timeoutMs }) => [kind, timeoutMs])).toEqual([
    ["query", 1_000],
    ["document", 2_000],
    ["document", 2_000],
  ]);
  expect(told).toEqual([1, 4]);
});

test("a length that was learnt holds from then on", async () => {
  let length = 2;
  const { embedBatch } = create({ ask: async ({ texts }) => ({ vectors: texts.map(() => new Float32Array(length).fill(1)) }) });
  await embedBatch(["a"]);
  length = 3;
  await expect(embedBatch(["a"])).rejects.toMatchObject({ fault: "bad-response" });
});

test("blank texts are not sent; alone they can only be refused while no length is known", async () => {
  const { embedBatch, asked } = create();
  await expect(embedBatch([" "])).rejects.toMatchObject({ fault: "invalid-request" });
  expect(await embedBatch(["", "a"])).toEqual([new Float32Array(2), expect.any(Float32Array)]);
  expect(await embedBatch([" "])).toEqual([new Float32Array(2)]);
  expect(await embedBatch([])).toEqual([]);
  expect(asked).toHaveLength(1);
});

test("an abort between two requests ends the call", async () => {
  const stop = new AbortController();
  const { embedBatch, asked } = create({
    ask: async ({ texts, signal }) => {
      signal?.throwIfAborted();
      asked.push({ texts, kind: "document", timeoutMs: 0, signal });
      stop.abort();
      return { vectors: texts.map(() => Float32Array.of(1)) };
    },
  });
  await expect(embedBatch(["a", "b", "c", "d"], { signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
  expect(asked).toHaveLength(1);
});
