import type { EmbeddingContext, OpenedEmbedding } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { createTestRequests, embeddingContext } from "svc/sdk/testing";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { createFakeOllama, createFakeOtherServer, type FakeOllamaOptions } from "../../test/fakes/embedding-ollama.ts";
import type { FakeEmbeddings } from "../../test/fakes/embedding-server.ts";
import { createOllamaAdapter } from "./adapter.ts";

const requests = createTestRequests();
afterAll(() => requests.close());

const ended: Array<() => Promise<unknown> | undefined> = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

const ctx = { env: {}, secret: () => undefined, signal: new AbortController().signal, request: requests.request };

async function serve(options: FakeOllamaOptions = {}): Promise<FakeEmbeddings> {
  const server = await createFakeOllama(options);
  ended.push(() => server.close());
  return server;
}

async function open(
  server: FakeEmbeddings,
  context: Partial<EmbeddingContext> = {},
  adapter = createOllamaAdapter(ctx),
): Promise<OpenedEmbedding> {
  const one = await adapter.create(embeddingContext({ remote: { baseUrl: server.url }, ...context }));
  ended.push(() => one.provider.close?.());
  return one;
}

const bodiesOf = (server: FakeEmbeddings) => server.requests.map((request) => request.body);
const pathsOf = (server: FakeEmbeddings) => server.requests.map((request) => request.path);

