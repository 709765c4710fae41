import type { EmbeddingContext, OpenedEmbedding } from "svc/sdk";
import { createTestRequests, embeddingContext } from "svc/sdk/testing";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { createFakeVoyageEmbeddings, type FakeOpenAiEmbeddings } from "../../test/fakes/embedding-openai.ts";
import { createVoyageAdapter } from "./adapter.ts";

const requests = createTestRequests();
afterAll(() => requests.close());

let server: FakeOpenAiEmbeddings;
const opened: OpenedEmbedding[] = [];
const adapter = createVoyageAdapter({ env: {}, secret: () => undefined, signal: new AbortController().signal, request: requests.request });

beforeEach(async () => {
  server = await createFakeVoyageEmbeddings();
});

afterEach(async () => {
  for (const { provider } of opened.splice(0)) await provider.close?.();
  await server.close();
});

async function open(context: Partial<EmbeddingContext> = {}): Promise<OpenedEmbedding> {
  const one = await adapter.create(embeddingContext({ remote: { baseUrl: `${server.url}/`, apiKey: server.apiKey }, ...context }));
  opened.push(one);
  return one;
}

const bodies = () => server.requests.map((request) => request.body);

test("questions and documents are sent as what they are", async () => {
  const { provider } = await open({ model: "voyage/voyage-4" });

  const vectors = await provider.embedBatch(["a", "b"]);
  await provider.embedQuery("c");

  const common = { model: "voyage-4", truncation: true, encoding_format: "base64" };
  expect(bodies()).toEqual([
    { ...common, input: ["a", "b"], input_type: "document" },
    { ...common, input: ["c"], input_type: "query" },
  ]);
  expect(vectors.map((vector) => vector.length)).toEqual([1_024, 1_024]);
  expect(server.requests[0]).toMatchObject({ path: "/v1/embeddings", headers: { authorization: `Bearer ${server.apiKey}` } });
});

test("another length is asked for only when it was chosen", async () => {
  const { provider } = await open({ outputDimensionality: 256 });

  expect((await provider.embedBatch(["a"]))[0]).toHaveLength(256);
  expect(bodies()).toMatchObject([{ model: "voyage-4-large", output_dimension: 256 }]);
  await expect(open({ outputDimensionality: 300 })).rejects.toMatchObject({
    fault: "invalid-request",
    message: 'embedding adapter "voyage": outputDimensionality: voyage-4-large offers 256, 512, 1024, 2048, got 300',
  });
});

test.each([
  ["voyage-4-large", 1_024, 32_000, 120_000],
  ["voyage-4", 1_024, 32_000, 320_000],
  ["voyage-4-lite", 1_024, 32_000, 1_000_000],
  ["voyage-code-3", 1_024, 32_000, 120_000],
  ["voyage-3-lite", undefined, 16_000, 1_000_000],
  ["voyage-5", undefined, 32_000, 120_000],
])("the limits of %s are known", async (model, dims, maxInputTokens, maxTokensPerRequest) => {
  const { provider } = await open({ model });
  expect(provider).toMatchObject({ maxInputTokens, maxTokensPerRequest, maxItemsPerRequest: 1_000 });
  expect(provider.dims).toBe(dims);
});

test("a request holds at most 1,000 texts", async () => {
  const { provider } = await open();
  await provider.embedBatch(Array.from({ length: 1_001 }, (_, i) => `text ${i}`));
  expect(bodies().map((body) => (body as { input: string[] }).input.length)).toEqual([1_000, 1]);
});

test("a batch names model and kind of text once, and comes back by its ids", async () => {
  const { batch, provider } = await open({ outputDimensionality: 1_024 });
  const texts = ["first text", "second text"];
  const job = (await batch?.submit(texts, { tag: "t" })) ?? "";

  expect(await batch?.poll(job)).toEqual({ state: "done" });
  const results = [];
  for await (const result of batch?.results(job) ?? []) results.push(result);

  expect([...server.batches.files.values()]).toEqual([texts.map((text, i) => ({ custom_id: String(i), body: { input: [text] } }))]);
  expect(server.batches.batches[0]?.body).toMatchObject({
    endpoint: "/v1/embeddings",
    completion_window: "12h",
    request_params: { model: "voyage-4-large", input_type: "document", truncation: true, output_dimension: 1_024 },
    metadata: { svc_tag: "t" },
  });
  expect(results.map(({ index }) => index).sort()).toEqual([0, 1]);
  const plain = await provider.embedBatch(texts);
  for (const result of results) {
    const vector = "vector" in result ? result.vector : undefined;
    expect(vector?.reduce((sum, value, at) => sum + value * (plain[result.index]?.[at] ?? 0), 0)).toBeCloseTo(1, 5);
  }
});

test("a job of the same texts with another model or length is another job", async () => {
  const texts = ["first text", "second text"];
  const jobs = [];
  for (const context of [{}, { model: "voyage-4" }, { outputDimensionality: 512 }, {}])
    jobs.push(await (await open(context)).batch?.submit(texts, { tag: "t" }));

  expect(jobs[3]).toBe(jobs[0]);
  expect(new Set(jobs).size).toBe(3);
  expect(server.batches.batches).toHaveLength(3);
});

test("the identity changes with model, length and address, not with the key, and names the kinds of text", async () => {
  const identities = await Promise.all(
    [
      {},
      { remote: { baseUrl: server.url, apiKey: "other-key" } },
      { model: "voyage-4" },
      { outputDimensionality: 512 },
      { remote: { baseUrl: `${server.url}/other`, apiKey: "k" } },
    ].map(async (context) => JSON.stringify((await open(context)).identity)),
  );
  expect(identities[1]).toBe(identities[0]);
  expect(new Set(identities).size).toBe(4);
  expect(JSON.parse(identities[0] ?? "")).toMatchObject({ inputTypes: ["query", "document"] });
});

test("it is found by itself, but only with a key", async () => {
  expect(adapter.autoSelectPriority).toBe(40);
  await expect(adapter.create(embeddingContext({ auto: true }))).rejects.toMatchObject({
    fault: "no-credentials",
    message: expect.stringContaining("VOYAGE_API_KEY"),
  });
});
