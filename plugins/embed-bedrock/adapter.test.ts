import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EmbeddingAdapter, EmbeddingContext } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { createTestRequests, embeddingContext, eventually, type TestRequests } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type BedrockFault, type FakeBedrock, type FakeBedrockOptions, startFakeBedrock } from "../../test/fakes/embedding-bedrock.ts";
import { createBedrockAdapter } from "./adapter.ts";
import type { Env } from "./env.ts";
import type { CallLimits } from "./provider.ts";

const texts = ["the boiler needs 1.4 bar", "a train to the airport", "the boiler needs 1.4 bar"];

let vendor: FakeBedrock;
let requests: TestRequests;
let opened: Array<() => Promise<void> | undefined>;
/** The fake of every test that needs no other, and its adapter: held open, so that the thread with its AWS client starts once. */
let usual: { vendor: FakeBedrock; adapter: EmbeddingAdapter; end(): Promise<void> };

beforeAll(async () => {
  requests = createTestRequests();
  const fake = await startFakeBedrock();
  const { adapter, close } = createBedrockAdapter({ env: keysOf(fake), request: requests.request });
  const held = await adapter.create(embeddingContext({ remote: { baseUrl: fake.url } }));
  const end = async () => {
    await held.provider.close?.();
    await close();
    await requests.close();
    await fake.close();
  };
  usual = { vendor: fake, adapter, end };
});

beforeEach(() => {
  opened = [];
  vendor = usual.vendor;
  vendor.requests.length = 0;
  vendor.faults.length = 0;
  vendor.outage = undefined;
});

afterEach(async () => {
  await Promise.all(opened.map((close) => close()));
});

afterAll(() => usual.end());

async function started(options: FakeBedrockOptions = {}): Promise<FakeBedrock> {
  const fake = await startFakeBedrock(options);
  opened.push(() => fake.close());
  return fake;
}

const keysOf = ({ identity }: FakeBedrock): Env => ({
  HOME: "/nonexistent",
  AWS_ACCESS_KEY_ID: identity.accessKeyId,
  AWS_SECRET_ACCESS_KEY: identity.secretAccessKey,
  AWS_SESSION_TOKEN: identity.sessionToken,
});

/** Opens a model at the fake with the fake's own keys, unless the test says otherwise. */
async function open(own: Partial<EmbeddingContext> = {}, { env, limits }: { env?: Env; limits?: CallLimits } = {}) {
  const adapter = vendor === usual.vendor && !env && !limits ? usual.adapter : ownAdapter(env ?? keysOf(vendor), limits);
  const made = await adapter.create(embeddingContext({ remote: { baseUrl: vendor.url }, ...own }));
  opened.unshift(async () => made.provider.close?.());
  return made;
}

function ownAdapter(env: Env, limits: CallLimits | undefined): EmbeddingAdapter {
  const { adapter, close } = createBedrockAdapter({ env, request: requests.request, ...(limits ? { limits } : {}) });
  opened.unshift(close);
  return adapter;
}

/** Requests wait until the returned function is called, or the test has ended. */
function paused(): () => void {
  const resume = vendor.pause();
  onTestFinished(resume);
  return resume;
}

const bodies = () => vendor.requests.map(({ body }) => body);

