import type { EmbeddingContext, OpenedEmbedding } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { createTestRequests, embeddingContext } from "svc/sdk/testing";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFakeOpenAiEmbeddings, type FakeOpenAiEmbeddings } from "../../test/fakes/embedding-openai.ts";
import { createOpenAiAdapter } from "./adapter.ts";

const requests = createTestRequests();
afterAll(() => requests.close());

let server: FakeOpenAiEmbeddings;
const opened: OpenedEmbedding[] = [];
const plugin = { env: {}, secret: () => undefined, signal: new AbortController().signal, request: requests.request };

beforeEach(async () => {
  server = await createFakeOpenAiEmbeddings();
});

afterEach(async () => {
  for (const { provider } of opened.splice(0)) await provider.close?.();
  await server.close();
});

async function open(context: Partial<EmbeddingContext> = {}): Promise<OpenedEmbedding> {
  const remote = { baseUrl: server.url, apiKey: server.apiKey, ...context.remote };
  const one = await createOpenAiAdapter(plugin).create(embeddingContext({ ...context, remote }));
  opened.push(one);
  return one;
}

const bodies = () => server.requests.map((request) => request.body);

describe("the request", () => {
  test("is the vendor's, for questions as for documents", async () => {
    const { provider } = await open();

    await provider.embedBatch(["a", "b"]);
    await provider.embedQuery("c");

    expect(bodies()).toEqual([
      { model: "text-embedding-3-small", input: ["a", "b"], encoding_format: "base64" },
      { model: "text-embedding-3-small", input: ["c"], encoding_format: "base64" },
    ]);
    expect(server.requests[0]).toMatchObject({
      method: "POST",
      path: "/v1/embeddings",
      headers: { authorization: `Bearer ${server.apiKey}` },
    });
  });

  test("has dimensions only when they were chosen and the model is known to take them", async () => {
    const warnings: string[] = [];
    const logger = { ...embeddingContext({}).logger, warn: (message: string) => void warnings.push(message) };
    await (await open({ outputDimensionality: 256 })).provider.embedBatch(["a"]);
    await (await open({ model: "openai/text-embedding-3-large", outputDimensionality: 1_024 })).provider.embedBatch(["a"]);
    await (await open({ model: "text-embedding-ada-002", outputDimensionality: 1_536 })).provider.embedBatch(["a"]);
    await (await open({ model: "bge-small", outputDimensionality: 99, logger })).provider.embedBatch(["a"]);

    expect(bodies().map((body) => (body as { dimensions?: number }).dimensions)).toEqual([256, 1_024, undefined, undefined]);
    expect(warnings).toEqual([expect.stringContaining("outputDimensionality is not sent")]);
  });

  test("names the type of text for a server that wants one, and none for any other", async () => {
    const typed = await createFakeOpenAiEmbeddings({ inputTypes: ["query", "passage"], dims: 8 });
    const remote = { baseUrl: typed.url, apiKey: typed.apiKey };
    const { provider, batch } = await open({ model: "e5", remote, inputTypes: { query: "query", document: "passage" } });

    await provider.embedBatch(["a"]);
    await provider.embedQuery("b");
    await batch?.submit(["c"], { tag: "t" });
    const refused = (await open({ model: "e5", remote })).provider.embedQuery("c");
    await expect(refused).rejects.toMatchObject({ fault: "invalid-request", message: expect.stringContaining("'input_type' is missing") });
    await typed.close();

    const asked = typed.requests.filter(({ path }) => path === "/v1/embeddings");
    expect(asked.map(({ body }) => (body as { input_type?: string }).input_type)).toEqual(["passage", "query", undefined]);
    expect([...typed.batches.files.values()]).toMatchObject([[{ body: { input: "c", input_type: "passage" } }]]);
  });

  test("types belong to the identity, and an index without any keeps the one it has", async () => {
    const idOf = async (inputTypes?: EmbeddingContext["inputTypes"]) =>
      JSON.stringify((await open({ model: "e5", ...(inputTypes ? { inputTypes } : {}) })).identity);
    const ids = await Promise.all([idOf(), idOf({ query: "query" }), idOf({ query: "question" }), idOf({ document: "query" })]);
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).not.toContain("inputTypes");
  });

  test("goes to the same address with and without a slash at its end, with the headers of the operator", async () => {
    const config = parseSharedConfig({ models: { providers: { openai: { headers: { "X-Team": "hidden" } } } } });
    const remote = { baseUrl: `${server.url}/`, headers: { "X-TIER": "2" } };
    const source = { ...plugin, secret: (path: string) => (path.includes("X-Team") ? "a" : undefined) };
    const { provider } = await createOpenAiAdapter(source).create(
      embeddingContext({ config, remote: { ...remote, apiKey: server.apiKey } }),
    );

    await provider.embedQuery("a");
    await provider.close?.();

    expect(server.requests[0]).toMatchObject({ path: "/v1/embeddings", headers: { "x-team": "a", "x-tier": "2" } });
    expect(server.requests[0]?.headerNames.filter((name) => name === "authorization")).toHaveLength(1);
  });

  test("holds at most 2,048 texts and 300,000 bytes", async () => {
    const { provider } = await open();
    expect(provider).toMatchObject({ maxItemsPerRequest: 2_048, maxTokensPerRequest: 300_000, maxInputTokens: 8_192 });

    await provider.embedBatch(Array.from({ length: 2_049 }, (_, i) => `text ${i}`));
    await provider.embedBatch(Array.from({ length: 3 }, () => "word ".repeat(5_000)));

    const sizes = bodies().map((body) => (body as { input: string[] }).input.length);
    expect(sizes).toEqual([2_048, 1, 3]);
    server.requests.length = 0;
    await provider.embedBatch(Array.from({ length: 13 }, () => "word ".repeat(5_000)));
    expect(bodies().map((body) => (body as { input: string[] }).input.length)).toEqual([12, 1]);
  });

  test("leaves out blank texts, which get a vector without a direction", async () => {
    const { provider } = await open();

    const [blank, full] = await provider.embedBatch(["", "full", "  "]);

    expect(bodies()).toMatchObject([{ input: ["full"] }]);
    expect(blank).toEqual(new Float32Array(1_536));
    expect(full?.some((value) => value !== 0)).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  test("asks a server that knows no base64 for numbers", async () => {
    const { provider } = await open();
    server.script({ status: 400, message: "encoding_format: only float is supported" });

    expect((await provider.embedBatch(["a"]))[0]).toHaveLength(1_536);
    await provider.embedBatch(["b"]);

    expect(bodies().map((body) => (body as { encoding_format?: string }).encoding_format)).toEqual(["base64", undefined, undefined]);
  });
});

describe("the answer", () => {
  test("is put into the order of the texts", async () => {
    const { provider } = await open();
    const straight = await provider.embedBatch(["one thing", "another", "the third"]);
    server.script("shuffled");

    expect(await provider.embedBatch(["one thing", "another", "the third"])).toEqual(straight);
  });

  test("of a plain server of the same protocol is understood: numbers, and no index", async () => {
    const plain = await createFakeOpenAiEmbeddings({ plain: true, dims: 8 });
    const { provider } = await open({ model: "bge-small", remote: { baseUrl: plain.url, apiKey: plain.apiKey } });

    const vectors = await provider.embedBatch(["boiler pressure", "train"]);
    await plain.close();

    expect(vectors.map((vector) => vector.length)).toEqual([8, 8]);
    expect(provider.dims).toBeUndefined();
  });

  test("tells the tokens the vendor counted, once for a call of several requests", async () => {
    const { provider } = await open();
    const told: number[] = [];

    await provider.embedBatch(Array(2_049).fill("four"), { onUsage: (tokens) => void told.push(tokens) });

    expect(told).toEqual([2_049]);
  });

  test("of wrong vectors is bad-response, and a later good one is taken", async () => {
    const { provider } = await open();
    server.script("wrong-count", "short-vector", "wrong-dims", "nan", "truncated");

    for (let i = 0; i < 5; i++) await expect(provider.embedBatch(["a", "b"])).rejects.toMatchObject({ fault: "bad-response" });

    expect(await provider.embedBatch(["a", "b"])).toHaveLength(2);
  });
});

describe("a vendor that refuses", () => {
  test.each([
    [
      { status: 401, message: "Incorrect API key provided" },
      { fault: "auth", status: 401 },
    ],
    [
      { status: 404, message: "no such model" },
      { fault: "model", status: 404 },
    ],
    [
      { status: 413, message: "too large" },
      { fault: "too-long", status: 413 },
    ],
    [
      { status: 429, headers: { "retry-after": "3" } },
      { fault: "rate-limit", retryAfterMs: 3_000 },
    ],
    [{ status: 429, message: "You exceeded your current quota", code: "insufficient_quota" }, { fault: "quota" }],
    [{ status: 500 }, { fault: "overloaded", status: 500 }],
  ])("with %j is %j", async (answer, expected) => {
    const { provider } = await open();
    server.script(answer);

    await expect(provider.embedQuery("a")).rejects.toMatchObject(expected);
  });

  test("shows its words but never the key that it repeats", async () => {
    const { provider } = await open({ remote: { apiKey: "another-key-0123456789" } });

    const error = (await provider.embedQuery("a").catch((e: unknown) => e)) as Error;

    expect(error.message).toBe('embedding adapter "openai": the key was rejected; check it (401): Incorrect API key: ***');
  });

  test("by breaking the connection is network; by silence it is left by an abort, which closes the socket", async () => {
    const { provider } = await open();
    server.script("reset", "hang");
    await expect(provider.embedQuery("a")).rejects.toMatchObject({ fault: "network" });

    const stop = new AbortController();
    const call = expect(provider.embedQuery("b", { signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
    const request = await server.request(1);
    stop.abort();
    await call;
    expect(await request.ended).toEqual({ aborted: true });
  });
});

describe("dimensions", () => {
  test.each([
    ["text-embedding-3-small", undefined, 1_536],
    ["text-embedding-3-large", undefined, 3_072],
    ["text-embedding-3-large", 256, 256],
    ["text-embedding-ada-002", undefined, 1_536],
    ["another", undefined, undefined],
  ])("of %s with %s chosen are %s", async (model, outputDimensionality, dims) => {
    const { provider } = await open({ model, ...(outputDimensionality === undefined ? {} : { outputDimensionality }) });
    expect(provider.dims).toBe(dims);
  });

  test.each([
    ["text-embedding-3-small", 1_537, "1 to 1536"],
    ["text-embedding-ada-002", 512, "1536"],
  ])("of %s may not be %s", async (model, outputDimensionality, offered) => {
    await expect(open({ model, outputDimensionality })).rejects.toMatchObject({
      fault: "invalid-request",
      message: `embedding adapter "openai": outputDimensionality: ${model} offers ${offered}, got ${outputDimensionality}`,
    });
  });
});

describe("the identity", () => {
  const identityOf = async (context: Partial<EmbeddingContext>) => JSON.stringify((await open(context)).identity);

  test("stays when the key changes, also one in a header", async () => {
    const before = await identityOf({ remote: { apiKey: "first-key", headers: { "x-api-key": "1" } } });
    expect(await identityOf({ remote: { apiKey: "other-key", headers: { "x-api-key": "2" } } })).toBe(before);
    expect(before).not.toContain("first-key");
    expect(await identityOf({ outputDimensionality: 1_536, remote: { headers: { "x-api-key": "2" } } })).toBe(before);
  });

  test("changes with model, dimensions, address and headers", async () => {
    const all = await Promise.all([
      identityOf({}),
      identityOf({ model: "text-embedding-3-large" }),
      identityOf({ outputDimensionality: 512 }),
      identityOf({ remote: { baseUrl: `${server.url}/other` } }),
      identityOf({ remote: { headers: { "x-tier": "1" } } }),
    ]);
    expect(new Set(all).size).toBe(all.length);
  });
});

test("a provider that is of no use any more ends its calls", async () => {
  const ended = new AbortController();
  const { provider } = await open({ signal: ended.signal });
  server.script("hang");
  const call = expect(provider.embedQuery("a")).rejects.toMatchObject({ fault: "network" });
  const request = await server.request(0);
  ended.abort();
  await call;
  expect(await request.ended).toEqual({ aborted: true });
});

describe("the batch API", () => {
  const texts = ["first text", "second text", "third text"];
  const submit = async (tag = "tag-1") => {
    const { batch } = await open();
    if (!batch) throw new Error("the adapter has no batch API");
    return { batch, job: await batch.submit(texts, { tag }) };
  };
  const resultsOf = async (batch: NonNullable<OpenedEmbedding["batch"]>, job: string) => {
    const results = [];
    for await (const result of batch.results(job)) results.push(result);
    return results.sort((a, b) => a.index - b.index);
  };

  test("uploads lines, creates a job, and gives vectors by the ids of the lines", async () => {
    const { batch, job } = await submit();

    expect(await batch.poll(job)).toEqual({ state: "done" });
    const results = await resultsOf(batch, job);

    expect(batch.maxRequests).toBe(50_000);
    expect([...server.batches.files.values()]).toEqual([
      texts.map((input, i) => ({
        custom_id: String(i),
        method: "POST",
        url: "/v1/embeddings",
        body: { model: "text-embedding-3-small", input },
      })),
    ]);
    expect(server.batches.batches[0]?.body).toEqual({
      input_file_id: "file-in-0",
      endpoint: "/v1/embeddings",
      completion_window: "24h",
      metadata: { svc_tag: "tag-1", svc_digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const { provider } = await open();
    const plain = await provider.embedBatch(texts);
    for (const [i, result] of results.entries()) {
      const vector = "vector" in result ? result.vector : undefined;
      expect(result.index).toBe(i);
      expect(vector?.reduce((sum, value, at) => sum + value * (plain[i]?.[at] ?? 0), 0)).toBeCloseTo(1, 5);
    }
  });

  test("says what a job of a later process has come to, without any credential in it", async () => {
    server.batches.plan = { statuses: ["validating", "in_progress", "finalizing", "completed"] };
    const { job } = await submit();
    expect(job).not.toContain(server.apiKey);
    const { batch } = await open();

    const states = [];
    for (let i = 0; i < 4; i++) states.push((await batch?.poll(job))?.state);

    expect(states).toEqual(["pending", "pending", "pending", "done"]);
  });

  test("tells which texts failed and which are missing", async () => {
    server.batches.plan = { failing: [0], missing: [1] };
    const { batch, job } = await submit();

    expect(await resultsOf(batch, job)).toEqual([
      { index: 0, error: "this text is bad" },
      { index: 1, error: "the result has no line for it" },
      { index: 2, vector: expect.any(Float32Array) },
    ]);
  });

  test("reads the error file of a job in which every text failed", async () => {
    server.batches.plan = { allFail: true };
    const { batch, job } = await submit();

    expect(await batch.poll(job)).toEqual({ state: "done" });
    expect(await resultsOf(batch, job)).toEqual(texts.map((_, index) => ({ index, error: "this text is bad" })));
  });

  test.each(["failed", "expired", "cancelled"])("says why a job %s", async (status) => {
    server.batches.plan = { statuses: [status], failing: [0] };
    const { batch, job } = await submit();
    expect(await batch.poll(job)).toEqual({
      state: "failed",
      message: `embedding adapter "openai": the batch ended as ${status}: this text is bad`,
    });

    server.batches.plan = { statuses: [status], failing: [0], hidesErrors: true };
    expect(await batch.poll(job)).toEqual({
      state: "failed",
      message: expect.stringContaining("its error file could not be read"),
    });
  });

  test("tries a creation again after 429 and 5xx, three times at most, and takes its file away when it gives up", async () => {
    server.batches.plan = { creations: [500, 429] };
    await submit();
    expect(server.batches.batches).toHaveLength(1);

    server.batches.plan = { creations: [503, 503, 503] };
    await expect(submit("tag-2")).rejects.toMatchObject({ fault: "overloaded" });
    expect(server.batches.deleted).toEqual(["file-in-1"]);
    server.batches.plan = { creations: [400] };
    await expect(submit("tag-3")).rejects.toMatchObject({ fault: "invalid-request" });
    expect(server.requests.filter((request) => request.method === "POST" && request.path === "/v1/batches")).toHaveLength(7);
  });

  test("recognises a job that a failed creation left behind, and one of an earlier process", async () => {
    server.batches.plan = { creations: [-502] };
    const { job } = await submit();
    expect(server.batches.batches).toHaveLength(1);
    server.batches.plan = {};
    expect((await submit()).job).toBe(job);
    expect(server.batches.batches).toHaveLength(1);

    const { batch } = await open();
    await batch?.submit(["other texts"], { tag: "tag-1" });
    expect(server.batches.batches).toHaveLength(2);

    await batch?.cancel(job);
    const { job: next } = await submit();
    expect(next).not.toBe(job);
    expect(server.batches.batches).toHaveLength(3);

    // Its results may be deleted by now.
    server.batches.plan = { ageMs: 25 * 3_600_000 };
    expect((await submit()).job).not.toBe(next);
  });

  test("a look at a failed job ends with its caller, also while the error file is read", async () => {
    const { batch, job } = await submit();
    server.batches.plan = { statuses: ["failed"], failing: [0], stalls: true };
    const stop = new AbortController();
    const before = server.requests.length;
    const polled = expect(batch.poll(job, { signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
    await server.request(before + 1);
    stop.abort();
    await polled;
    expect(await server.requests[before + 1]?.ended).toEqual({ aborted: true });
  });

  test("cancels and cleans up as well as it can", async () => {
    const { batch, job } = await submit();

    await batch.cancel(job);
    await batch.cleanup(job);

    expect(server.batches.batches[0]?.cancelled).toBe(true);
    expect(server.batches.deleted).toEqual(["file-in-0"]);
    await batch.cancel("nonsense");
    await server.close();
    await batch.cleanup(job);
    server = await createFakeOpenAiEmbeddings();
  });

  test("is model where a server has none", async () => {
    const { batch } = await open({ remote: { baseUrl: `${server.url}/none` } });
    await expect(batch?.submit(texts, { tag: "t" })).rejects.toMatchObject({ fault: "model", status: 404 });
  });

  test("a submission that is aborted leaves no job", async () => {
    const { batch } = await open();
    await expect(batch?.submit(texts, { tag: "t", signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
    expect(server.batches.batches).toEqual([]);
  });
});
