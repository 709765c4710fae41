import { randomUUID } from "node:crypto";
import OpenAI from "openai";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createFakeGeminiEmbeddings, type FakeGemini } from "../../test/fakes/embedding-gemini.ts";
import { createFakeMistralEmbeddings, createFakeOpenAiEmbeddings, type FakeOpenAiEmbeddings } from "../../test/fakes/embedding-openai.ts";
import { wordVector } from "../../test/fakes/embedding-vectors.ts";

const plugins = ["store", "agents", "memory-core", "embed-openai", "embed-mistral", "embed-gemini", "openai-http"];

const MAX_BODY_BYTES = 1_000_000;

let vendor: FakeOpenAiEmbeddings;
let gemini: FakeGemini;
let mistral: Awaited<ReturnType<typeof createFakeMistralEmbeddings>>;
let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  vendor = await createFakeOpenAiEmbeddings();
  gemini = await createFakeGeminiEmbeddings();
  mistral = await createFakeMistralEmbeddings({ apiKey: "key-of-mistral" });
  const remote = { baseUrl: vendor.url, apiKey: vendor.apiKey };
  const off = { sync: { watch: false, onSessionStart: false, onSearch: false } };
  gateway = await createTestGateway({
    plugins,
    config: {
      gateway: { http: { maxBodyBytes: MAX_BODY_BYTES } },
      models: { providers: { mistral: { baseUrl: mistral.url, apiKey: mistral.apiKey } } },
      agents: {
        defaults: { memorySearch: { ...off, enabled: false }, models: { "mistral/mistral-embed": {} } },
        list: [
          { id: "main", memorySearch: { provider: "openai", remote, outputDimensionality: 256 } },
          { id: "large", memorySearch: { provider: "openai", model: "text-embedding-3-large", outputDimensionality: 3_072, remote } },
          { id: "fixed", memorySearch: { provider: "openai", model: "text-embedding-ada-002", remote } },
          { id: "found", memorySearch: { remote, outputDimensionality: 1_024 } },
          { id: "google", memorySearch: { provider: "gemini", remote: { baseUrl: gemini.url, apiKey: gemini.apiKey } } },
          { id: "none", memorySearch: { provider: "none" } },
        ],
      },
    },
  });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.token, maxRetries: 0 });
});

afterAll(async () => {
  await gateway?.close();
  await vendor?.close();
  await gemini?.close();
  await mistral?.close();
});

beforeEach(() => {
  vendor.requests.length = 0;
});

const sent = () => vendor.requests.at(-1)?.body as { model: string; input: string[]; dimensions?: number };

async function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return gateway.fetch("/v1/embeddings", { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body), headers });
}

async function errorOf(response: Response): Promise<[number, object]> {
  return [response.status, ((await response.json()) as { error: object }).error];
}

const invalid = (message: string) => ({ message, type: "invalid_request_error", param: null, code: null });