describe("a request", () => {
  test.each([
    ["amazon.titan-embed-text-v2:0", 1024, { inputText: "hi", dimensions: 1024, normalize: true }],
    ["amazon.titan-embed-text-v1", 1536, { inputText: "hi" }],
    ["amazon.titan-embed-g1-text-02", 1536, { inputText: "hi" }],
    ["amazon.titan-embed-image-v1", 1024, { inputText: "hi" }],
    ["cohere.embed-english-v3", 1024, { texts: ["hi"], input_type: "search_query", truncate: "END" }],
    [
      "cohere.embed-v4:0",
      1536,
      { texts: ["hi"], input_type: "search_query", truncate: "END", embedding_types: ["float"], output_dimension: 1536 },
    ],
    ["twelvelabs.marengo-embed-2-7-v1:0", 1024, { inputType: "text", inputText: "hi" }],
    ["twelvelabs.marengo-embed-3-0-v1:0", 512, { inputType: "text", text: { inputText: "hi" } }],
    ["acme.embed-v1", 1024, { inputText: "hi" }],
  ])("of %s is signed and gives %d numbers of length 1", async (model, dims, body) => {
    const { provider } = await open({ model });
    const vector = await provider.embedQuery("hi");
    expect(vector).toHaveLength(dims);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect(bodies()).toEqual([body]);
    expect(vendor.requests[0]).toMatchObject({ modelId: model, path: `/model/${encodeURIComponent(model)}/invoke` });
  });

  test("of Nova differs for documents and queries", async () => {
    const { provider } = await open({ model: "amazon.nova-2-multimodal-embeddings-v1:0", outputDimensionality: 384 });
    await expect(provider.embedQuery("hi")).resolves.toHaveLength(384);
    await expect(provider.embedBatch(["hi"])).resolves.toMatchObject([{ length: 384 }]);
    expect(bodies().map((body) => body.singleEmbeddingParams)).toMatchObject([
      { embeddingPurpose: "TEXT_RETRIEVAL", embeddingDimension: 384 },
      { embeddingPurpose: "GENERIC_INDEX", embeddingDimension: 384 },
    ]);
  });

  test("names the whole model id, ARNs included", async () => {
    const arn = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.titan-embed-text-v2:0";
    const { provider } = await open({ model: `amazon-bedrock/${arn}` });
    await provider.embedQuery("hi");
    expect(vendor.requests.map(({ modelId }) => modelId)).toEqual([arn]);
    expect(provider.model).toBe(arn);
  });

  test("goes to the address without a slash at its end, or that of the vendor's entry, and takes headers along", async () => {
    const { provider } = await open({ remote: { baseUrl: `${vendor.url}//`, headers: { "X-Team": "notes" } } });
    await provider.embedQuery("hi");
    const config = parseSharedConfig({ models: { providers: { "amazon-bedrock": { baseUrl: vendor.url } } } });
    const configured = await open({ remote: {}, config });
    await configured.provider.embedQuery("hi");
    expect(vendor.requests.map(({ path, headers }) => [path, headers["x-team"]])).toEqual([
      ["/model/amazon.titan-embed-text-v2%3A0/invoke", "notes"],
      ["/model/amazon.titan-embed-text-v2%3A0/invoke", undefined],
    ]);
  });

  test("is signed for the region of the environment", async () => {
    vendor = await started({ region: "eu-west-3" });
    const { provider, identity } = await open({}, { env: { ...keysOf(vendor), AWS_REGION: "eu-west-3" } });
    await provider.embedQuery("hi");
    expect(identity).toMatchObject({ region: "eu-west-3" });
    expect(vendor.requests[0]?.headers.authorization).toContain("/eu-west-3/bedrock/aws4_request");
  });

  test("shows an API key in place of a signature, that of the agent before that of the environment", async () => {
    vendor = await started({ bearer: "key-of-the-agent" });
    const env = { HOME: "/nonexistent", AWS_BEARER_TOKEN_BEDROCK: "key-of-the-environment" };
    const { provider, identity } = await open({ remote: { baseUrl: vendor.url, apiKey: "key-of-the-agent" } }, { env });
    await provider.embedQuery("hi");
    expect(JSON.stringify(identity)).not.toContain("key-of");
    expect(vendor.requests).toHaveLength(1);
  });

  test("takes the name of a variable for the key in it", async () => {
    vendor = await started({ bearer: "key-in-a-variable" });
    const env = { HOME: "/nonexistent", BEDROCK_FOR_NOTES: "key-in-a-variable" };
    const { provider } = await open({ remote: { baseUrl: vendor.url, apiKey: "BEDROCK_FOR_NOTES" } }, { env });
    await expect(provider.embedQuery("hi")).resolves.toHaveLength(1024);
  });

  test("never shows the environment's API key to an address of somebody else", async () => {
    const { provider } = await open({}, { env: { ...keysOf(vendor), AWS_BEARER_TOKEN_BEDROCK: "key-of-the-environment" } });
    await provider.embedQuery("hi");
    expect(JSON.stringify(vendor.requests[0]?.headers)).not.toContain("key-of-the-environment");
  });
});

