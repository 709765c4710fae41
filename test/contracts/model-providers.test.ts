import { createTestRequests, modelProviderContract, type TestRequests } from "svc/sdk/testing";
import { afterAll, beforeAll, describe } from "vitest";
import { createProvider as createOllamaProvider } from "../../plugins/model-ollama/provider.ts";
import { createProvider as createResponsesProvider } from "../../plugins/model-openai/provider.ts";
import { createProvider } from "../../plugins/model-openai-compatible/provider.ts";
import { createRecallProvider } from "../../plugins/model-recall/provider.ts";
import { createVendorFetch } from "../../sdk/internal/model/vendor-fetch.ts";
import { type FakeOllama, startFakeOllama } from "../fakes/ollama-chat.ts";
import { type FakeResponses, startFakeResponses } from "../fakes/openai-responses.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai-server.ts";
import { quiet } from "../fixtures/model-provider.ts";

const search = {
  name: "memory_search",
  description: "Searches.",
  inputSchema: { type: "object", properties: { query: { type: "string" } } },
};

describe("model-recall", () => {
  modelProviderContract(() => ({
    provider: createRecallProvider(),
    text: { model: "recall" },
    tool: { model: "recall", tools: [search] },
  }));
});

describe("model-openai-compatible", () => {
  let vendor: FakeOpenAi;
  let requests: TestRequests;

  beforeAll(async () => {
    vendor = await startFakeOpenAi();
    requests = createTestRequests();
  });

  afterAll(async () => {
    await requests.close();
    await vendor.close();
  });

  const quiet = {
    trace: () => undefined,
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
    child: () => quiet,
  };

  modelProviderContract(() => ({
    provider: createProvider(
      {
        id: "lab",
        name: "lab",
        baseUrl: vendor.url,
        apiKey: vendor.apiKey,
        headers: {},
        timeoutMs: 30_000,
        firstAnswerMs: 30_000,
        models: [],
      },
      { fetch: createVendorFetch(requests.request, 30_000), clock: { now: Date.now, monotonic: () => performance.now() }, logger: quiet },
    ),
    text: { model: "ok" },
    tool: { model: "tool", tools: [search] },
    slow: { model: "hang" },
    faults: { auth: { model: "401" }, rate_limit: { model: "429" }, overloaded: { model: "500" }, context_overflow: { model: "context" } },
    secrets: [vendor.apiKey],
  }));
});

describe("model-openai", () => {
  let vendor: FakeResponses;
  let requests: TestRequests;

  beforeAll(async () => {
    vendor = await startFakeResponses();
    requests = createTestRequests();
  });
  afterAll(async () => {
    await requests.close();
    await vendor.close();
  });

  modelProviderContract(() => ({
    provider: createResponsesProvider(
      {
        id: "openai",
        name: "OpenAI",
        baseUrl: vendor.url,
        apiKey: vendor.apiKey,
        headers: {},
        timeoutMs: 30_000,
        firstAnswerMs: 30_000,
        models: [],
      },
      {
        fetch: createVendorFetch(requests.request, 30_000),
        clock: { now: Date.now, monotonic: () => performance.now() },
        logger: quiet,
      },
    ),
    text: { model: "gpt-5.4-text" },
    tool: { model: "gpt-5.4-tools", tools: [search] },
    slow: { model: "gpt-5.4-drip" },
    faults: {
      auth: { model: "gpt-5.4-status-401" },
      rate_limit: { model: "gpt-5.4-status-429" },
      quota: { model: "gpt-5.4-early-insufficient_quota" },
      overloaded: { model: "gpt-5.4-status-500" },
      context_overflow: { model: "gpt-5.4-status-400-context_length_exceeded" },
      model_not_found: { model: "gpt-0" },
      network: { model: "gpt-5.4-cut-5" },
    },
    secrets: [vendor.apiKey],
  }));
});

describe("model-ollama", () => {
  let server: FakeOllama;
  let requests: TestRequests;

  beforeAll(async () => {
    server = await startFakeOllama();
    requests = createTestRequests();
  });
  afterAll(async () => {
    await requests.close();
    await server.close();
  });

  modelProviderContract(() => ({
    provider: createOllamaProvider(
      { id: "ollama", name: "Ollama", baseUrl: server.origin, headers: {}, timeoutMs: 30_000, firstAnswerMs: 30_000, models: [] },
      {
        fetch: createVendorFetch(requests.request, 30_000),
        clock: { now: Date.now, monotonic: () => performance.now() },
        logger: quiet,
        prompts: () => ({ default: undefined, own: undefined }),
      },
    ),
    text: { model: "tk-text", thinking: "low" },
    tool: { model: "t-tools", tools: [search] },
    slow: { model: "x-drip" },
    faults: {
      invalid_request: { model: "x-text", tools: [search] },
      model_not_found: { model: "nobody" },
      overloaded: { model: "x-status-503" },
      context_overflow: { model: "x-text", system: "word ".repeat(8_192) },
      network: { model: "x-cut-1" },
    },
  }));
});
