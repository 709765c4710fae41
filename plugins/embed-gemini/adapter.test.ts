import type { EmbeddingContext, EmbeddingProvider, HttpRequestFunction, StructuredInput } from "svc/sdk";
import { createTestRequests, embeddingContext, embeddingContract } from "svc/sdk/testing";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createFakeGeminiEmbeddings } from "../../test/fakes/embedding-gemini.ts";
import type { RecordedEmbedding } from "../../test/fakes/embedding-server.ts";
import { createGeminiAdapter } from "./adapter.ts";

const requests = createTestRequests();
afterAll(() => requests.close());

const vendor = await createFakeGeminiEmbeddings();
afterAll(() => vendor.close());
beforeEach(() => {
  vendor.requests.length = 0;
});

interface Source {
  env?: Record<string, string>;
  secrets?: Record<string, string>;
  request?: HttpRequestFunction;
}

function adapterOf({ env = {}, secrets = {}, request = requests.request }: Source = {}) {
  return createGeminiAdapter({ env, secret: (path) => secrets[path], signal: new AbortController().signal, request });
}

const withKey = () => ({ baseUrl: vendor.url, apiKey: vendor.apiKey });
const open = (own: Partial<EmbeddingContext> = {}, source: Source = {}) =>
  adapterOf(source).create(embeddingContext({ remote: withKey(), ...own }));
const last = () => vendor.requests.at(-1);
const batchIn = (request: RecordedEmbedding | undefined) => (request?.body as { requests: unknown[] } | undefined)?.requests ?? [];
const norm = (vector: Float32Array) => Math.hypot(...vector);
const failure = (work: Promise<unknown>) =>
  work.then(
    () => ({ fault: "none" }),
    (error: unknown) => error as { fault: string; message: string; retryAfterMs?: number },
  );

describe.each(["gemini-embedding-001", "gemini-embedding-2", "gemini-embedding-2-preview"])("the contract, with %s", (model) => {
  embeddingContract(adapterOf(), {
    context: { model, remote: withKey() },
  });
});

test("it is the second of the vendors, and says which models see and hear", () => {
  const adapter = adapterOf();

  expect(adapter).toMatchObject({ id: "gemini", transport: "remote", defaultModel: "gemini-embedding-001", autoSelectPriority: 30 });
  const sees = ["gemini-embedding-001", "google/gemini-embedding-2", "gemini-embedding-2-preview", "other"].map((m) =>
    adapter.supportsMultimodal?.(m),
  );
  expect(sees).toEqual([false, true, true, false]);
});

describe("requests", () => {
  test.each([
    ["gemini-embedding-001", { content: { parts: [{ text: "T" }] }, taskType: "RETRIEVAL_QUERY" }],
    ["gemini-embedding-2", { content: { parts: [{ text: "task: search result | query: T" }] }, outputDimensionality: 768 }],
    ["gemini-embedding-2-preview", { content: { parts: [{ text: "T" }] }, taskType: "RETRIEVAL_QUERY", outputDimensionality: 768 }],
  ])("of a query to %s", async (model, body) => {
    const { provider } = await open({ model, ...(model.endsWith("001") ? {} : { outputDimensionality: 768 }) });
    const vector = await provider.embedQuery("T");

    expect(last()).toMatchObject({ method: "POST", path: `/v1beta/models/${model}:embedContent` });
    expect(last()?.body).toEqual(body);
    expect([vector.length, provider.dims, norm(vector)]).toEqual([
      provider.dims,
      model.endsWith("001") ? 3_072 : 768,
      expect.closeTo(1, 5),
    ]);
  });

  test.each([
    ["gemini-embedding-001", { content: { parts: [{ text: "T" }] }, taskType: "RETRIEVAL_DOCUMENT" }],
    ["gemini-embedding-2", { content: { parts: [{ text: "title: none | text: T" }] }, outputDimensionality: 3_072 }],
    ["gemini-embedding-2-preview", { content: { parts: [{ text: "T" }] }, taskType: "RETRIEVAL_DOCUMENT", outputDimensionality: 3_072 }],
  ])("of a document to %s", async (model, request) => {
    const { provider } = await open({ model: `google/${model}` });
    await provider.embedBatch(["T"]);

    expect(last()).toMatchObject({ method: "POST", path: `/v1beta/models/${model}:batchEmbedContents` });
    expect(last()?.body).toEqual({ requests: [{ model: `models/${model}`, ...request }] });
  });

  test("are cut at 100 documents", async () => {
    const { provider } = await open();
    const counts = () => vendor.requests.map((request) => batchIn(request).length);

    await provider.embedBatch(Array(100).fill("a"));
    expect(counts()).toEqual([100]);
    await provider.embedBatch(Array(101).fill("a"));
    expect(counts()).toEqual([100, 100, 1]);
  });

  test("keep their connection", async () => {
    const { provider } = await open();
    await provider.embedQuery("one");
    const before = vendor.connections();
    await provider.embedQuery("two");
    await provider.embedBatch(["three"]);

    expect(vendor.connections()).toBe(before);
    await provider.close?.();
  });
});

