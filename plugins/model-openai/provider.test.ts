import type { ModelDelta, ModelRequest } from "svc/sdk";
import { createVendorFetch, type ProviderSettings } from "svc/sdk/internal";
import { createTestRequests, type TestRequests } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CALL_FRAMES, type FakeResponses, okText, startFakeResponses } from "../../test/fakes/openai-responses.ts";
import { answerOf, collect, continued, faultOf, findTool, modelRequest, quiet, textOf, user } from "../../test/fixtures/model-provider.ts";
import { createProvider } from "./provider.ts";

let vendor: FakeResponses;
let requests: TestRequests;

beforeAll(async () => {
  vendor = await startFakeResponses({ models: ["gpt-5.4-tool", "text-embedding-3-small", "gpt-4.1-text", "gpt-image-1"] });
  requests = createTestRequests();
});
beforeEach(() => {
  vendor.requests.length = 0;
});
afterAll(async () => {
  await requests.close();
  await vendor.close();
});

function provider(more: Partial<ProviderSettings> = {}) {
  const settings: ProviderSettings = {
    id: "openai",
    name: "OpenAI",
    baseUrl: vendor.url,
    apiKey: vendor.apiKey,
    headers: {},
    timeoutMs: 30_000,
    firstAnswerMs: 30_000,
    models: [],
    ...more,
  };
  const fetch = createVendorFetch(requests.request, settings.timeoutMs);
  return createProvider(settings, { fetch, clock: { now: () => 0, monotonic: () => 0 }, logger: quiet });
}

const ask = (model: string, more?: Partial<ModelRequest>, from = provider()) => collect(from, modelRequest(model, more));
const sent = (index = -1) => vendor.requests.at(index)?.body as Record<string, unknown>;
const finishOf = (deltas: ModelDelta[]) => deltas.at(-1);