describe("embeddings, with the official client", () => {
  // The client asks for base64 by itself, and gives numbers.
  test("are those of the agent's memory, in the order of the texts", async () => {
    const input = ["the boiler needs 1.4 bar", "a train to the airport", "the boiler needs 1.4 bar"];
    const answer = await client.embeddings.create({ model: "svc", input });

    expect(sent()).toMatchObject({ model: "text-embedding-3-small", input, dimensions: 256 });
    expect(answer.data.map(({ index, object }) => [index, object])).toEqual([0, 1, 2].map((i) => [i, "embedding"]));
    for (const [i, text] of input.entries())
      expect(answer.data[i]?.embedding).toEqual([...Float32Array.from(wordVector(text, 256))].map((x) => expect.closeTo(x, 5)));
    expect(answer).toMatchObject({ object: "list", model: "svc", usage: { prompt_tokens: 18, total_tokens: 18 } });
  });

  test("as floats and as base64 are the same numbers", async () => {
    const request = { model: "svc/default", input: "one text" };
    const floats = await client.embeddings.create({ ...request, encoding_format: "float" });
    const base64 = (await (await post({ ...request, encoding_format: "base64" })).json()) as { data: Array<{ embedding: string }> };

    const bytes = Buffer.from(base64.data[0]?.embedding ?? "", "base64");
    expect(Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4))).toEqual([
      ...Float32Array.from(floats.data[0]?.embedding ?? []),
    ]);
    expect(floats.data[0]?.embedding).toHaveLength(256);
  });

  test("have the length that was asked for", async () => {
    const answer = await client.embeddings.create({ model: "svc/large", input: ["a", "b"], dimensions: 512 });

    expect(answer.data.map(({ embedding }) => embedding.length)).toEqual([512, 512]);
    expect([answer.model, sent().dimensions]).toEqual(["svc/large", 512]);
  });

  test("of 2048 texts come in one answer, in as many requests as the vendor wants", async () => {
    const input = Array.from({ length: 2_048 }, (_, i) => `${i} `.padEnd(200, "x"));
    const answer = await client.embeddings.create({ model: "svc", input });

    expect(answer.data).toHaveLength(2_048);
    expect(answer.data[2_047]?.embedding).toEqual(
      [...Float32Array.from(wordVector(input[2_047] ?? "", 256))].map((x) => expect.closeTo(x, 5)),
    );
    expect(vendor.requests.length).toBeGreaterThan(1);
    expect(vendor.requests.flatMap(({ body }) => (body as { input: string[] }).input)).toEqual(input);
  });

  test("of a text at the limit of the model, and not beyond it", async () => {
    const longest = "x".repeat(8_192 * 4);
    expect((await post({ model: "svc", input: longest })).status).toBe(200);

    const message = "longer than the 8192 tokens that text-embedding-3-small takes; send it in parts";
    expect(await errorOf(await post({ model: "svc", input: ["a", longest, `${longest}x`, longest] }))).toEqual([
      400,
      invalid(`input.2: ${message}`),
    ]);
    expect(await errorOf(await post({ model: "svc", input: `${longest}x` }))).toEqual([400, invalid(`input: ${message}`)]);

    vendor.requests.length = 0;
    expect(await errorOf(await post({ model: "svc", input: ["a", "x".repeat(8_192 * 8 + 1)] }))).toEqual([
      400,
      invalid(`input.1: ${message}`),
    ]);
    expect(vendor.requests).toEqual([]);
  });

  test("of another length than the model has are told so", async () => {
    vendor.script("wrong-dims");
    const message =
      "the embedding model answered with vectors of 128 dimensions, expected 256; name it by another id if it is not the vendor's model of that name";

    expect(await errorOf(await post({ model: "svc", input: "x" }))).toEqual([400, { ...invalid(message), code: "dimensions_mismatch" }]);
  });

  test("are made without a memory index", async () => {
    await client.embeddings.create({ model: "svc/found", input: "x" });

    expect(vendor.requests).toHaveLength(1);
  });
});

describe("the agent", () => {
  test.each([
    [{ model: "svc:large" }, {}, "text-embedding-3-large"],
    [{ model: " SVC/Large " }, {}, "text-embedding-3-large"],
    [{ model: "agent:fixed" }, {}, "text-embedding-ada-002"],
    [{ model: "svc/fixed" }, { "x-svc-agent-id": "large" }, "text-embedding-3-large"],
  ])("of %j with %j embeds", async (body, headers, model) => {
    const response = await post({ ...body, input: "x" }, headers);

    expect([response.status, sent().model]).toEqual([200, model]);
    expect(await response.json()).toMatchObject({ model: body.model });
  });

  test.each([
    [{ model: "gpt-4o", input: "x" }, {}, "Invalid `model`. Use `svc` or `svc/<agentId>`."],
    [{ model: "text-embedding-3-small", input: "x" }, {}, "Invalid `model`. Use `svc` or `svc/<agentId>`."],
    [{ model: "svc/nobody", input: "x" }, {}, "Unknown agent 'nobody'."],
    [{ model: "svc", input: "x" }, { "x-svc-agent-id": "nobody" }, "Unknown agent 'nobody'."],
    [{ input: "x" }, {}, "Missing `model`."],
  ])("of %j with %j is refused", async (body, headers, message) => {
    expect(await errorOf(await post(body, headers as Record<string, string>))).toEqual([400, invalid(message)]);
    expect(vendor.requests).toEqual([]);
  });
});