describe("media", () => {
  const photo: StructuredInput = [
    { type: "text", text: "Image file: photos/cat.png" },
    { type: "media", mime: "image/png", data: new Uint8Array([137, 80, 78, 71]) },
  ];

  test("go after their text, in base64", async () => {
    const { provider } = await open({ model: "gemini-embedding-2" });
    const vectors = await provider.embedBatchInputs?.([photo, [{ type: "text", text: "T" }]]);

    expect(vectors).toHaveLength(2);
    const parts = [{ text: "title: none | text: Image file: photos/cat.png" }, { inlineData: { mimeType: "image/png", data: "iVBORw==" } }];
    expect(batchIn(last())[0]).toEqual({
      model: "models/gemini-embedding-2",
      content: { parts },
      outputDimensionality: 3_072,
    });
  });

  test("of 10 MB fit, more than a request takes are too long", async () => {
    const { provider } = await open({ model: "gemini-embedding-2-preview" });
    const sound = (bytes: number): StructuredInput => [
      { type: "text", text: "Audio file: talk.mp3" },
      { type: "media", mime: "audio/mpeg", data: new Uint8Array(bytes) },
    ];

    expect(await provider.embedBatchInputs?.([sound(10_000_000), sound(10_000_000)])).toHaveLength(2);
    expect(vendor.requests.map(({ headers }) => Number(headers["content-length"]) < 20_000_000)).toEqual([true, true]);
    expect(await failure(provider.embedBatchInputs?.([sound(15_100_000)]) as Promise<unknown>)).toMatchObject({ fault: "too-long" });
  });

  test("are cut at 6 images", async () => {
    const { provider } = await open({ model: "gemini-embedding-2" });
    await provider.embedBatchInputs?.(Array(7).fill(photo));

    expect(vendor.requests.map((request) => batchIn(request).length)).toEqual([6, 1]);
  });

  test("of a kind the vendor refuses are input faults, told by its own words", async () => {
    const { provider } = await open({ model: "gemini-embedding-2" });
    const heic: StructuredInput = [{ type: "media", mime: "image/heic", data: new Uint8Array(8) }];

    const error = await failure(provider.embedBatchInputs?.([heic]) as Promise<unknown>);
    expect(error).toMatchObject({ fault: "invalid-request", message: expect.stringContaining("Unsupported MIME type: image/heic") });
  });

  test("are not taken by the first generation", async () => {
    expect((await open()).provider.embedBatchInputs).toBeUndefined();
  });
});

