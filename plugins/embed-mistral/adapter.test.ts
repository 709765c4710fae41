import type { EmbeddingContext, OpenedEmbedding } from "svc/sdk";
import { createTestRequests, embeddingContext } from "svc/sdk/testing";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { createFakeMistralEmbeddings } from "../../test/fakes/embedding-openai.ts";
import type { FakeEmbeddings } from "../../test/fakes/embedding-server.ts";
import { createMistralAdapter } from "./adapter.ts";

const requests = createTestRequests();
afterAll(() => requests.close());

let server: FakeEmbeddings;
const opened: OpenedEmbedding[] = [];
const adapter = createMistralAdapter({ env: {}, secret: () => undefined, signal: new AbortController().signal, request: requests.request });

beforeEach(async () => {
  server = await createFakeMistralEmbeddings();
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

test("questions and documents are sent alike, with nothing but model and texts", async () => {
  const { provider } = await open({ model: "mistral/mistral-embed" });

  const vectors = await provider.embedBatch(["a", "b"]);
  await provider.embedQuery("c");

  expect(bodies()).toEqual([
    { model: "mistral-embed", input: ["a", "b"] },
    { model: "mistral-embed", input: ["c"] },
  ]);
  expect(vectors.map((vector) => vector.length)).toEqual([1_024, 1_024]);
  expect(server.requests[0]).toMatchObject({ path: "/v1/embeddings", headers: { authorization: `Bearer ${server.apiKey}` } });
});

test("a request holds at most 256 texts", async () => {
  const { provider } = await open();
  expect(provider).toMatchObject({ dims: 1_024, maxInputTokens: 8_000, maxItemsPerRequest: 256 });

  await provider.embedBatch(Array.from({ length: 257 }, (_, i) => `text ${i}`));

  expect(bodies().map((body) => (body as { input: string[] }).input.length)).toEqual([256, 1]);
});

test("only the model that offers other lengths is asked for one", async () => {
  const { provider } = await open({ model: "codestral-embed", outputDimensionality: 512 });
  expect((await provider.embedBatch(["a"]))[0]).toHaveLength(512);
  await (await open({ outputDimensionality: 1_024 })).provider.embedBatch(["a"]);

  expect(bodies()).toEqual([
    { model: "codestral-embed", input: ["a"], output_dimension: 512 },
    { model: "mistral-embed", input: ["a"] },
  ]);
  await expect(open({ outputDimensionality: 512 })).rejects.toMatchObject({
    fault: "invalid-request",
    message: 'embedding adapter "mistral": outputDimensionality: mistral-embed offers 1024, got 512',
  });
  await expect(open({ model: "codestral-embed", outputDimensionality: 4_000 })).rejects.toMatchObject({ fault: "invalid-request" });
});

test("the identity changes with model and length, not with the key", async () => {
  const identities = await Promise.all(
    [
      {},
      { remote: { baseUrl: server.url, apiKey: "other-key" } },
      { model: "codestral-embed" },
      { model: "codestral-embed", outputDimensionality: 512 },
    ].map(async (context) => JSON.stringify((await open(context)).identity)),
  );
  expect(identities[1]).toBe(identities[0]);
  expect(new Set(identities).size).toBe(3);
});

test("it is found by itself after the four before it, and only with a key", async () => {
  expect(adapter.autoSelectPriority).toBe(50);
  await expect(adapter.create(embeddingContext({ auto: true }))).rejects.toMatchObject({
    fault: "no-credentials",
    message: expect.stringContaining("MISTRAL_API_KEY"),
  });
  expect((await open()).batch).toBeUndefined();
});