describe("the request", () => {
  test("has the prefixes the model was trained with, and no key when there is none", async () => {
    const server = await serve();
    const { provider } = await open(server);

    const vectors = await provider.embedBatch(["a", "b"]);
    await provider.embedQuery("c");

    const common = { model: "nomic-embed-text", truncate: true, keep_alive: "5m" };
    expect(bodiesOf(server)).toEqual([
      { ...common, input: ["search_document: a", "search_document: b"] },
      { ...common, input: ["search_query: c"] },
    ]);
    expect(vectors.map((vector) => vector.length)).toEqual([768, 768]);
    // The first call may wait for a minute until the model is loaded.
    expect(provider.loadsModel).toBe(true);
    expect(server.requests[0]?.headerNames).not.toContain("authorization");
  });

  test.each([
    ["ollama/nomic-embed-text:latest", "search_query: q", "search_document: d"],
    ["mxbai-embed-large", "Represent this sentence for searching relevant passages: q", "d"],
    ["qwen3-embedding:0.6b", "Instruct: Given a search query, retrieve relevant passages that answer the query\nQuery: q", "d"],
    ["embeddinggemma", "task: search result | query: q", "title: none | text: d"],
    ["someone/bge-m3", "q", "d"],
    ["all-minilm:33m", "q", "d"],
    ["unheard-of", "q", "d"],
  ])("to %s has a question as %j and a document as %j", async (model, query, document) => {
    const name = model.replace("ollama/", "").replace(":latest", "");
    const server = await serve({
      models: [name],
      dims: { "mxbai-embed-large": 1_024, "qwen3-embedding:0.6b": 1_024, "someone/bge-m3": 1_024, "all-minilm:33m": 384 }[name] ?? 768,
    });
    const { provider } = await open(server, { model });

    await provider.embedQuery("q");
    await provider.embedBatch(["d"]);

    expect(bodiesOf(server)).toMatchObject([{ input: [query] }, { input: [document] }]);
  });

  test("goes to the root of a server whose address ends in /v1", async () => {
    const server = await serve();
    const { provider } = await open(server, { remote: { baseUrl: `${server.url}/v1/` } });
    await provider.embedQuery("a");
    expect(pathsOf(server)).toEqual(["/api/embed"]);
  });

  test("has a key where one is set for this server, and never the vendor's for another", async () => {
    const server = await serve({ isLocked: true });
    const config = parseSharedConfig({ models: { providers: { ollama: { baseUrl: server.url } } } });
    const withEnv = createOllamaAdapter({ ...ctx, env: { OLLAMA_API_KEY: server.apiKey } });

    await (await open(server, { remote: { baseUrl: server.url, apiKey: server.apiKey } })).provider.embedQuery("a");
    await (await open(server, { config, remote: { apiKey: "OLLAMA_API_KEY" } }, withEnv)).provider.embedQuery("a");
    await (await open(server, { config, remote: {} }, withEnv)).provider.embedQuery("a");

    const elsewhere = await open(server, {}, withEnv);
    await expect(elsewhere.provider.embedQuery("a")).rejects.toMatchObject({ fault: "auth" });
    expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  test("asks for another length only where the model offers it", async () => {
    const server = await serve();
    const { provider } = await open(server, { outputDimensionality: 256 });

    expect((await provider.embedBatch(["a"]))[0]).toHaveLength(256);
    expect(bodiesOf(server)).toMatchObject([{ dimensions: 256 }]);
    await expect(open(server, { model: "bge-m3", outputDimensionality: 256 })).rejects.toMatchObject({
      message: 'embedding adapter "ollama": outputDimensionality: bge-m3 offers 1024, got 256',
    });
    await expect(open(server, { model: "embeddinggemma", outputDimensionality: 300 })).rejects.toMatchObject({ fault: "invalid-request" });
  });

  test("tells the tokens the server counted", async () => {
    const { provider } = await open(await serve());
    const told: number[] = [];
    await provider.embedBatch(["a", "b"], { onUsage: (tokens) => void told.push(tokens) });
    expect(told).toEqual([10]);
  });
});

describe("a server that is too old for the route", () => {
  test("is asked by the older one, a text at a time, and its vectors get length 1", async () => {
    const server = await serve({ legacy: true });
    const { provider } = await open(server);

    const vectors = await provider.embedBatch(["a", "b"]);
    await provider.embedQuery("c");

    expect(pathsOf(server)).toEqual(["/api/embed", "/api/embeddings", "/api/embeddings", "/api/embeddings"]);
    expect(bodiesOf(server).slice(1)).toEqual([
      { model: "nomic-embed-text", prompt: "search_document: a", keep_alive: "5m" },
      { model: "nomic-embed-text", prompt: "search_document: b", keep_alive: "5m" },
      { model: "nomic-embed-text", prompt: "search_query: c", keep_alive: "5m" },
    ]);
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  });

  test("is remembered for the next provider of the same address", async () => {
    const server = await serve({ legacy: true });
    const adapter = createOllamaAdapter(ctx);
    await (await open(server, {}, adapter)).provider.embedQuery("a");
    await (await open(server, {}, adapter)).provider.embedQuery("b");
    expect(pathsOf(server)).toEqual(["/api/embed", "/api/embeddings", "/api/embeddings"]);
  });
});

describe("what is not found", () => {
  test.each([false, true])("is the model, with what to do about it (older server: %s)", async (legacy) => {
    const { provider } = await open(await serve({ legacy, models: [] }), { model: "bge-m3" });
    await expect(provider.embedQuery("a")).rejects.toMatchObject({
      fault: "model",
      status: 404,
      message: 'embedding adapter "ollama": the model "bge-m3" is not on the server; run "ollama pull bge-m3" there',
    });
  });

  test("is the route, at an address where something else answers", async () => {
    const server = await createFakeOtherServer();
    ended.push(() => server.close());
    const { provider } = await open(server);
    await expect(provider.embedQuery("a")).rejects.toMatchObject({ fault: "model", message: expect.stringContaining("check baseUrl") });
  });
});

test("no request is larger than 128 texts, and no text longer than the model's context with its prefix", async () => {
  const server = await serve();
  const { provider } = await open(server);
  await provider.embedBatch(Array.from({ length: 129 }, (_, i) => `text ${i}`));

  expect(provider).toMatchObject({ maxItemsPerRequest: 128, maxInputTokens: 2_048 - "search_document: ".length });
  expect(bodiesOf(server).map((body) => (body as { input: string[] }).input.length)).toEqual([128, 1]);
});

test("the identity changes with model, length and address, holds the prefixes, and no key", async () => {
  const server = await serve();
  const identityOf = async (context: Partial<EmbeddingContext>) => JSON.stringify((await open(server, context)).identity);
  const first = await identityOf({ remote: { baseUrl: server.url, apiKey: "first-key" } });

  expect(await identityOf({ remote: { baseUrl: server.url, apiKey: "other-key" } })).toBe(first);
  expect(JSON.parse(first)).toMatchObject({ prefix: { query: "search_query: ", document: "search_document: " } });
  const others = [{ model: "bge-m3" }, { outputDimensionality: 256 }, { remote: { baseUrl: `${server.url}/proxy` } }];
  expect(new Set([first, ...(await Promise.all(others.map(identityOf)))]).size).toBe(4);
});

test("it is never found by itself", () => {
  expect(createOllamaAdapter(ctx).autoSelectPriority).toBeUndefined();
});