describe("the key", () => {
  const shown = () => vendor.requests.map(({ headers }) => headers["x-goog-api-key"]);

  test("is the agent's own, then the vendor's entry", async () => {
    const config = { models: { providers: { google: { baseUrl: vendor.url } } } };
    const entry = embeddingContext({}).config;
    const withEntry = {
      ...entry,
      models: { ...entry.models, providers: config.models.providers },
    } as unknown as EmbeddingContext["config"];
    const secrets = { 'models.providers["google"].apiKey': vendor.apiKey };

    await (await open({ config: withEntry, remote: {} }, { secrets })).provider.embedQuery("T");
    await (
      await open({ config: withEntry }, { secrets: { 'models.providers["google"].apiKey': "wrong-key-0123456789" } })
    ).provider.embedQuery("T");
    expect(shown()).toEqual([vendor.apiKey, vendor.apiKey]);
  });

  test.each([
    [{ GEMINI_API_KEY: "gemini-variable-0123", GOOGLE_API_KEY: "google-variable-0123" }],
    [{ GOOGLE_API_KEY: "google-variable-0123" }],
  ])("of the environment never goes to another address (%j)", async (env) => {
    const { provider } = await adapterOf({ env }).create(embeddingContext({ remote: { baseUrl: vendor.url } }));
    await failure(provider.embedQuery("T"));

    expect(shown()).toEqual([undefined]);
  });

  test.each([
    ["GEMINI_API_KEY", true],
    ["GOOGLE_API_KEY", true],
    ["OTHER_API_KEY", false],
  ])("in %s lets the adapter be found: %s", async (name, isFound) => {
    const made = adapterOf({ env: { [name]: "key-of-the-environment" } }).create(embeddingContext({ auto: true }));

    expect(await failure(made)).toMatchObject({ fault: isFound ? "none" : "no-credentials" });
  });

  test("is missing: what may be set", async () => {
    expect((await failure(adapterOf().create(embeddingContext({})))).fault).toBe("no-credentials");
  });

  test("that is wrong is told as such, and is seen nowhere", async () => {
    const wrong = "AIzaWrongKey0123456789abcdef01234567";
    const { provider } = await open({ remote: { baseUrl: vendor.url, apiKey: wrong } });
    const error = await failure(provider.embedQuery("T"));

    expect(error).toMatchObject({ fault: "auth", status: 400 });
    expect(`${JSON.stringify(error)} ${error instanceof Error ? error.message : ""}`).not.toContain(wrong);
  });
});

describe("the address", () => {
  test.each(["/", "/openai", "/openai/", ""])("is understood with %j behind it", async (end) => {
    const { provider } = await open({ remote: { baseUrl: vendor.url + end, apiKey: vendor.apiKey } });

    expect(await provider.embedQuery("T")).toHaveLength(3_072);
    expect(last()?.path).toBe("/v1beta/models/gemini-embedding-001:embedContent");
  });

  test("without a version gets one", async () => {
    const { provider } = await open({ remote: { baseUrl: new URL(vendor.url).origin, apiKey: vendor.apiKey } });

    expect(await provider.embedQuery("T")).toHaveLength(3_072);
  });

  test("headers of the operator go with each request, the later ones win", async () => {
    const headers = { "X-Team": "ops", "X-Goog-Api-Key": vendor.apiKey };
    const { provider } = await open({ remote: { baseUrl: vendor.url, apiKey: "other-key-0123456789", headers } });
    await provider.embedQuery("T");

    expect(last()?.headers).toMatchObject({ "x-team": "ops", "x-goog-api-key": vendor.apiKey });
  });
});

describe("identity", () => {
  const identity = async (own: Partial<EmbeddingContext>) => JSON.stringify((await open(own)).identity);
  const usual = () => identity({});

  test("stays with another key", async () => {
    expect(await identity({ remote: { baseUrl: vendor.url, apiKey: "another-key-0123456789" } })).toBe(await usual());
    expect(await usual()).not.toContain(vendor.apiKey);
  });

  test("stays with the same address written otherwise", async () => {
    expect(await identity({ remote: { baseUrl: `${vendor.url}/openai/`, apiKey: vendor.apiKey } })).toBe(await usual());
  });

  test("changes with the model, the size, the address, a header and the way a task is told", async () => {
    const all = await Promise.all([
      usual(),
      identity({ model: "gemini-embedding-2" }),
      identity({ model: "gemini-embedding-2", outputDimensionality: 768 }),
      identity({ model: "gemini-embedding-2-preview" }),
      identity({ remote: { baseUrl: "http://127.0.0.1:9/v1beta", apiKey: vendor.apiKey } }),
      identity({ remote: { ...withKey(), headers: { "x-team": "ops" } } }),
    ]);

    expect(new Set(all).size).toBe(all.length);
    expect([JSON.parse(all[1] as string), JSON.parse(all[3] as string)]).toMatchObject([{ task: "prefix" }, { task: "type" }]);
  });
});