describe("documents", () => {
  test("come back in order, four requests at once at most", async () => {
    vendor = await started(); // it counts from its start
    const { provider } = await open();
    const resume = paused();
    const vectors = provider.embedBatch(Array.from({ length: 20 }, (_, i) => `note ${i}`));
    await eventually(() => expect(vendor.requests).toHaveLength(4));
    const query = provider.embedQuery("note 3");
    await eventually(() => expect(vendor.requests).toHaveLength(5));
    resume();
    const wanted = await query;
    const alike = (await vectors).map((vector) => vector.reduce((sum, part, i) => sum + part * (wanted[i] as number), 0));
    expect(alike.indexOf(Math.max(...alike))).toBe(3);
    expect(vendor.maxOpen()).toBe(5);
    expect(bodies().filter(({ inputText }) => inputText === "note 7")).toHaveLength(1);
  });

  test("go to Cohere by 96", async () => {
    const { provider } = await open({ model: "cohere.embed-multilingual-v3" });
    expect(provider.maxItemsPerRequest).toBe(96);
    const vectors = await provider.embedBatch(Array.from({ length: 97 }, (_, i) => `note ${i}`));
    expect(vectors).toHaveLength(97);
    expect(
      bodies()
        .map((body) => (body.texts as string[]).length)
        .sort(),
    ).toEqual([1, 96]);
  });

  test("are counted in tokens, once a call", async () => {
    const { provider } = await open();
    const counted: number[] = [];
    await provider.embedBatch(texts, { onUsage: (tokens) => counted.push(tokens) });
    await provider.embedQuery("two words", { onUsage: (tokens) => counted.push(tokens) });
    expect(counted).toEqual([15, 2]);
  });

  test("stop with the first that fails", async () => {
    const { provider } = await open();
    vendor.faults.push("hang", { status: 403, type: "AccessDeniedException" }, "hang", "hang");
    const resume = paused();
    const batch = expect(provider.embedBatch(Array(200).fill("note"))).rejects.toMatchObject({ fault: "auth" });
    await eventually(() => expect(vendor.requests).toHaveLength(4));
    resume();
    await batch;
    const ends = await Promise.all(vendor.requests.map(({ ended }) => ended));
    expect(ends.filter(({ aborted }) => aborted)).toHaveLength(3);
  });
});

const denied = "User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:InvokeModel";

test.each<[BedrockFault, object]>([
  [
    { status: 403, type: "AccessDeniedException", message: denied },
    { fault: "auth", status: 403, message: expect.stringContaining(denied) },
  ],
  [
    { status: 403, type: "ExpiredTokenException" },
    { fault: "auth", status: 403 },
  ],
  [{ status: 401 }, { fault: "auth", status: 401 }],
  [
    { status: 429, type: "ThrottlingException" },
    { fault: "rate-limit", status: 429, retryAfterMs: undefined },
  ],
  [
    { status: 429, type: "ThrottlingException", headers: { "retry-after": "3" } },
    { fault: "rate-limit", retryAfterMs: 3_000 },
  ],
  [{ status: 400, type: "ServiceQuotaExceededException" }, { fault: "quota" }],
  [
    { status: 404, type: "ResourceNotFoundException" },
    { fault: "model", status: 404 },
  ],
  [{ status: 400, type: "ValidationException", message: "The provided model identifier is invalid." }, { fault: "model" }],
  [
    { status: 400, type: "ValidationException", message: "extraneous key" },
    { fault: "invalid-request", status: 400 },
  ],
  [{ status: 400, type: "ValidationException", message: "Too many input tokens. Max input tokens: 8192" }, { fault: "too-long" }],
  [{ status: 413 }, { fault: "too-long", status: 413 }],
  [{ status: 422 }, { fault: "invalid-request", status: 422 }],
  [{ status: 408, type: "ModelTimeoutException" }, { fault: "timeout" }],
  [
    { status: 500, type: "InternalServerException" },
    { fault: "overloaded", status: 500 },
  ],
  [
    { status: 503, type: "ServiceUnavailableException" },
    { fault: "overloaded", status: 503 },
  ],
  [
    { status: 302, headers: { location: "https://elsewhere.example/" } },
    { fault: "model", status: 302 },
  ],
  ["reset", { fault: "network" }],
  ["truncated", { fault: "bad-response" }],
  ["no-json", { fault: "bad-response" }],
  ["wrong-count", { fault: "bad-response" }],
  ["wrong-dims", { fault: "bad-response" }],
  ["not-a-number", { fault: "bad-response" }],
])("an answer %j fails as it should, once, and the next call works", async (fault, expected) => {
  if (fault === "reset") vendor = await started(); // the shared client keeps connections
  const { provider } = await open();
  vendor.faults.push(fault);
  await expect(provider.embedQuery("hi")).rejects.toMatchObject({ name: "EmbeddingError", ...expected });
  expect(vendor.requests).toHaveLength(1);
  await expect(provider.embedQuery("hi")).resolves.toHaveLength(1024);
});