describe("a turn", () => {
  test("streams reasoning, text, usage with cache and reasoning, and the finish", async () => {
    const deltas = await ask("gpt-5.4-text");

    expect(textOf(deltas)).toBe(okText);
    expect(answerOf(deltas).content.map((part) => (part.type === "toolCall" ? part.name : part.text))).toEqual([
      "**Look** at the notes.",
      "Then answer.",
      okText,
    ]);
    expect(deltas.slice(-2)).toEqual([
      { type: "usage", usage: { input: 20, output: 40, cacheRead: 100, cacheWrite: 0, reasoning: 30, total: 160 } },
      { type: "finish", reason: "stop" },
    ]);
  });

  test("stores nothing at the vendor, asks for sealed reasoning and names the conversation for its cache", async () => {
    await ask("gpt-5.4-text", { cacheKey: "k".repeat(200), thinking: "high", sampling: { maxTokens: 100 } });

    expect(vendor.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${vendor.apiKey}`, "user-agent": "svc" });
    expect(sent()).toEqual({
      model: "gpt-5.4-text",
      input: [
        { role: "developer", content: "You are helpful." },
        { role: "user", content: [{ type: "input_text", text: "Where is the router?" }] },
      ],
      stream: true,
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "high", summary: "auto" },
      prompt_cache_key: expect.stringMatching(/^[0-9a-f]{64}$/),
      max_output_tokens: 100,
    });
    await ask("gpt-5.4-text", { cacheKey: "short" });
    expect(sent()).toMatchObject({ prompt_cache_key: "short" });
  });

  test("of a model without reasoning asks for none", async () => {
    await ask("gpt-4.1-text", { thinking: "high" });
    await ask("gpt-5.4-text", { thinking: "high" }, provider({ models: [{ id: "gpt-5.4-text", reasoning: false }] }));
    for (const { body } of vendor.requests) {
      expect(body).not.toHaveProperty("reasoning");
      expect(body).not.toHaveProperty("include");
    }
  });

  test("of a model that the config says to reason asks for it", async () => {
    await ask("own-text", { thinking: "medium" }, provider({ models: [{ id: "own-text", reasoning: true }] }));
    expect(sent()).toMatchObject({ include: ["reasoning.encrypted_content"], reasoning: { effort: "medium", summary: "auto" } });
  });

  test("takes the caller's own word for the effort", async () => {
    await ask("gpt-5.4-text", { thinking: "low", sampling: { reasoningEffort: "xhigh" } });
    expect(sent()).toMatchObject({ reasoning: { effort: "xhigh" } });
  });

  test("goes on without summaries where the account may not have them, and remembers that", async () => {
    const from = provider();
    const deltas = await ask("gpt-5.4-unverified", {}, from);
    await ask("gpt-5.4-unverified", {}, from);

    expect(textOf(deltas)).toBe(okText);
    expect(answerOf(deltas).content[0]).toMatchObject({ type: "reasoning", text: "", redacted: true });
    expect(vendor.requests).toHaveLength(3);
  });

  test("sends the config's parameters, the request's own win, and nothing makes the vendor store", async () => {
    const from = provider({
      params: { top_p: 0.1, store: true, metadata: { a: "1" } },
      modelParams: { "gpt-4.1-text": { metadata: { a: "2" } } },
    });
    await ask("gpt-4.1-text", { sampling: { topP: 0.7 } }, from);
    expect(sent()).toMatchObject({ top_p: 0.7, store: false, metadata: { a: "2" } });
  });

  test("sends the config's sampling only to models that take it", async () => {
    const from = provider({ params: { temperature: 0.2 }, modelParams: { "gpt-5.4-text": { top_p: 0.9 } } });
    await ask("gpt-4.1-text", {}, from);
    expect(sent()).toMatchObject({ temperature: 0.2 });
    await ask("gpt-5.4-text", { thinking: "high" }, from);
    expect(sent()).not.toHaveProperty("temperature");
    expect(sent()).not.toHaveProperty("top_p");
    await ask("gpt-5.4-text", { thinking: "off" }, from);
    expect(sent()).toMatchObject({ temperature: 0.2, top_p: 0.9 });
  });

  test.each([
    [[], {}, undefined],
    [[], { maxTokens: 999_999 }, 32_768],
    [[{ id: "gpt-4.1-text", maxTokens: 777 }], {}, 777],
    [[{ id: "gpt-4.1-text", maxTokens: 777 }], { maxTokens: 100 }, 100],
  ])("with models %j and sampling %j asks for at most %d tokens", async (models, sampling, limit) => {
    await ask("gpt-4.1-text", { sampling }, provider({ models }));
    expect(sent().max_output_tokens).toBe(limit);
  });

  test("sends pictures and PDF", async () => {
    const content = [
      { type: "text" as const, text: "What is this?" },
      { type: "image" as const, mimeType: "image/png", data: "iVBORw0KGgo=" },
      { type: "file" as const, mimeType: "application/pdf", data: "JVBERi0=", fileName: "a.pdf" },
    ];
    await ask("gpt-5.4-text", { messages: [{ role: "user", content }] });
    expect((sent().input as unknown[])[1]).toEqual({
      role: "user",
      content: [
        { type: "input_text", text: "What is this?" },
        { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" },
        { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
      ],
    });
  });

  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };
  test.each<[string, Partial<ModelRequest>, object]>([
    ["tools not to be called", { tools: [findTool], toolChoice: "none" }, { tool_choice: "none" }],
    ["a call that is required", { tools: [findTool], toolChoice: "required" }, { tool_choice: "required" }],
    ["a named tool", { tools: [findTool], toolChoice: { name: "find" } }, { tool_choice: { type: "function", name: "find" } }],
    ["one call at a time", { tools: [findTool], sampling: { parallelToolCalls: false } }, { parallel_tool_calls: false }],
    ["strict arguments", { tools: [{ ...findTool, strict: true }] }, { tools: [{ name: "find", strict: true }] }],
    ["JSON", { sampling: { responseFormat: { type: "json_object" } } }, { text: { format: { type: "json_object" } } }],
    [
      "a schema",
      { sampling: { responseFormat: { type: "json_schema", name: "answer", schema, strict: true } } },
      { text: { format: { type: "json_schema", name: "answer", strict: true, schema } } },
    ],
  ])("passes on: %s", async (_name, more, wire) => {
    await ask("gpt-4.1-text", more);
    expect(sent()).toMatchObject(wire);
  });
});

describe("tool loops", () => {
  test("return the sealed reasoning byte for byte before its call", async () => {
    const first = await ask("gpt-5.4-tool", { tools: [findTool] });
    expect(finishOf(first)).toEqual({ type: "finish", reason: "tool_calls" });
    const messages = [user("Where is the router?"), ...continued(first)];

    expect(textOf(await ask("gpt-5.4-tool", { tools: [findTool], messages }))).toBe(okText);
    expect((sent().input as unknown[]).slice(2)).toEqual([
      {
        type: "reasoning",
        id: expect.stringMatching(/^rs_/),
        encrypted_content: expect.stringMatching(/^sealed-\d+\+\/=x+$/),
        summary: ["**Look** at the notes.", "Then answer."].map((text) => ({ type: "summary_text", text })),
      },
      expect.objectContaining({ type: "function_call", name: "find", arguments: '{"query":"Where is the router?"}' }),
      { type: "function_call_output", call_id: expect.stringMatching(/^call_/), output: "In the cupboard." },
    ]);
  });

  test("with parallel calls answer each once", async () => {
    const other = { ...findTool, name: "look" };
    const first = await ask("gpt-5.4-tools", { tools: [findTool, other] });
    const messages = [user("Where?"), ...continued(first)];
    expect(messages).toHaveLength(6);
    expect(textOf(await ask("gpt-5.4-tools", { tools: [findTool, other], messages }))).toBe(okText);
  });

  test("of 25 rounds keep every reasoning in its place", async () => {
    const from = provider();
    const messages = [user("Where is the router?")];
    for (let round = 0; round < 25; round++)
      messages.push(...continued(await ask("gpt-5.4-endless", { tools: [findTool], messages }, from)));
    expect(textOf(await ask("gpt-5.4-endless", { tools: [findTool], messages }, from))).toBe(okText);
  });

  test("go on after an answer that was all reasoning", async () => {
    const first = await ask("gpt-5.4-length-early");
    const messages = [user("Where?"), answerOf(first), user("And?")];
    expect(textOf(await ask("gpt-5.4-text", { messages }))).toBe(okText);
  });

  test("take calls from another model, whose metadata is gone", async () => {
    const call = { type: "toolCall" as const, id: "toolu_1", name: "find", args: { query: "x" } };
    const messages = [
      user("Where?"),
      { role: "assistant" as const, content: [{ type: "reasoning" as const, text: "Hm." }, call] },
      { role: "tool" as const, toolCallId: "toolu_1", name: "find", text: "here", isError: true },
    ];
    expect(textOf(await ask("gpt-5.4-tool", { tools: [findTool], messages }))).toBe(okText);
  });

  test("show malformed arguments as they came", async () => {
    const deltas = await ask("gpt-5.4-malformed", { tools: [findTool] });
    expect(deltas.map((d) => (d.type === "toolCall" ? d.argsDelta : "")).join("")).toBe('{"query": rout');
    expect(deltas.filter((d) => d.type === "toolCallEnd")).toHaveLength(1);
  });
});

test.each([
  ["text", "stop"],
  ["tool", "tool_calls"],
  ["length", "length"],
  ["length-call", "length"],
  ["filtered", "content_filter"],
  ["refusal", "content_filter"],
])("an answer that ends with %s finishes with %s", async (script, reason) => {
  const deltas = await ask(`gpt-5.4-${script}`, { tools: [findTool] });
  expect(finishOf(deltas)).toEqual({ type: "finish", reason });
});

describe("faults", () => {
  test.each([
    ["status-401-invalid_api_key", "auth", 401],
    ["status-403-model_not_found", "model_not_found", 403],
    ["status-403-unsupported_country_region_territory", "auth", 403],
    ["status-404-model_not_found", "model_not_found", 404],
    ["status-400-context_length_exceeded", "context_overflow", 400],
    ["status-400-invalid_prompt", "content_filter", 400],
    ["status-400", "invalid_request", 400],
    ["status-429-rate_limit_exceeded", "rate_limit", 429],
    ["status-429-insufficient_quota", "quota", 429],
    ["status-429-billing_not_active", "quota", 429],
    ["status-400-billing_hard_limit_reached", "quota", 400],
    ["status-400-content_policy_violation", "content_filter", 400],
    ["status-500-server_error", "overloaded", 500],
    ["status-503", "overloaded", 503],
    ["status-529", "overloaded", 529],
    ["early-rate_limit_exceeded", "rate_limit", 429],
    ["early-insufficient_quota", "quota", 429],
    ["early-context_length_exceeded", "context_overflow", 400],
    ["early-server_error", "overloaded", 500],
    ["late-failed-rate_limit_exceeded", "rate_limit", 429],
    ["late-failed-insufficient_quota", "quota", 429],
    ["late-failed-context_length_exceeded", "context_overflow", 400],
    ["late-error", "overloaded", 500],
    ["garbage", "network", undefined],
  ])("%s is %s", async (script, fault, status) => {
    const error = await faultOf(provider(), modelRequest(`gpt-5.4-${script}`));
    expect({ fault: error.fault, status: error.status }).toEqual({ fault, status });
  });

  test("a rate limit carries the wait, to the millisecond", async () => {
    expect(await faultOf(provider(), modelRequest("gpt-5.4-status-429-rate_limit_exceeded"))).toMatchObject({ retryAfterMs: 1_500 });
  });

  test("no message shows a key that was refused", async () => {
    const apiKey = "sk-wrong-9876543210";
    const error = await faultOf(provider({ apiKey }), modelRequest("gpt-5.4-text"));
    expect(error).toMatchObject({ fault: "auth" });
    expect(`${error.message}${error.stack}${JSON.stringify(error)}`).not.toContain(apiKey);
  });

  test.each(["cut", "short"])("a stream that is %s behind any of its events is a broken connection", async (how) => {
    const from = provider();
    const seen = [];
    for (let frames = 0; frames < CALL_FRAMES; frames++)
      seen.push((await faultOf(from, modelRequest(`gpt-5.4-${how}-${frames}`, { tools: [findTool] }))).fault);
    expect(seen).toEqual(Array(CALL_FRAMES).fill("network"));
  });

  test("a stream that is short by nothing is whole", async () => {
    expect(finishOf(await ask(`gpt-5.4-short-${CALL_FRAMES}`, { tools: [findTool] }))).toEqual({ type: "finish", reason: "tool_calls" });
  });

  test("without a key none is sent, whatever the environment of the process holds", async () => {
    process.env.OPENAI_API_KEY = "sk-of-the-process-000000";
    await faultOf(provider({ apiKey: undefined as never }), modelRequest("gpt-5.4-text")).finally(() => {
      delete process.env.OPENAI_API_KEY;
    });
    expect(vendor.requests[0]?.headers.authorization).toBeUndefined();
  });

  test("a header of one's own takes the place of the key", async () => {
    await ask("gpt-5.4-text", {}, provider({ apiKey: undefined as never, headers: { authorization: `Bearer ${vendor.apiKey}` } }));
    expect(vendor.requests).toHaveLength(1);
  });
});

describe("abort", () => {
  test.each(["hang", "drip"])("closes the socket of %s within a second", async (script) => {
    const stop = new AbortController();
    const arrived = vendor.nextRequest();
    const turn = collect(provider(), modelRequest(`gpt-5.4-${script}`), stop.signal);
    turn.catch(() => undefined);
    const { ended } = await arrived;
    stop.abort();
    await expect(turn).rejects.toMatchObject({ name: "AbortError" });
    expect(await ended).toEqual({ aborted: true });
  });

  test("leaving early closes the socket too", async () => {
    const arrived = vendor.nextRequest();
    for await (const _ of provider().stream(modelRequest("gpt-5.4-drip"), { signal: new AbortController().signal })) break;
    expect(await (await arrived).ended).toEqual({ aborted: true });
  });
});

describe("the list of models", () => {
  test("is the vendor's, without what answers no conversation, with what is known of each", async () => {
    expect(await provider().models()).toEqual([
      { id: "gpt-5.4-tool", reasoning: true, input: ["text", "image", "pdf"], contextWindow: 400_000, maxTokens: 128_000 },
      { id: "gpt-4.1-text", reasoning: false, input: ["text", "image", "pdf"], contextWindow: 1_047_576, maxTokens: 32_768 },
    ]);
  });

  test("from the config is completed, and what it says wins", async () => {
    expect(await provider({ models: [{ id: "gpt-4.1", contextWindow: 5 }, { id: "acme" }] }).models()).toEqual([
      { id: "gpt-4.1", reasoning: false, input: ["text", "image", "pdf"], contextWindow: 5, maxTokens: 32_768 },
      { id: "acme" },
    ]);
    expect(vendor.requests).toEqual([]);
  });

  test("tells a rejected key", async () => {
    const probe = await provider({ apiKey: "wrong" }).probe?.({ signal: new AbortController().signal });
    expect(probe).toEqual({ ok: false, fault: "auth", reason: `${vendor.url} rejected the key (401)` });
  });
});