test("a size of the first generation is warned of; one that the second does not have is refused", async () => {
  const warnings: string[] = [];
  const quiet = embeddingContext({}).logger;
  const logger = { ...quiet, warn: (text: string) => void warnings.push(text) };

  await open({ outputDimensionality: 768, logger });
  expect(warnings).toEqual([expect.stringContaining("outputDimensionality has no effect with gemini-embedding-001")]);
  const refused = await failure(open({ model: "gemini-embedding-2", outputDimensionality: 512, logger }));
  expect(refused).toMatchObject({
    fault: "invalid-request",
    message: expect.stringContaining("gemini-embedding-2 offers 768, 1536, 3072, got 512"),
  });
});

describe("faults", () => {
  test.each([
    ["401", { status: 401 }, "auth"],
    ["403", { status: 403 }, "auth"],
    ["404", { status: 404 }, "model"],
    ["400", { status: 400 }, "invalid-request"],
    ["413", { status: 413 }, "too-long"],
    ["429 for a minute", { status: 429, message: "check your plan and billing details", code: "RetryInfo" }, "rate-limit"],
    ["429 for the day", { status: 429, message: "check your plan and billing details", code: "PerDay" }, "quota"],
    ["429", { status: 429, message: "Resource has been exhausted (e.g. check quota)." }, "rate-limit"],
    ["500", { status: 500 }, "overloaded"],
    ["503", { status: 503 }, "overloaded"],
    ["a reset", "reset", "network"],
    ["an answer cut short", "truncated", "bad-response"],
    ["too few vectors", "wrong-count", "bad-response"],
    ["vectors of another size", "wrong-dims", "bad-response"],
    ["one vector of another size", "short-vector", "bad-response"],
    ["a number that is none", "nan", "bad-response"],
  ] as const)("%s", async (_name, fault, expected) => {
    // Connections of its own: a reset of one that had been used before is made good.
    const own = createTestRequests();
    const { provider } = await open({}, { request: own.request });
    vendor.script(fault);
    expect(await failure(provider.embedBatch(["one", "two"]))).toMatchObject({ fault: expected });

    expect(await provider.embedBatch(["one", "two"])).toHaveLength(2);
    await own.close();
  });

  test("a wait that the vendor asks for is told", async () => {
    const { provider } = await open();
    vendor.script({ status: 429, headers: { "retry-after": "7" } });

    expect(await failure(provider.embedQuery("T"))).toMatchObject({ fault: "rate-limit", retryAfterMs: 7_000 });
  });
});

describe("an end", () => {
  const hanging = async (act: (provider: EmbeddingProvider, stop: AbortController) => void, own: Partial<EmbeddingContext> = {}) => {
    const { provider } = await open(own);
    const stop = new AbortController();
    vendor.script("hang");
    const call = failure(provider.embedBatch(["one"], { signal: stop.signal }));
    await expect.poll(() => vendor.requests.length).toBe(1);
    act(provider, stop);
    return { error: await call, ended: await vendor.requests[0]?.ended };
  };

  test("by the caller closes the socket", async () => {
    expect((await hanging((_provider, stop) => stop.abort())).ended).toEqual({ aborted: true });
  });

  test("of the provider, too, and calls under way reject", async () => {
    const { error, ended } = await hanging((provider) => void provider.close?.());

    expect([error.fault, ended]).toEqual(["network", { aborted: true }]);
  });

  test("of the agent's memory, too", async () => {
    const life = new AbortController();

    expect((await hanging(() => life.abort(), { signal: life.signal })).ended).toEqual({ aborted: true });
  });
});