describe("the backend model", () => {
  const notAllowed = "This agent does not allow that embedding provider on `/v1/embeddings`.";

  test.each([
    ["svc", "text-embedding-3-large"],
    ["svc", "openai/text-embedding-3-large"],
    ["svc/found", "openai/text-embedding-3-large"],
    ["svc/found", "auto/text-embedding-3-large"],
  ])("of %s may be %s", async (model, named) => {
    const response = await post({ model, input: "x" }, { "x-svc-model": named });

    expect([response.status, sent().model]).toEqual([200, "text-embedding-3-large"]);
  });

  test.each(["google/gemini-embedding-2", "gemini/gemini-embedding-2"])("of an agent on Gemini may be %s", async (named) => {
    const response = await post({ model: "svc/google", input: "x" }, { "x-svc-model": named });

    expect([response.status, gemini.requests.at(-1)?.path]).toEqual([200, "/v1beta/models/gemini-embedding-2:batchEmbedContents"]);
  });

  test.each([
    ["svc/google", "openai/text-embedding-3-large"],
    ["svc", "mistral/codestral-embed"],
    ["svc/found", "mistral/codestral-embed"],
    ["svc", "nobody/knows"],
  ])("of %s may not be %s", async (model, named) => {
    expect(await errorOf(await post({ model, input: "x" }, { "x-svc-model": named }))).toEqual([400, invalid(notAllowed)]);
    expect(vendor.requests).toEqual([]);
  });

  test("of another provider embeds when the agents' allow-list has it, with that vendor's own address and key", async () => {
    const answer = await client.embeddings.create(
      { model: "svc/large", input: "x" },
      { headers: { "x-svc-model": "mistral/mistral-embed" } },
    );

    expect(answer.data[0]?.embedding).toHaveLength(1_024);
    expect([vendor.requests.length, mistral.requests.length]).toEqual([0, 1]);
    // The fake vendor accepts its own key only.
    expect(mistral.requests[0]?.body).toMatchObject({ model: "mistral-embed", input: ["x"] });
  });

  test("must be a name", async () => {
    expect(await errorOf(await post({ model: "svc", input: "x" }, { "x-svc-model": "a b" }))).toEqual([
      400,
      invalid("Invalid `x-svc-model`."),
    ]);
  });

  test("that the vendor does not know is told so", async () => {
    vendor.script({ status: 404, message: "The model does not exist" });

    const [status, error] = await errorOf(await post({ model: "svc", input: "x" }, { "x-svc-model": "no-such-model" }));
    expect([status, error]).toMatchObject([404, { type: "invalid_request_error", code: "model_not_found" }]);
  });
});

describe("refusals", () => {
  test.each([
    ["not JSON", "{", expect.stringMatching(/JSON/)],
    ["a blank body", "", "Missing `model`."],
    ["no text", { model: "svc", input: [] }, "`input` must contain at least one non-empty string."],
    ["2049 texts", { model: "svc", input: Array(2_049).fill("x") }, "Too many inputs (max 2048)."],
    ["tokens", { model: "svc", input: [1, 2] }, expect.stringContaining("input: expected a string or an array of strings")],
    ["a length the model does not have", { model: "svc/large", input: "x", dimensions: 4_000 }, expect.stringContaining("got 4000")],
    ["a length for a model that has one only", { model: "svc/fixed", input: "x", dimensions: 256 }, expect.stringContaining("256")],
  ])("%s", async (_name, body, message) => {
    expect(await errorOf(await post(body))).toEqual([400, invalid(message)]);
  });

  test("a body of over `http.maxBodyBytes`, and not one of just that", async () => {
    const body = (bytes: number) => JSON.stringify({ model: "svc", input: "x", user: "" }).replace('""', `"${"u".repeat(bytes - 37)}"`);
    const fits = body(MAX_BODY_BYTES);

    expect(Buffer.byteLength(fits)).toBe(MAX_BODY_BYTES);
    expect((await post(fits)).status).toBe(200);
    expect(await errorOf(await post(body(MAX_BODY_BYTES + 1)))).toMatchObject([
      413,
      { type: "invalid_request_error", code: "payload_too_large" },
    ]);
  });

  test("an agent without a provider", async () => {
    const [status, error] = await errorOf(await post({ model: "svc/none", input: "x" }));

    expect([status, error]).toMatchObject([400, { type: "invalid_request_error", code: "no_embedding_provider" }]);
  });

  test("a wrong key, before anything else", async () => {
    const error = await new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "wrong", maxRetries: 0 }).embeddings
      .create({ model: "gpt-4o", input: "" })
      .catch((e: unknown) => e);

    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: "invalid_api_key" });
  });

  test("a wrong method, before the key", async () => {
    for (const method of ["GET", "PUT", "OPTIONS", "HEAD"]) {
      const response = await fetch(`${gateway.url}/v1/embeddings`, { method });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    }
    expect((await gateway.fetch("/v1/embeddings/more", { method: "POST" })).status).toBe(404);
  });
});