test("an answer that never ends is left at 32 MiB", async () => {
  let left: Promise<unknown> | undefined;
  const server = createServer((_req, res) => {
    left = once(res, "close");
    const pour = () => {
      while (!res.destroyed && res.write("x".repeat(65_536)));
    };
    res
      .on("error", () => undefined)
      .on("drain", pour)
      .writeHead(200, { "content-type": "application/json" });
    pour();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { provider } = await open({ remote: { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } });
  await expect(provider.embedQuery("hi")).rejects.toMatchObject({
    fault: "bad-response",
    message: expect.stringContaining("is longer than"),
  });
  await left;
  server.close();
});

test("fewer vectors than texts are refused, and so is another length than the first one of an unknown model", async () => {
  const cohere = await open({ model: "cohere.embed-english-v3" });
  vendor.faults.push("wrong-count");
  await expect(cohere.provider.embedBatch(texts)).rejects.toMatchObject({ fault: "bad-response" });

  const { provider } = await open({ model: "acme.embed-v1" });
  expect(provider.dims).toBeUndefined();
  await expect(provider.embedQuery("hi")).resolves.toHaveLength(1024);
  vendor.faults.push("wrong-dims");
  await expect(provider.embedQuery("hi")).rejects.toMatchObject({ fault: "bad-response" });
});

test("a wrong secret is auth, and the vendor's words about it show neither key nor session", async () => {
  vendor = await started({ sessionToken: "session/of+a+role==" });
  const { provider } = await open({}, { env: { ...keysOf(vendor), AWS_SECRET_ACCESS_KEY: "wrong/secret" } });
  const error = await provider.embedQuery("hi").catch((reason: Error) => reason);
  expect(error).toMatchObject({ fault: "auth", status: 403, message: expect.stringContaining("InvalidSignatureException") });
  expect(`${error} ${JSON.stringify(error)} ${(error as Error).stack}`).not.toMatch(/session\/of|wrong\/secret|AKIAFAKE/);
});

test("an API key is not repeated from an error that shows it", async () => {
  vendor = await started({ bearer: "right" });
  const { provider } = await open({ remote: { baseUrl: vendor.url, apiKey: "wrong-key-123" } });
  const error = await provider.embedQuery("hi").catch((reason: Error) => reason);
  expect(error).toMatchObject({ fault: "auth" });
  expect(String(error)).not.toContain("wrong-key-123");
});

test("neither a key with slashes in it nor a credential in a header is repeated from an error", async () => {
  vendor = await started({ bearer: "first/second/third==" });
  const headers = { "x-team-token": "sesame0123456789", "Proxy-Authorization": "Basic b3Blbi9zZXNhbWU=" };
  const { provider } = await open({ remote: { baseUrl: vendor.url, apiKey: "first/second/third==", headers } });
  vendor.faults.push({ status: 500, message: "saw first/second/third== and sesame0123456789 and b3Blbi9zZXNhbWU= here" });
  const error = await provider.embedQuery("hi").catch((reason: Error) => reason);
  expect(String(error)).toContain("saw *** and *** and *** here");
});

test("after a refusal renewed credentials of the shared file are seen", async () => {
  const home = await mkdtemp(join(tmpdir(), "svc-bedrock-"));
  opened.push(() => rm(home, { recursive: true }));
  await mkdir(join(home, ".aws"));
  const { accessKeyId, secretAccessKey } = vendor.identity;
  const write = (secret: string) =>
    writeFile(join(home, ".aws", "credentials"), `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secret}\n`);
  await write("old");
  const { provider } = await open({}, { env: { HOME: home } });
  await expect(provider.embedQuery("hi")).rejects.toMatchObject({ fault: "auth" });
  await write(secretAccessKey);
  await expect(provider.embedQuery("hi")).resolves.toHaveLength(1024);
});

describe("a call that takes too long", () => {
  test("is ended by its signal, and its socket closes", async () => {
    vendor.outage = "hang";
    const { provider } = await open();
    const stop = new AbortController();
    const call = provider.embedBatch(texts, { signal: stop.signal });
    await eventually(() => expect(vendor.requests).toHaveLength(3));
    stop.abort();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    expect(await Promise.all(vendor.requests.map(({ ended }) => ended))).toEqual(Array(3).fill({ aborted: true }));
  });

  test("is ended by its limit", async () => {
    vendor.outage = "hang";
    const { provider } = await open({}, { limits: { queryMs: 300, batchMs: 400 } });
    await expect(provider.embedQuery("hi")).rejects.toMatchObject({ fault: "timeout", message: expect.stringContaining("within 0.3 s") });
    await expect(provider.embedBatch(texts)).rejects.toMatchObject({ fault: "timeout", message: expect.stringContaining("within 0.4 s") });
  });

  test.each(["close", "signal"])("is ended when the provider is of no use any more (%s)", async (by) => {
    vendor.outage = "hang";
    const done = new AbortController();
    const { provider } = await open({ signal: done.signal });
    const call = expect(provider.embedQuery("hi")).rejects.toMatchObject({ name: "EmbeddingError" });
    await eventually(() => expect(vendor.requests).toHaveLength(1));
    if (by === "close") await provider.close?.();
    else done.abort();
    await call;
    await expect(provider.embedQuery("hi")).rejects.toMatchObject({ name: "EmbeddingError" });
    expect(await vendor.requests[0]?.ended).toEqual({ aborted: true });
  });
});

test("providers of equal settings share a client, which outlives the first of them", async () => {
  const { adapter, close } = createBedrockAdapter({ env: keysOf(vendor), request: requests.request });
  opened.unshift(close);
  const context = embeddingContext({ remote: { baseUrl: vendor.url } });
  const [one, other] = await Promise.all([adapter.create(context), adapter.create({ ...context, agentId: "second" })]);
  await one.provider.embedQuery("hi");
  await one.provider.close?.();
  await expect(other.provider.embedQuery("hi")).resolves.toHaveLength(1024);
});

describe("the identity", () => {
  const identityWith = async (own: Partial<EmbeddingContext>, env: Env = keysOf(vendor)) => (await open(own, { env })).identity;

  test("stays with another key", async () => {
    const other = { HOME: "/nonexistent", AWS_ACCESS_KEY_ID: "other", AWS_SECRET_ACCESS_KEY: "other", AWS_SESSION_TOKEN: "t" };
    expect(await identityWith({}, other)).toEqual(await identityWith({}));
    const headers = { authorization: "Basic x", "x-api-key": "y", Cookie: "z" };
    expect(await identityWith({ remote: { baseUrl: vendor.url, apiKey: "k", headers } })).toEqual(await identityWith({}));
  });

  test.each<[string, Partial<EmbeddingContext>, Env]>([
    ["model", { model: "cohere.embed-v4:0" }, {}],
    ["length", { outputDimensionality: 256 }, {}],
    ["region", {}, { AWS_REGION: "eu-west-1" }],
    ["address", { remote: { baseUrl: "http://127.0.0.1:1/other" } }, {}],
    ["header", { remote: { baseUrl: "", headers: { "x-route": "a" } } }, {}],
  ])("changes with another %s", async (_name, own, env) => {
    const remote = own.remote?.baseUrl === "" ? { ...own.remote, baseUrl: vendor.url } : (own.remote ?? { baseUrl: vendor.url });
    expect(await identityWith({ ...own, remote }, { ...keysOf(vendor), ...env })).not.toEqual(await identityWith({}));
  });
});