describe("failures of the vendor", () => {
  test.each([
    [{ status: 401 }, 401, "authentication_error", "the upstream provider rejected its credential"],
    [{ status: 403 }, 403, "permission_error", "the upstream provider refused permission"],
    [{ status: 429, code: "insufficient_quota", message: "You exceeded your quota" }, 402, "insufficient_quota", /You exceeded your quota/],
    [{ status: 429, message: "slow down" }, 429, "rate_limit_error", /slow down/],
    [{ status: 400, message: "bad words" }, 400, "invalid_request_error", /bad words/],
    [{ status: 413 }, 413, "invalid_request_error", /./],
    [{ status: 500 }, 502, "api_error", "upstream provider error"],
    [{ status: 503 }, 503, "api_error", "upstream provider overloaded"],
    ["reset", 502, "api_error", "upstream provider error"],
    ["wrong-count", 502, "api_error", "upstream provider error"],
    ["nan", 502, "api_error", "upstream provider error"],
    ["truncated", 502, "api_error", "upstream provider error"],
  ] as const)("%j is %i %s", async (fault, status, type, message) => {
    // A kept connection that breaks is tried once more.
    vendor.script(fault, ...(fault === "reset" ? [fault] : []));
    const text = `text ${randomUUID()}`;

    const [answered, error] = await errorOf(await post({ model: "svc", input: text }));
    expect([answered, error]).toMatchObject([
      status,
      { type, message: typeof message === "string" ? message : expect.stringMatching(message) },
    ]);
    expect(JSON.stringify(error)).not.toContain(vendor.apiKey);
    expect(JSON.stringify(error)).not.toContain(new URL(vendor.url).host);
  });

  test("a wait the vendor asks for is passed on", async () => {
    vendor.script({ status: 429, message: "slow down", headers: { "retry-after": "7" } });
    const response = await post({ model: "svc", input: "x" });

    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "7"]);
  });
});

test("a client that goes away ends the vendor's request", async () => {
  const abort = new AbortController();
  vendor.script("hang");
  const going = client.embeddings.create({ model: "svc", input: "x" }, { signal: abort.signal }).catch((e: unknown) => e);
  const request = await vendor.request(0);
  abort.abort();

  expect(await request.ended).toEqual({ aborted: true });
  expect(await going).toBeInstanceOf(OpenAI.APIUserAbortError);
});

describe("scopes", () => {
  let open: TestGateway;
  beforeAll(async () => {
    open = await createTestGateway({
      plugins,
      config: {
        gateway: { auth: { mode: "none" } },
        agents: {
          defaults: {
            memorySearch: { provider: "openai", outputDimensionality: 512, remote: { baseUrl: vendor.url, apiKey: vendor.apiKey } },
          },
        },
      },
    });
  });
  afterAll(() => open?.close());
  const as = (scopes: string, headers: Record<string, string> = {}) =>
    fetch(`${open.url}/v1/embeddings`, {
      method: "POST",
      body: JSON.stringify({ model: "svc", input: "x" }),
      headers: { "x-svc-scopes": scopes, ...headers },
    });

  test("a caller needs operator.write, and operator.admin to name the model", async () => {
    const missing = (message: string) => ({ message, type: "forbidden", param: null, code: "missing_scope" });
    const named = { "x-svc-model": "text-embedding-3-large" };

    expect((await as("operator.write")).status).toBe(200);
    expect((await as("operator.admin,operator.write", named)).status).toBe(200);
    expect(await errorOf(await as("operator.read"))).toEqual([403, missing("missing scope: operator.write")]);
    expect(await errorOf(await as("operator.write", named))).toEqual([403, missing("missing scope: operator.admin")]);
  });
});

test("a gateway without a memory says so", async () => {
  const bare = await createTestGateway({ plugins: ["store", "agents", "openai-http"] });
  try {
    const response = await bare.fetch("/v1/embeddings", { method: "POST", body: JSON.stringify({ model: "svc", input: "x" }) });
    expect(await errorOf(response)).toMatchObject([503, { type: "api_error", code: "gateway_unavailable" }]);
  } finally {
    await bare.close();
  }
});
